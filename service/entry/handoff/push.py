"""Sending the lines that were written in a folder, each once."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from service.client import Problem
from service.core.failpoints import hit
from service.entry.handoff.calls import Calls
from service.entry.handoff.folder import FOLDER_LOCK, Folder
from service.entry.handoff.lines import BadLine, LogLines, OwnLine, digest_of, read_log
from service.entry.handoff.log_file import LogFile
from service.entry.handoff.pull import pull_log
from service.entry.handoff.state import FolderState
from service.wire.work import LogStep, StepAnswer

_LINES_PER_SAVE: Final = 50
_TRIES_MAX: Final = 5
_WAIT_SECONDS_MAX: Final = 30
_UNPROCESSABLE: Final = 422
_ERASED: Final = "erased"
_PASSING: Final = frozenset({429, 503})
_IN_PROGRESS: Final = "idempotency_in_progress"


@dataclass(slots=True)
class Pushed:
    """What became of own lines: newly sent ones, those that stood already, and those that are refused."""

    sent: int = 0
    already: int = 0
    refused: list[BadLine] = field(default_factory=list)


def push(folder: Folder, calls: Calls) -> Pushed:
    """Send every own line that the service does not have, in their order, and answer what became of them.

    A line that is refused is named and does not stop the others; it is tried again the next time. Killed at
    any point and repeated, nothing is sent twice: what was sent without being written down is told by its key
    and by what it says. Raises what `pull` raises; what was sent until then is written down.
    """
    with folder.locked(FOLDER_LOCK):
        state = FolderState.of(folder, calls.execution_id)
        if state.unsure:
            state, _ = pull_log(folder, calls, state)
        with LogFile.held(folder) as log:
            held = read_log(log.read(), state.execution_id)
        sender = _Sender(folder, calls, held, state)
        sender.send_all([line for line in held.own if line.key not in state.sent])
    return sender.pushed


class _Sender:
    """Sends one line after the other and writes down what the service has."""

    def __init__(self, folder: Folder, calls: Calls, held: LogLines, state: FolderState) -> None:
        self._folder = folder
        self._calls = calls
        self._ids = held.ids
        self._state = state
        self.pushed = Pushed(refused=list(held.bad))

    def send_all(self, lines: Sequence[OwnLine]) -> None:
        """Send the lines. Whatever ends it early leaves the folder unsure, and the next time sure again."""
        if not lines:
            if self._state.unsure:
                self._save(unsure=False)
            return
        self._save(unsure=True)
        done = False
        try:
            for count, line in enumerate(lines, start=1):
                self._send(line)
                if count % _LINES_PER_SAVE == 0:
                    self._save(unsure=True)
            done = True
        finally:
            self._save(unsure=not done)
            self.pushed.refused.sort(key=lambda line: line.number)

    def _send(self, line: OwnLine) -> None:
        try:
            answer = self._send_patiently(line)
        except Problem as problem:
            if problem.status == _UNPROCESSABLE:
                self.pushed.refused.append(BadLine(line.number, problem.code, problem.detail))
                return
            if problem.code != _ERASED:
                raise
            # It was sent, and what was answered then has been erased since.
            answer = None
        hit("handoff.after_send")
        self._note(line, answer)

    def _send_patiently(self, line: OwnLine) -> StepAnswer:
        for _ in range(_TRIES_MAX - 1):
            try:
                return self._calls.log_step(line.step, line.key)
            except Problem as problem:
                if problem.status not in _PASSING and problem.code != _IN_PROGRESS:
                    raise
                time.sleep(min(problem.retry_after_seconds or 1, _WAIT_SECONDS_MAX))
        return self._calls.log_step(line.step, line.key)

    def _note(self, line: OwnLine, answer: StepAnswer | None) -> None:
        unseen = self._state.unseen
        is_known = answer is not None and answer.id in self._ids | unseen
        # Completed before on these inputs, and said in other words: a pull brings that line.
        is_other = answer is not None and _digest(answer) != line.digest
        if is_known or is_other:
            self.pushed.already += 1
        else:
            self.pushed.sent += 1
            unseen = unseen if answer is None else unseen | {answer.id}
        self._state = replace(self._state, sent=self._state.sent | {line.key}, unseen=unseen)

    def _save(self, *, unsure: bool) -> None:
        self._state = replace(self._state, unsure=unsure)
        self._state.save(self._folder)


def _digest(answer: StepAnswer) -> str:
    return digest_of(LogStep.model_validate_json(answer.model_dump_json(include=set(LogStep.model_fields))))
