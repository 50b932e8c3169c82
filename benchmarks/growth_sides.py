"""What keeps a conversation in the comparison of long runs: the service, its verbs, and a peer."""

import json
import logging
import sqlite3
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any, Final, Protocol

import httpx
import structlog

from benchmarks.tenancy import agent_token, open_tenant
from service.context.references import RecordReferences
from service.entry.demo.local_service import LocalService, environment_of, local_service, run_command
from service.executions.checkpoint import checkpoint
from service.executions.conversation.model import NewTurn, TurnRole
from service.executions.model import Execution, NewCheckpoint, NewExecution, Requirement, Transition
from service.executions.open import open_execution
from service.executions.say import say
from service.identity.authenticate import authenticate
from service.identity.model import Caller
from service.identity.unit import Unit
from service.policies.active import active_bundle
from service.settings import Settings
from service.wiring import Runtime, build

_PEER: Final = Path(__file__).with_name("langgraph_peer.py")
_UNLIMITED: Final = 1_000_000
_OBJECTIVE: Final = "Answer what the customer asks"


@dataclass(frozen=True, slots=True)
class Exchange:
    """A question, its reply, and what the working state says after it."""

    question: str
    reply: str
    next_action: str

    @property
    def size(self) -> int:
        """The bytes that are given to be kept (the texts are ASCII)."""
        return len(self.question) + len(self.reply) + len(self.next_action)


@dataclass(frozen=True, slots=True)
class Took:
    """Seconds of one exchange, kept durably at three points; and of its checkpoint alone, if there is one."""

    whole: float
    checkpoint: float = 0.0


class Side(Protocol):
    """One that keeps conversations. An exchange is on disk when it returns."""

    def begin(self, name: str) -> None:
        """Begin a new conversation."""
        ...

    def exchange(self, exchange: Exchange) -> Took:
        """Keep the question, then the reply, then the state after it."""
        ...

    def size(self) -> int:
        """The bytes of the database, with what still stands in its log."""
        ...


@dataclass
class ServiceSide:
    """The service as clients know it: a process of its own, three requests for an exchange."""

    client: httpx.Client
    database: Path
    id: str = ""
    contract_hash: str = ""
    version: int = 0
    lease: dict[str, str] = field(default_factory=dict)

    def begin(self, name: str) -> None:
        """Open a run."""
        opened = self._post(
            "/executions",
            {
                "project": "alpha",
                "external_ref": name,
                "objective": _OBJECTIVE,
                "requirements": [{"id": "answered", "text": "The question is answered"}],
                "retention_class": "operational",
            },
        )
        self.id, self.contract_hash, self.version, self.lease = opened["id"], opened["contract_hash"], 1, {}

    def exchange(self, exchange: Exchange) -> Took:
        """Record two turns and move the run."""
        start = time.perf_counter()
        self._post(f"/executions/{self.id}/turns", {"role": "user", "text": exchange.question})
        self._post(f"/executions/{self.id}/turns", {"role": "assistant", "text": exchange.reply})
        said = time.perf_counter()
        moved = self._post(
            f"/executions/{self.id}/checkpoints",
            {"transition": "advance", "cost": "0.01", "state": {"next_action": exchange.next_action}},
            version=self.version,
        )
        self.version = moved["version"]
        end = time.perf_counter()
        return Took(end - start, end - said)

    def size(self) -> int:
        """The bytes of the record."""
        return size_of(self.database)

    def resume(self) -> None:
        """Go on with the run as a fresh session does, and keep its lease."""
        resumed = self._post(f"/executions/{self.id}/resume", {"contract_hash": self.contract_hash})
        self.lease = {"Fencing-Token": str(resumed["lease"]["fencing_token"])}

    def package(self) -> None:
        """Ask for the context of the next call."""
        self._post(
            "/context-packages",
            {
                "project": "alpha",
                "execution_id": self.id,
                "purpose": "service",
                "encoding": "o200k_base",
                "max_tokens": 8_000,
                "reply_reserve": 1_000,
                "profile": "default",
                "render": "markdown",
            },
        )

    def _post(self, path: str, body: dict[str, Any], version: int | None = None) -> dict[str, Any]:
        matched = {} if version is None else {"If-Match": f'"{version}"'}
        answer = self.client.post(path, json=body, headers={**self.lease, **matched})
        answer.raise_for_status()
        found: dict[str, Any] = answer.json()
        return found


