"""One case of the recovery matrix: who is killed where, and the fresh session that goes on from there."""

import json
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from downstream_server import Downstream, open_downstream
from recovery_line import Told
from recovery_model_server import Model, open_model
from recovery_people import People, at_work
from recovery_site import EXTERNAL_REF, Place

KILLED: Final = -signal.SIGKILL
_HERE: Final = Path(__file__).parent
_AGENT_SECONDS_MAX: Final = 240
_DEATH_SECONDS_MAX: Final = 20


@dataclass
class Case:
    """A place with its surroundings. `folder` is where the agent works; `told` is what everybody was told."""

    place: Place
    shop: Downstream
    model: Model
    external_ref: str = EXTERNAL_REF
    address: str = ""
    failures: list[str] = field(default_factory=list)
    times: dict[str, float] = field(default_factory=dict)
    tokens: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Let everybody come with the credential that they were issued first."""
        self.tokens = {**self.place.tokens, **self.tokens}

    @property
    def folder(self) -> Path:
        """Where the agent's files stand, across its sessions."""
        return self.place.folder / f"desk-{self.external_ref}"

    @property
    def told(self) -> Told:
        """All answers that anybody was given in this case."""
        return Told(self.place.folder / f"told-{self.external_ref}.jsonl")

    @property
    def extra(self) -> Mapping[str, str]:
        """Settings of the service in this case: the shop is its connector."""
        return {"MUNIMENT_CONNECTORS": json.dumps({"orders": self.shop.connector()})}

    def agent(self, armed: Mapping[str, str] | None = None) -> subprocess.Popen[bytes]:
        """Start a session of the agent in a process of its own; it knows the external reference alone."""
        return self._program("recovery_agent.py", "agent", armed or {})

    def grader(self, armed: Mapping[str, str]) -> subprocess.Popen[bytes]:
        """Start the grader in a process of its own."""
        return self._program("recovery_people.py", "grader", armed)

    @contextmanager
    def people(self, *, absent: Sequence[str] = ()) -> Iterator[People]:
        """Let reviewer, grader and operator work meanwhile."""
        told = self.place.folder / f"told-{self.external_ref}.jsonl"
        with at_work(
            self.address, self.tokens, told, self.folder, self.shop.address, absent=absent
        ) as people:
            yield people
        self.failures += [f"{type(fault).__name__}: {fault}" for fault in people.faults]

    def go_on(self) -> None:
        """Let a fresh session of the agent work to its end; it is a failure not to complete the run."""
        started = time.time()
        try:
            status = wait(self.agent())
        except subprocess.TimeoutExpired:
            status = None
        ended = time.time()
        if status != 0:
            last = [one.get("decision") or one["path"] for one in self.told.entries()[-3:]]
            self.failures.append(f"the fresh session ended by {status} after {last}")
        decided = [one for one in self.told.entries() if "decision" in one and one["at"] >= started]
        working = [one["at"] for one in decided if one["leased"]]
        self.times |= {
            "decision": min((one["at"] for one in decided), default=ended) - started,
            "work": min(working, default=ended) - started,
            "completion": ended - started,
        }

    def _program(self, name: str, who: str, armed: Mapping[str, str]) -> subprocess.Popen[bytes]:
        self.folder.mkdir(exist_ok=True)
        order: dict[str, Any] = {
            "address": self.address,
            "token": self.tokens[who],
            "told": str(self.place.folder / f"told-{self.external_ref}.jsonl"),
            "folder": str(self.folder),
            "external_ref": self.external_ref,
            "shop": self.shop.address,
            "model": self.model.address,
            "failpoints": dict(armed),
        }
        orders = self.place.folder / f"orders-{who}-{self.external_ref}.json"
        orders.write_text(json.dumps(order))
        with (self.place.folder / f"{who}-{self.external_ref}.log").open("ab") as log:
            return subprocess.Popen([sys.executable, str(_HERE / name), str(orders)], stdout=log, stderr=log)


@contextmanager
def opened(place: Place, **choices: Any) -> Iterator[Case]:
    """Open a case with a shop that knows no repeats, and a model."""
    # A forgiving downstream would hide a command that is sent twice.
    with open_downstream(honours_keys=False) as shop, open_model() as model:
        yield Case(place, shop, model, **choices)


def wait(process: subprocess.Popen[bytes], seconds_max: float = _AGENT_SECONDS_MAX) -> int:
    """Wait for a program's end and answer its status; one that does not end is killed and fails the case."""
    try:
        return process.wait(timeout=seconds_max)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
        raise


def await_kill(service: subprocess.Popen[bytes], case: Case) -> None:
    """Let a session work until SIGKILL ends the service, and so the session; it never ends by itself."""
    agent = case.agent()
    deadline = time.monotonic() + _AGENT_SECONDS_MAX
    while service.poll() is None and agent.poll() is None and time.monotonic() < deadline:
        time.sleep(0.05)
    try:
        # The session may have seen the end of the service first.
        status = wait(service, _DEATH_SECONDS_MAX)
    finally:
        wait(agent, _DEATH_SECONDS_MAX)
    assert status == KILLED, f"the service ended otherwise, the session by {agent.returncode}"


def kill_server(case: Case, armed: Mapping[str, str]) -> None:
    """Let a session work against a service that is armed, until SIGKILL ends the service and so the session.

    Then a fresh service on the same data, and a fresh session of the agent, go on to the end.
    """
    with case.place.serving(armed=armed, extra=case.extra) as first:
        case.address = first.address
        with case.people() as people:
            await_kill(first.process, case)
            started = time.time()
            with case.place.serving(extra=case.extra) as second:
                case.times["ready"] = time.time() - started
                case.address = second.address
                people.move_to(second.address)
                case.go_on()


def kill_agent(case: Case, address: str, armed: Mapping[str, str]) -> None:
    """Let a session work until SIGKILL ends it where it is armed; then a fresh one goes on to the end."""
    case.address = address
    with case.people():
        assert wait(case.agent(armed)) == KILLED, "the agent was not killed where it was armed"
        case.go_on()


def kill_waiting_agent(case: Case, address: str) -> None:
    """Kill the session while its model is thinking, from outside, and let a fresh one go on."""
    case.address = address
    agent: list[subprocess.Popen[bytes]] = []
    case.model.on_prompt = lambda: agent.pop().kill() if agent else None
    with case.people():
        process = case.agent()
        agent.append(process)
        assert wait(process) == KILLED
        case.go_on()


def kill_grader(case: Case, address: str) -> None:
    """Kill the grader when it has reached its verdict and has not told it; another one comes."""
    case.address = address
    with case.people(absent=["grader"]):
        agent = case.agent()
        assert wait(case.grader({"grader.check_finished": "kill"})) == KILLED
    with case.people():
        assert wait(agent) == 0
        case.go_on()
