"""Plays one trial: a service of its own, the agent's processes one after the other, and what they leave."""

import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from shutil import copytree
from typing import Any, Final

import httpx

from service.entry.demo.calls import Person, UnexpectedAnswer
from service.entry.demo.local_service import LocalServiceFailed, local_service
from service.entry.rehearse.downstream import Downstream
from service.entry.rehearse.grading import Audience, Bench, GraderFailed
from service.entry.rehearse.inspect_work import hash_files, judge_constraints, missing_files
from service.entry.rehearse.loopback import listening
from service.entry.rehearse.manifest import Limits, Scenario
from service.entry.rehearse.model import ActKind, Call, Ending, Fault, KillPoint, LedgerEntry, Outcome
from service.entry.rehearse.proxy import Proxy
from service.entry.rehearse.session import (
    CommandNotStarted,
    Session,
    fresh_environment,
    kill_strays,
    last_words,
)
from service.entry.rehearse.snapshot import CALL_SECONDS_MAX, OpenedRun, Snapshot, service_settings
from service.entry.rehearse.switch import Switch

_POLL_SECONDS: Final = 0.02
_STATUS_SECONDS: Final = 1.0
_ENDED: Final = frozenset({"completed", "cancelled", "expired", "unsupported_schema"})
_NO_SUCH_COMMAND: Final = frozenset({126, 127})
"""What a shell answers for a command that it may not run or does not find."""


class TrialFailed(RuntimeError):
    """The trial could not be played to its end, through no fault of the agent."""

    def __init__(self, fault: Fault) -> None:
        super().__init__(fault.message)
        self.fault = fault


class Stopped(Exception):
    """Somebody stopped the rehearsal."""


@dataclass(frozen=True, slots=True)
class Stage:
    """What all trials of a scenario share. `folder` is the manifest's."""

    snapshot: Snapshot
    scenario: Scenario
    run: OpenedRun
    limits: Limits
    command: tuple[str, ...]
    folder: Path
    stop: threading.Event
    profile: str | None = None


def play(stage: Stage, kills: Sequence[KillPoint], folder: Path) -> Outcome:
    """Play one trial in `folder`, which must be new, and answer what it left behind.

    Whatever happens, no process of it survives. Raises `TrialFailed` and `Stopped`.
    """
    stage.snapshot.copy_to(folder)
    work = folder / "work"
    if stage.scenario.work is None:
        work.mkdir()
    else:
        copytree(stage.folder / stage.scenario.work, work)
    settings = service_settings(stage.limits.lease_seconds)
    try:
        with local_service(folder, stage.snapshot.policies, settings) as service:
            return _Play(stage, kills, folder, service.address).outcome()
    except LocalServiceFailed as failure:
        raise TrialFailed(Fault("service_not_started", str(failure))) from None
    except CommandNotStarted as failure:
        raise TrialFailed(Fault("command_not_found", str(failure))) from None
    except httpx.HTTPError as failure:
        raise TrialFailed(Fault("service_unreachable", type(failure).__name__)) from None
    except (UnexpectedAnswer, GraderFailed) as failure:
        raise TrialFailed(Fault("inspection_failed", str(failure))) from None