@dataclass
class VerbsSide:
    """The same verbs, called in this process: one transaction each, as the routes open them."""

    runtime: Runtime
    caller: Caller
    database: Path
    run: Execution = field(init=False)

    def begin(self, name: str) -> None:
        """Open a run."""
        new = NewExecution(
            project="alpha",
            external_ref=name,
            objective=_OBJECTIVE,
            requirements=(Requirement("answered", "The question is answered"),),
        )
        with self._unit() as unit:
            self.run = open_execution(new, unit=unit, bundle=active_bundle(unit))

    def exchange(self, exchange: Exchange) -> Took:
        """Record two turns and move the run."""
        start = time.perf_counter()
        self._say(TurnRole.USER, exchange.question)
        self._say(TurnRole.ASSISTANT, exchange.reply)
        said = time.perf_counter()
        state = {"next_action": exchange.next_action}
        with self._unit() as unit:
            bundle = active_bundle(unit)
            self.run = checkpoint(
                self.run.id,
                NewCheckpoint(Transition.ADVANCE, state, cost=Decimal("0.01")),
                expected_version=self.run.version,
                unit=unit,
                bundle=bundle,
                references=RecordReferences,
            )
        end = time.perf_counter()
        return Took(end - start, end - said)

    def size(self) -> int:
        """The bytes of the record."""
        return size_of(self.database)

    def _say(self, role: TurnRole, text: str) -> None:
        with self._unit() as unit:
            say(self.run.id, NewTurn(role, text), unit=unit, bundle=active_bundle(unit))

    @contextmanager
    def _unit(self) -> Iterator[Unit]:
        with self.runtime.database.write(self.caller.tenant_id) as session:
            yield self.runtime.unit(session, self.caller)


@dataclass
class PeerSide:
    """LangGraph in a process of its own, which measures its own calls: the pipe is not part of them."""

    process: subprocess.Popen[str]
    thread: str = ""

    def begin(self, name: str) -> None:
        """Begin a thread."""
        self.thread = name

    def exchange(self, exchange: Exchange) -> Took:
        """Invoke the graph once: it keeps the question, the reply and the state after it."""
        answer = self._ask(
            {
                "thread": self.thread,
                "question": exchange.question,
                "reply": exchange.reply,
                "next_action": exchange.next_action,
            }
        )
        return Took(answer["seconds"])

    def size(self) -> int:
        """The bytes of the saver's database."""
        return int(self._ask({})["bytes"])

    def _ask(self, line: dict[str, str]) -> dict[str, Any]:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps(line) + "\n")
        self.process.stdin.flush()
        answer: dict[str, Any] = json.loads(self.process.stdout.readline())
        return answer


@contextmanager
def service_side(folder: Path, policies_dir: Path) -> Iterator[ServiceSide]:
    """Start the service on empty data."""
    settings = {"MUNIMENT_REQUESTS_PER_MINUTE": str(_UNLIMITED)}
    with local_service(folder, policies_dir, settings) as service, open_tenant(service, "growth") as client:
        yield ServiceSide(client, _record_in(folder))


@contextmanager
def verbs_side(folder: Path, policies_dir: Path) -> Iterator[VerbsSide]:
    """Open the record on empty data in this process."""
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.WARNING))
    environment = environment_of(folder, policies_dir)
    run_command(environment, "tenants", "create", "growth")
    run_command(
        environment, "projects", "create", "--tenant", "growth", "--name", "alpha", "--member", "user-1"
    )
    token = agent_token(LocalService("", None, environment), "growth")
    runtime = build(Settings(data_dir=folder / "data", policies_dir=policies_dir))
    try:
        caller = authenticate(runtime.database, token, runtime.clock())
        yield VerbsSide(runtime, caller, _record_in(folder))
    finally:
        runtime.close()


@contextmanager
def peer_side(folder: Path, peer: Path, *options: str) -> Iterator[PeerSide]:
    """Start LangGraph in the environment whose interpreter `peer` is."""
    folder.mkdir(parents=True)
    process = subprocess.Popen(  # noqa: S603 - our own script in an environment that make built
        [peer, "-I", _PEER, folder / "checkpoints.sqlite", *options],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        yield PeerSide(process)
    finally:
        process.communicate()


def size_of(database: Path) -> int:
    """Answer the bytes of an SQLite database, with what still stands in its log."""
    connection = sqlite3.connect(f"file:{database}?mode=ro", uri=True)
    try:
        query = "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size"
        return int(connection.execute(query).fetchone()[0])
    finally:
        connection.close()


def _record_in(folder: Path) -> Path:
    return folder / "data" / "muniment.db"
