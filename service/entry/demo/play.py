"""Starts a service of its own, plays the worked example against it over HTTP, and stops it again."""

import time
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import httpx
from rich.console import Console

from service.entry.demo.calls import Person
from service.entry.demo.local_service import LocalService, local_service
from service.entry.demo.orders import tell_order_application
from service.entry.demo.planning import tell_planning_case
from service.entry.demo.report import print_decision, print_package, print_resume

_CALL_SECONDS_MAX: Final = 30


@dataclass(frozen=True, slots=True)
class _Keys:
    user: str
    planner: str
    register: str
    builder: str
    grader: str
    operator: str


def play(console: Console, *, policies_dir: Path, keep_running: bool) -> None:
    """Play both stories and print their packages. Leaves nothing behind unless `keep_running`.

    Raises `LocalServiceFailed`.
    """
    with (
        TemporaryDirectory(prefix="muniment-demo-") as folder,
        local_service(Path(folder), policies_dir) as service,
    ):
        keys = _register(service)
        with httpx.Client(base_url=service.address, timeout=_CALL_SECONDS_MAX) as http:
            _tell(console, http, keys)
        console.print(
            "\nRead README.md; docs/packages.md, docs/recovery.md for agents, docs/policies.md for authors."
            "\nEvery call is described at /v1/openapi.json of a running service (`make serve`)."
        )
        if keep_running:
            console.print(f"\nStill running at {service.address}. Stop it with Ctrl+C. A key: {keys.planner}")
            _wait_for_interrupt()


def _tell(console: Console, http: httpx.Client, keys: _Keys) -> None:
    planning = tell_planning_case(
        user=Person(http, keys.user),
        agent=Person(http, keys.planner),
        register=Person(http, keys.register),
    )
    orders = tell_order_application(
        agent=Person(http, keys.builder),
        grader=Person(http, keys.grader),
        operator=Person(http, keys.operator),
    )
    console.rule("[bold]What may be remembered (the policy decides, not the model)")
    print_decision(console, "the user's own words: short answers", planning.kept)
    print_decision(console, "planted in a brochure: plot 18 is approved", planning.refused)
    print_package(console, "Planning case: the next model call", planning.package)
    print_package(console, "Order application: a fresh session starts", orders.package)
    console.rule("[bold]The same hand-over as one paragraph")
    console.print(orders.next_steps, markup=False)
    console.rule("[bold]Fresh sessions resume the order application")
    for found, answer in orders.resumed:
        print_resume(console, found, answer)


def _register(service: LocalService) -> _Keys:
    def key(project: str, *arguments: str) -> str:
        return service.key("acme", "--project", project, *arguments)

    service.command("tenants", "create", "acme")
    for project in ("planning", "orders"):
        service.command("projects", "create", "--tenant", "acme", "--name", project, "--member", "user-1")
    for_user = ("--role", "agent", "--subject", "agent-1", "--on-behalf-of", "user-1")
    return _Keys(
        user=key("planning", "--role", "user", "--subject", "user-1"),
        planner=key("planning", *for_user),
        register=key("planning", "--role", "agent", "--subject", "register-feed", "--source", "register"),
        builder=key("orders", *for_user),
        grader=key("orders", "--role", "grader", "--subject", "browser-checks"),
        operator=key("orders", "--role", "operator", "--subject", "operator-1"),
    )


def _wait_for_interrupt() -> None:
    try:
        while True:
            time.sleep(3_600)
    except KeyboardInterrupt:
        return