class _Play:
    """One trial on a service that runs."""

    def __init__(self, stage: Stage, kills: Sequence[KillPoint], folder: Path, address: str) -> None:
        self._stage, self._folder, self._address = stage, folder, address
        self._said = folder / "agent.log"
        self._path = f"/executions/{stage.run.execution_id}"
        self._http = httpx.Client(base_url=address, timeout=CALL_SECONDS_MAX)
        self._user = Person(self._http, stage.snapshot.keys.user)
        self._switch = Switch(stage.snapshot.routes, kills)
        self._downstream = Downstream(stage.scenario.downstream, self._switch)
        self._homes = fresh_environment(folder, {})
        self._bench = Bench(
            folder=folder / "work",
            commands=stage.folder,
            environment=self._homes,
            record_file=folder / "downstream.json",
            record=self._downstream.record,
            stop=stage.stop,
        )
        self._audience = Audience(
            scenario=stage.scenario,
            execution_id=stage.run.execution_id,
            bench=self._bench,
            grader=Person(self._http, stage.snapshot.keys.grader),
            reviewer=Person(self._http, stage.snapshot.keys.reviewer),
            blame=self._switch.blame,
        )
        self._switch.listen(self._audience.hear)

    def outcome(self) -> Outcome:
        """Let the agent work, then read what is there."""
        with ExitStack() as stack:
            stack.callback(self._http.close)
            url = stack.enter_context(listening(Proxy(self._address, self._switch).answer))
            orders = stack.enter_context(listening(self._downstream.answer))
            stack.enter_context(self._audience.listening())
            environment = {**self._homes, **self._given(url, orders)}
            # Also on the way out of a failure: what the agent started elsewhere carries this address.
            stack.callback(kill_strays, "MUNIMENT_URL", url)
            ending, sessions = self._let_work(environment)
            seconds = self._switch.seconds
            self._audience.drain()
            return self._read(ending, sessions, seconds)

    def _given(self, url: str, downstream: str) -> dict[str, str]:
        given = {
            "MUNIMENT_URL": url,
            "MUNIMENT_TOKEN": self._stage.snapshot.keys.agent,
            "MUNIMENT_EXECUTION": self._stage.run.execution_id,
            "MUNIMENT_PROJECT": self._stage.snapshot.project,
            "MUNIMENT_DOWNSTREAM_URL": downstream,
        }
        return given if self._stage.profile is None else {**given, "MUNIMENT_PROFILE": self._stage.profile}

    def _let_work(self, environment: Mapping[str, str]) -> tuple[Ending, int]:
        deadline = time.monotonic() + self._stage.limits.trial_seconds
        starts = self._stage.limits.restarts + 1
        for number in range(1, starts + 1):
            ending = self._one_session(environment, deadline)
            if ending is not None:
                return ending, number
        return Ending.GAVE_UP, starts

    def _one_session(self, environment: Mapping[str, str], deadline: float) -> Ending | None:
        """Run one process to its end; answer `None` when it is to be started again."""
        with self._said.open("ab") as said:
            session = Session(
                self._stage.command, folder=self._folder / "work", environment=environment, said=said
            )
        try:
            self._switch.begin(session.kill)
            ending = self._watch(session, deadline)
        finally:
            self._switch.end()
            session.kill()
            session.wait()
            kill_strays("MUNIMENT_URL", environment["MUNIMENT_URL"])
        if ending is None and session.exit_code() == 0:
            return Ending.SAID_DONE
        if session.exit_code() in _NO_SUCH_COMMAND and not self._switch.calls:
            raise TrialFailed(Fault("command_not_found", f"exit code {session.exit_code()}: {self._words()}"))
        return ending

    def _watch(self, session: Session, deadline: float) -> Ending | None:
        look_at = time.monotonic() + _STATUS_SECONDS
        linger_until: float | None = None
        while session.exit_code() is None:
            now = time.monotonic()
            if self._stage.stop.is_set():
                raise Stopped
            if now >= deadline:
                return Ending.OUT_OF_TIME
            if linger_until is not None and now >= linger_until:
                return Ending.STOPPED_AT_END
            if linger_until is None and now >= look_at:
                look_at = now + _STATUS_SECONDS
                if self._user.get(self._path)["status"] in _ENDED:
                    linger_until = now + self._stage.limits.linger_seconds
            time.sleep(_POLL_SECONDS)
        return None

    def _read(self, ending: Ending, sessions: int, seconds: float) -> Outcome:
        scenario, work = self._stage.scenario, self._folder / "work"
        execution = self._user.get(self._path)
        handoff = self._user.get(f"{self._path}/handoff")
        tasks = self._user.get(f"{self._path}/tasks")["items"]
        calls = self._switch.calls
        counted = scenario.outputs
        return Outcome(
            status=execution["status"],
            ending=ending,
            sessions=sessions,
            calls=calls,
            files=hash_files(work, counted),
            missing=missing_files(work, counted),
            outputs=_outputs(handoff) if counted.run_outputs else {},
            artifact_hash=handoff["artifact_hash"] if counted.candidate else None,
            tasks={task["id"]: task["standing"] for task in tasks},
            checks={check["requirement"]: check["status"] for check in handoff["checks"]},
            inspections=self._inspect(handoff["artifact_hash"]),
            constraints=judge_constraints(work, scenario.constraints),
            ledger=_ledger(handoff["effects"], calls),
            orders=self._downstream.orders,
            cost=Decimal(execution["cost_used"]),
            seconds=seconds,
            unreached=self._switch.unreached,
            faults=self._switch.faults,
            said=self._words(),
        )

    def _inspect(self, artifact_hash: str | None) -> dict[str, bool]:
        return {
            requirement: self._bench.holds(grader, requirement, artifact_hash)
            for grader in self._stage.scenario.graders.values()
            for requirement in grader.requirements
        }

    def _words(self) -> str:
        keys = self._stage.snapshot.keys
        return last_words(self._said, (keys.agent, keys.user, keys.grader, keys.reviewer))


def _outputs(handoff: Mapping[str, Any]) -> dict[str, str]:
    return {f"{one['task_id']}/{one['name']}": one["sha256"] for one in handoff["outputs"]}


def _ledger(effects: Sequence[Mapping[str, Any]], calls: Sequence[Call]) -> tuple[LedgerEntry, ...]:
    contents = {
        call.operation_id: call.act.key
        for call in calls
        if call.act is not None and call.act.kind is ActKind.INTENT and call.was_accepted
    }
    return tuple(
        LedgerEntry(
            one["operation_id"], one["status"], contents.get(one["operation_id"], one["operation_id"])
        )
        for one in effects
    )
