"""Starts a service of its own, plays the worked example against it over HTTP, and stops it again."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import httpx
from rich.console import Console

from service.entry.demo.calls import Person
from service.entry.demo.orders import tell_order_application
from service.entry.demo.planning import tell_planning_case
from service.entry.demo.report import print_decision, print_package

_START_SECONDS_MAX: Final = 60
_CALL_SECONDS_MAX: Final = 30


class DemoFailed(RuntimeError):
    """The example could not be played; the message says why."""


@dataclass(frozen=True, slots=True)
class _Keys:
    user: str
    agent: str
    register: str
    grader: str


def play(console: Console, *, policies_dir: Path, keep_running: bool) -> None:
    """Play both stories and print their packages. Leaves nothing behind unless `keep_running`.

    Raises `DemoFailed`.
    """
    with (
        TemporaryDirectory(prefix="muniment-demo-") as folder,
        _service(Path(folder), policies_dir) as address,
    ):
        keys = _register(Path(folder), policies_dir)
        with httpx.Client(base_url=address, timeout=_CALL_SECONDS_MAX) as http:
            _tell(console, http, keys)
        console.print(
            "\nRead on: README.md, docs/packages.md for agents, docs/policies.md for policy authors."
            "\nEvery call is described at /openapi.json of a running service (`make serve`)."
        )
        if keep_running:
            console.print(
                f"\nStill running at {address}. The agent's key: {keys.agent}\nStop it with Ctrl+C."
            )
            _wait_for_interrupt()


def _tell(console: Console, http: httpx.Client, keys: _Keys) -> None:
    agent = Person(http, keys.agent)
    planning = tell_planning_case(
        user=Person(http, keys.user), agent=agent, register=Person(http, keys.register)
    )
    orders = tell_order_application(agent=agent, grader=Person(http, keys.grader))
    console.rule("[bold]What may be remembered (the policy decides, not the model)")
    print_decision(console, "the user's own words: short answers", planning.kept)
    print_decision(console, "planted in a brochure: plot 18 is approved", planning.refused)
    print_package(console, "Planning case: the next model call", planning.package)
    print_package(console, "Order application: a fresh session starts", orders.package)
    console.rule("[bold]The same hand-over as one paragraph")
    console.print(orders.next_steps, markup=False)


@contextmanager
def _service(folder: Path, policies_dir: Path) -> Iterator[str]:
    log = folder / "serve.log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            [sys.executable, "-m", "service.entry.cli", "serve", "--host", "127.0.0.1", "--port", "0"],
            env=_environment(folder, policies_dir),
            stdout=output,
            stderr=subprocess.STDOUT,
        )
        try:
            yield _await_address(process, log)
        finally:
            process.terminate()
            try:
                process.wait(timeout=15)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _environment(folder: Path, policies_dir: Path) -> dict[str, str]:
    inherited = {
        name: value
        for name, value in os.environ.items()  # noqa: TID251 - what a child process needs to start
        if not name.startswith("MUNIMENT_")
    }
    return {
        **inherited,
        "MUNIMENT_DATA_DIR": str(folder / "data"),
        "MUNIMENT_POLICIES_DIR": str(policies_dir.resolve()),
    }


def _await_address(process: subprocess.Popen[bytes], log: Path) -> str:
    deadline = time.monotonic() + _START_SECONDS_MAX
    while time.monotonic() < deadline:
        if process.poll() is not None:
            raise DemoFailed(f"the service did not start:\n{log.read_text()[-2_000:]}")
        address = next(
            (word for word in log.read_text().split() if word.startswith("http://127.0.0.1:")), None
        )
        if address is not None and _is_ready(address):
            return address
        time.sleep(0.1)
    raise DemoFailed(f"the service was not ready after {_START_SECONDS_MAX} s")


def _is_ready(address: str) -> bool:
    try:
        return httpx.get(f"{address}/readyz", timeout=2).status_code == httpx.codes.OK
    except httpx.HTTPError:
        return False


def _register(folder: Path, policies_dir: Path) -> _Keys:
    def run(*arguments: str) -> str:
        finished = subprocess.run(  # noqa: S603 - our own program, our own arguments
            [sys.executable, "-m", "service.entry.cli", *arguments, "--json"],
            env=_environment(folder, policies_dir),
            capture_output=True,
            text=True,
            check=False,
        )
        if finished.returncode != 0:
            raise DemoFailed(f"muniment {' '.join(arguments[:2])} failed: {finished.stderr[-500:]}")
        return finished.stdout

    def key(*arguments: str) -> str:
        answer = json.loads(run("keys", "create", "--tenant", "acme", "--project", "alpha", *arguments))
        return str(answer["token"])

    run("tenants", "create", "acme")
    run("projects", "create", "--tenant", "acme", "--name", "alpha", "--member", "user-1")
    return _Keys(
        user=key("--role", "user", "--subject", "user-1"),
        agent=key("--role", "agent", "--subject", "agent-1", "--on-behalf-of", "user-1"),
        register=key("--role", "agent", "--subject", "register-feed", "--source", "register"),
        grader=key("--role", "grader", "--subject", "browser-checks"),
    )


def _wait_for_interrupt() -> None:
    try:
        while True:
            time.sleep(3_600)
    except KeyboardInterrupt:
        return
