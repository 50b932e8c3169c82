"""The snapshot: a service's data folder with everything that a trial begins with, made once and copied."""

import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from shutil import copytree
from typing import Any, Final

import httpx

from service.entry.demo.calls import Person
from service.entry.demo.local_service import (
    LocalServiceFailed,
    environment_of,
    local_service,
)
from service.entry.rehearse.manifest import Manifest, RunToOpen
from service.entry.rehearse.routes import Routes

CALL_SECONDS_MAX: Final = 60
_TENANT: Final = "rehearsal"
_USER: Final = "user-1"
_AGENT: Final = "agent-1"
_REQUESTS_PER_MINUTE: Final = 1_000_000
_SEVERAL_COMMANDS: Final = (
    "import json, sys\n"
    "from service.entry.cli import main\n"
    "sys.exit(max(main(line) for line in json.load(sys.stdin)))\n"
)
"""Most of a command's time goes into starting: so several run in one process."""


@dataclass(frozen=True, slots=True)
class Keys:
    """The tokens of everybody who takes part. Never printed."""

    agent: str
    user: str
    grader: str
    reviewer: str

    def __repr__(self) -> str:
        return "Keys(…)"


@dataclass(frozen=True, slots=True)
class OpenedRun:
    """A scenario's run, as every trial finds it."""

    execution_id: str
    contract_hash: str


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A data folder that nobody serves from, and what is known about it."""

    data: Path
    policies: Path
    project: str
    keys: Keys
    runs: Mapping[str, OpenedRun]
    routes: Routes

    def copy_to(self, folder: Path) -> None:
        """Give a service in `folder` data of its own."""
        copytree(self.data, folder / "data")


def prepare(manifest: Manifest, folder: Path, policies: Path) -> Snapshot:
    """Make tenant, project, keys and every scenario's run, in a service that is stopped again.

    Raises `LocalServiceFailed` when it does not start, and `UnexpectedAnswer` when it refuses what the
    manifest wants to be there.
    """
    keys = _found(manifest.project, folder, policies)
    with (
        local_service(folder, policies, service_settings(5)) as service,
        httpx.Client(base_url=service.address, timeout=CALL_SECONDS_MAX) as http,
    ):
        user = Person(http, keys.user)
        runs = {
            name: _open(user, manifest.project, name, scenario.run)
            for name, scenario in manifest.scenarios.items()
        }
        routes = Routes.of_description(user.get("/openapi.json"))
    return Snapshot(folder / "data", policies, manifest.project, keys, runs, routes)


def service_settings(lease_seconds: int) -> dict[str, str]:
    """Answer the settings of a rehearsed service, beside where it lies."""
    return {
        "MUNIMENT_LEASE_SECONDS": str(lease_seconds),
        "MUNIMENT_REQUESTS_PER_MINUTE": str(_REQUESTS_PER_MINUTE),
    }


def _found(project: str, folder: Path, policies: Path) -> Keys:
    def key(role: str, subject: str, *more: str) -> list[str]:
        return [
            "keys",
            "create",
            "--tenant",
            _TENANT,
            "--project",
            project,
            "--role",
            role,
            "--subject",
            subject,
            *more,
        ]

    answers = _run_commands(
        environment_of(folder, policies),
        [
            ["tenants", "create", _TENANT],
            ["projects", "create", "--tenant", _TENANT, "--name", project, "--member", _USER],
            key("agent", _AGENT, "--on-behalf-of", _USER),
            key("user", _USER),
            key("grader", "grader-1"),
            key("reviewer", "reviewer-1"),
        ],
    )
    return Keys(*(str(answer["token"]) for answer in answers[2:]))


def _run_commands(environment: Mapping[str, str], lines: Sequence[Sequence[str]]) -> list[Any]:
    finished = subprocess.run(  # noqa: S603 - our own program
        [sys.executable, "-c", _SEVERAL_COMMANDS],
        env=dict(environment),
        input=json.dumps([[*line, "--json"] for line in lines]),
        capture_output=True,
        text=True,
        check=False,
    )
    if finished.returncode != 0:
        raise LocalServiceFailed(f"the rehearsal's tenant could not be made: {finished.stderr[-500:]}")
    return [json.loads(document) for document in _documents(finished.stdout)]


def _documents(printed: str) -> list[str]:
    decoder, found, rest = json.JSONDecoder(), [], printed.lstrip()
    while rest:
        _, end = decoder.raw_decode(rest)
        found.append(rest[:end])
        rest = rest[end:].lstrip()
    return found


def _open(user: Person, project: str, name: str, run: RunToOpen) -> OpenedRun:
    evidence = {
        key: user.post(
            "/evidence",
            {
                "project": project,
                "text": item.text,
                "title": item.title,
                "source": {"uri": item.uri, "kind": "document", "source_version": item.source_version},
                "authority": item.authority,
            },
        )["id"]
        for key, item in run.evidence.items()
    }
    execution = user.post(
        "/executions",
        {
            "project": project,
            "external_ref": name,
            "objective": run.objective,
            "requirements": [one.model_dump(mode="json", exclude_defaults=True) for one in run.requirements],
            "budgets": run.budgets.model_dump(mode="json"),
        },
    )
    path = f"/executions/{execution['id']}"
    if run.tasks:
        tasks = [task.model_dump(mode="json", exclude_defaults=True) for task in run.tasks]
        for task in tasks:
            task["inputs"] = [_resolve(one, evidence) for one in task.get("inputs", ())]
        user.put(f"{path}/manifest", {"tasks": tasks}, if_match=int(execution["version"]))
    for turn in run.turns:
        user.post(f"{path}/turns", turn.model_dump(mode="json", exclude_defaults=True))
    return OpenedRun(str(execution["id"]), str(execution["contract_hash"]))


def _resolve(reference: str, evidence: Mapping[str, str]) -> str:
    kind, _, name = reference.partition(":")
    return f"evidence:{evidence[name]}" if kind == "evidence" else reference
