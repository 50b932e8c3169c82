"""Bringing a folder in step with the service: new lines are added to its log, its next steps replaced."""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from service.client import Problem
from service.entry.handoff.calls import Calls
from service.entry.handoff.folder import FOLDER_LOCK, LOG, NEXT_STEPS, STATE, Folder
from service.entry.handoff.lines import ServiceLine, ids_in, read_log, read_service_line
from service.entry.handoff.log_file import LogFile
from service.entry.handoff.state import FolderState

_POINT: Final = "handoff"
_CURSOR_UNKNOWN: Final = "cursor_invalid"


@dataclass(frozen=True, slots=True)
class Pulled:
    """What a pull changed: how many lines it added, and whether the next steps are others now."""

    lines: int
    next_steps: bool

    @property
    def is_news(self) -> bool:
        """Whether anything changed."""
        return self.lines > 0 or self.next_steps


def pull(folder: Folder, calls: Calls) -> Pulled:
    """Bring log and next steps in step with the service.

    Killed at any point and repeated, it adds no line twice and leaves none out. Raises `FolderUnfit`,
    `FolderBusy`, `LineUnreadable`, `Problem` and httpx's errors; what was taken until then stands.
    """
    with folder.locked(FOLDER_LOCK):
        state = FolderState.of(folder, calls.execution_id)
        state, lines = pull_log(folder, calls, state)
        if not folder.size(STATE):
            # There was no line yet: which run it holds, the folder knows from now on.
            state.save(folder)
        text = f"{calls.read_next_steps().strip()}\n".encode()
        changed = folder.read(NEXT_STEPS) != text
        if changed:
            folder.replace(NEXT_STEPS, text, point=_POINT)
    return Pulled(lines, changed)


def pull_log(folder: Folder, calls: Calls, state: FolderState) -> tuple[FolderState, int]:
    """Add what is new to the log, and answer the folder's memory then and how many lines were added.

    Needs the folder's lock. A log that was cut or taken away is filled again from the beginning; what was
    sent out of it is then no longer known, and is told by what it says.
    """
    if folder.size(LOG) < state.size:
        state = FolderState(state.execution_id, unsure=True)
    added = 0
    while True:
        try:
            page = calls.read_log(state.cursor)
        except Problem as problem:
            if problem.code != _CURSOR_UNKNOWN or state.cursor is None:
                raise
            # The service went back to an earlier state: what stands here already is told by its ids.
            state = replace(state, cursor=None, size=0)
            continue
        if page.lines:
            state, count = _take(folder, [read_service_line(raw) for raw in page.lines], state)
            added += count
        if not page.more:
            return state, added


def _take(folder: Folder, lines: Sequence[ServiceLine], state: FolderState) -> tuple[FolderState, int]:
    with LogFile.held(folder) as log:
        # A pull that was killed may have added lines and not lived to write that down.
        ids, waiting = _standing(log, state)
        sent, unseen, new = set(state.sent), set(state.unseen), []
        for line in lines:
            own = waiting.get(line.digest)
            if line.id in ids:
                continue
            if line.id in unseen:
                unseen.remove(line.id)
            elif own:
                # Accepted: an equal line that somebody else wrote at this moment is taken for ours. The log
                # then says it once where it could say it twice, and never the other way round.
                sent.add(own.popleft())
            else:
                new.append(line.raw)
        if new:
            log.add(new)
        size = log.size
    state = replace(state, cursor=lines[-1].id, size=size, sent=frozenset(sent), unseen=frozenset(unseen))
    state.save(folder)
    return state, len(new)


def _standing(log: LogFile, state: FolderState) -> tuple[frozenset[str], dict[str, deque[str]]]:
    """Answer which of the service's lines may stand in the log already, by id.

    Where the folder is unsure what was sent, also the keys of the own lines that may have been, by digest.
    """
    if not state.unsure:
        return ids_in(log.read(start=state.size)), {}
    held = read_log(log.read(), state.execution_id)
    waiting: dict[str, deque[str]] = {}
    for line in held.own:
        if line.key not in state.sent:
            waiting.setdefault(line.digest, deque()).append(line.key)
    return held.ids, waiting
