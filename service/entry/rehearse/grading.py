"""The people around the agent: graders that check with commands, and a reviewer who decides approvals.

They answer to what the agent's calls brought about, in a thread of their own, whether or not the agent lives.
"""

import json
import os
import queue
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import httpx

from service.entry.demo.calls import Person, UnexpectedAnswer
from service.entry.rehearse.manifest import Grader, Scenario
from service.entry.rehearse.model import Call, Fault
from service.entry.rehearse.session import CommandNotStarted, Session, absolute_command
from service.entry.rehearse.switch import Answer

_STOP: Final = None
_POLL_SECONDS: Final = 0.02
_WAIT_SECONDS_MAX: Final = 120
_NEW: Final = 201
_DONE: Final = (200, _NEW)
_ENDED: Final = frozenset({"completed", "cancelled", "expired"})
Job = Callable[[], None]


class GraderFailed(RuntimeError):
    """A grader's command did not run to a verdict; the message says why."""


@dataclass(frozen=True, slots=True)
class Bench:
    """Where graders work: the agent's folder, their environment, and a file of what the downstream did.

    A path with a slash is found from `commands`, the manifest's folder, where there is such a file. `stop`
    ends a command before its time.
    """

    folder: Path
    commands: Path
    environment: Mapping[str, str]
    record_file: Path
    record: Callable[[], object]
    stop: threading.Event

    def holds(self, grader: Grader, requirement: str, artifact_hash: str | None) -> bool:
        """Answer what a grader's command says. Raises `GraderFailed` for anything but yes and no."""
        self.record_file.write_text(json.dumps(self.record()))
        given = {
            "GRADED_REQUIREMENT": requirement,
            "GRADED_ARTIFACT_HASH": artifact_hash or "",
            "DOWNSTREAM_RECORD": str(self.record_file),
        }
        command = absolute_command(grader.command, folder=self.commands, only_paths=True)
        try:
            with Path(os.devnull).open("wb") as nowhere:
                session = Session(
                    command, folder=self.folder, environment={**self.environment, **given}, said=nowhere
                )
        except CommandNotStarted as failure:
            raise GraderFailed(f"{requirement}: {failure}") from None
        try:
            code = self._await_verdict(session, grader.seconds_max)
        finally:
            session.kill()
            session.wait()
        if code not in (0, 1):
            words = (
                f"no verdict in {grader.seconds_max} s" if code is None else f"exit code {code}, not 0 or 1"
            )
            raise GraderFailed(f"{requirement}: {words}")
        return code == 0

    def _await_verdict(self, session: Session, seconds_max: float) -> int | None:
        deadline = time.monotonic() + seconds_max
        while (code := session.exit_code()) is None:
            if time.monotonic() >= deadline or self.stop.is_set():
                return None
            time.sleep(_POLL_SECONDS)
        return code


@dataclass
class Audience:
    """Listens to a trial's calls and acts on them, one after the other."""

    scenario: Scenario
    execution_id: str
    bench: Bench
    grader: Person
    reviewer: Person
    blame: Callable[[Fault], None]
    _jobs: "queue.SimpleQueue[Job | None]" = field(default_factory=queue.SimpleQueue)
    _idle: threading.Condition = field(default_factory=threading.Condition)
    _open_jobs: int = 0

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Work until the block ends."""
        thread = threading.Thread(target=self._work, daemon=True)
        thread.start()
        try:
            yield
        finally:
            self._jobs.put(_STOP)
            thread.join(_WAIT_SECONDS_MAX)

    def hear(self, call: Call, body: bytes, answer: Answer) -> None:
        """Take note of an answer of the service that somebody must act on."""
        if answer.status not in _DONE:
            return
        if call.pattern == "POST /executions/*/candidates":
            self._queue(lambda: self._check("candidate", None))
        elif call.pattern == "POST /executions/*/check-requests":
            asked = json.loads(body).get("requirements")
            self._queue(lambda: self._check("check_request", asked))
        elif call.pattern == "POST /executions/*/approvals" and answer.status == _NEW:
            approval_id = json.loads(answer.body)["id"]
            self._queue(lambda: self._decide(approval_id))

    def drain(self) -> None:
        """Wait until everything that was heard is done."""
        with self._idle:
            if not self._idle.wait_for(lambda: self._open_jobs == 0, timeout=_WAIT_SECONDS_MAX):
                self.blame(Fault("grader_slow", f"graders were not done after {_WAIT_SECONDS_MAX} s"))

    def _queue(self, job: Job) -> None:
        with self._idle:
            self._open_jobs += 1
        self._jobs.put(job)

    def _work(self) -> None:
        while (job := self._jobs.get()) is not _STOP:
            try:
                job()
            except (GraderFailed, UnexpectedAnswer) as failure:
                self.blame(Fault("grader_failed", str(failure)))
            except httpx.HTTPError as failure:
                self.blame(Fault("service_unreachable", type(failure).__name__))
            finally:
                with self._idle:
                    self._open_jobs -= 1
                    self._idle.notify_all()

    def _check(self, when: str, asked: list[str] | None) -> None:
        handoff = self.grader.get(f"/executions/{self.execution_id}/handoff")
        for name, grader in self.scenario.graders.items():
            if grader.when != when:
                continue
            for requirement in grader.requirements:
                if asked is None or requirement in asked:
                    self._write_check(name, grader, requirement, handoff)

    def _write_check(self, name: str, grader: Grader, requirement: str, handoff: Mapping[str, Any]) -> None:
        artifact_hash = handoff["artifact_hash"]
        if artifact_hash is None or self._has_ended():
            return
        holds = self.bench.holds(grader, requirement, artifact_hash)
        verdict: dict[str, Any] = {
            "requirement": requirement,
            "passed": holds,
            "artifact_hash": artifact_hash,
            "contract_hash": handoff["contract_hash"],
            "grader": {"id": self._grader_of(requirement) or name, "version": grader.version},
        }
        if not holds:
            verdict |= {
                "expected": f"`{requirement}` holds",
                "observed": "The grader's command answered no.",
                "reproduce": "Run the grader's command in the work folder.",
                "failure_kind": "wrong_result",
            }
        try:
            self.grader.post(f"/executions/{self.execution_id}/checks", verdict)
        except UnexpectedAnswer:
            # While the command ran, the run may have ended: then nobody waits for the verdict.
            if not self._has_ended():
                raise

    def _has_ended(self) -> bool:
        return self.grader.get(f"/executions/{self.execution_id}")["status"] in _ENDED

    def _grader_of(self, requirement: str) -> str | None:
        return next((one.grader for one in self.scenario.run.requirements if one.id == requirement), None)

    def _decide(self, approval_id: str) -> None:
        if self.scenario.approvals == "leave":
            return
        decision = {"decision": self.scenario.approvals, "reason": "As the manifest says."}
        self.reviewer.post(f"/approvals/{approval_id}/decision", decision, expect=200)
