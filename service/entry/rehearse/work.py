"""What work a trial did: what was repeated, redone or lost with a process. Pure.

A *stretch* is what a process did since its last call that left a record in the run. When the process dies
there, whatever those calls brought is gone, and a fresh one may make them again: that is the work in flight.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final

from service.entry.rehearse.model import Act, ActKind, Call, Fate

_LEAVES_A_RECORD: Final = frozenset(
    {
        ActKind.OBSERVATION,
        ActKind.TURN,
        ActKind.COMPLETED,
        ActKind.FAILED,
        ActKind.CHECKPOINT,
        ActKind.CANDIDATE,
        ActKind.INTENT,
        ActKind.SETTLEMENT,
    }
)
REPEATABLE: Final = frozenset({ActKind.PACKAGE, ActKind.OBSERVATION, ActKind.TURN, ActKind.TOOL})
"""Kinds of calls that stand for work by a model or a tool. Orders are counted where they are carried out."""

_WORK: Final = REPEATABLE | {ActKind.ORDER, ActKind.INTENT, ActKind.SETTLEMENT}
_STEPS: Final = frozenset({ActKind.STARTED, ActKind.COMPLETED, ActKind.FAILED})


def count_work(calls: Iterable[Call]) -> Counter[Act]:
    """Count each piece of model or tool work that reached its end, answered or not."""
    return Counter(
        call.act
        for call in calls
        if call.act is not None and call.act.kind in REPEATABLE and call.was_accepted
    )


def lost_work(calls: Sequence[Call]) -> Counter[Act]:
    """Count the work whose result died with a process: the last stretch of each session but the last."""
    lost: Counter[Act] = Counter()
    last = max((call.session for call in calls), default=0)
    for session in range(1, last):
        stretch: list[Act] = []
        for call in calls:
            if call.session != session or call.act is None:
                continue
            if call.act.kind in REPEATABLE and call.was_accepted:
                stretch.append(call.act)
            if call.act.kind in _LEAVES_A_RECORD and call.was_accepted:
                # An answer that never came leaves its sender in doubt whether it must be sent again.
                stretch = [call.act] if call.fate is not Fate.ANSWERED else []
        lost.update(act for act in stretch if act.kind in REPEATABLE)
    return lost


def repeated_work(calls: Sequence[Call], usual: Counter[Act]) -> Counter[Act]:
    """Answer what was done more often than usual and not because its result was lost.

    Only work that the uninterrupted runs know counts. Every fresh process may ask for one package to read
    itself in.
    """
    allowed = usual + lost_work(calls)
    done = count_work(calls)
    repeated = Counter({act: count - allowed[act] for act, count in done.items() if usual[act]})
    repeated = +repeated
    sessions = max((call.session for call in calls), default=1)
    readings = sessions - 1
    for act in sorted(repeated):
        if act.kind is ActKind.PACKAGE and readings > 0:
            excused = min(readings, repeated[act])
            repeated[act] -= excused
            readings -= excused
    return +repeated


def redone_tasks(calls: Sequence[Call]) -> Counter[str]:
    """Count tasks that were begun or reported again, on the same inputs, after their completion was kept."""
    kept: dict[str, Call] = {}
    redone: Counter[str] = Counter()
    for call in calls:
        if call.act is None or not call.was_accepted:
            continue
        about = call.act.key
        if call.act.kind is ActKind.COMPLETED:
            before = kept.get(about)
            if before is not None and before.fate is Fate.ANSWERED:
                redone[about] += 1
            kept[about] = call
        elif call.act.kind is ActKind.STARTED and about in kept:
            redone[about] += 1
    return redone


def never_done(calls: Sequence[Call], always: Counter[Act]) -> Counter[Act]:
    """Answer work that every uninterrupted run did and whose result this one never had."""
    had = count_work(calls)
    had.subtract(lost_work(calls))
    return Counter({act: count for act, count in always.items() if had[act] <= 0})


def idle_tasks(calls: Sequence[Call]) -> set[str]:
    """Answer tasks that were last reported completed with nothing done since the process's line before."""
    idle: set[str] = set()
    session, has_worked = 0, False
    for call in calls:
        if call.session != session:
            session, has_worked = call.session, False
        if call.act is None or not call.was_accepted:
            continue
        if call.act.kind is ActKind.COMPLETED:
            task = task_of(call.act)
            if has_worked:
                idle.discard(task)
            else:
                idle.add(task)
        has_worked = call.act.kind not in _STEPS and (has_worked or call.act.kind in _WORK)
    return idle


def task_of(act: Act) -> str:
    """Answer the task that a line of the log is about."""
    return act.key.partition(" on ")[0]
