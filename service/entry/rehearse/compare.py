"""Holds what a trial left behind against what uninterrupted runs left behind. Pure."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import reduce
from operator import and_, or_
from statistics import median
from typing import Final, TypeVar

from service.entry.rehearse.model import Act, Added, Code, Ending, Finding, LedgerEntry, Order, Outcome
from service.entry.rehearse.work import (
    count_work,
    idle_tasks,
    never_done,
    redone_tasks,
    repeated_work,
)

Counted = TypeVar("Counted")

_NAMED_MAX: Final = 5
_READERS: Final[Mapping[str, Callable[[Outcome], Mapping[str, object]]]] = {
    "file": lambda run: run.files,
    "run output": lambda run: run.outputs,
    "candidate": lambda run: {"artifact": run.artifact_hash},
}
_UNSETTLED: Final = frozenset({"dispatched", "unknown", "escalated"})


@dataclass(frozen=True, slots=True)
class Expectation:
    """What the manifest expects, and what the uninterrupted runs showed."""

    reaches: str
    repeated_calls_max: int
    runs: tuple[Outcome, ...]

    def usual(self) -> Counter[Act]:
        """Answer the most often that any uninterrupted run did each piece of work."""
        return _most(count_work(run.calls) for run in self.runs)

    def always(self) -> Counter[Act]:
        """Answer the least often that every uninterrupted run did each piece of work."""
        return _least(count_work(run.calls) for run in self.runs)


def judge_alone(outcome: Outcome, reaches: str) -> tuple[Finding, ...]:
    """Answer what is wrong with an outcome by itself, without anything beside it."""
    findings = [
        *_not_recovered(outcome, reaches),
        *_false_completion(outcome, reaches),
        *(Finding(Code.OUTPUT_MISSING, f"no file fits {pattern}") for pattern in outcome.missing),
        *(
            Finding(Code.LOST_CONSTRAINT, f"{name} is not kept")
            for name, is_kept in outcome.constraints.items()
            if is_kept is False
        ),
        *_ledger(outcome),
    ]
    return tuple(sorted(set(findings)))


def compare(outcome: Outcome, expectation: Expectation) -> tuple[Finding, ...]:
    """Answer everything that is wrong with an interrupted run, sorted; nothing when it is as good."""
    moved = _moved_outputs(outcome, expectation.runs)
    findings = [
        *judge_alone(outcome, expectation.reaches),
        *(_output_finding(outcome, name, place) for name, places in moved.items() for place in places),
        *_effects(outcome, expectation.runs),
        *_redone(outcome, expectation),
        *_skipped(outcome, expectation, moved),
    ]
    return tuple(sorted(set(findings)))


def judge_baseline(runs: Sequence[Outcome]) -> tuple[Finding, ...]:
    """Answer in what uninterrupted runs differ among themselves: there, nothing can be compared."""
    if not runs:
        return ()
    first = runs[0]
    findings = []
    for name, read in _READERS.items():
        moved = {place for run in runs[1:] for place in _differing(read(run), read(first))}
        if moved:
            findings.append(
                Finding(Code.UNSTABLE_BASELINE, f"uninterrupted runs differ in {name} {_list(moved)}")
            )
    return tuple(findings)


def added(outcome: Outcome, runs: Sequence[Outcome]) -> Added:
    """Answer what the interruption cost beside the middle of the uninterrupted runs."""
    return Added(
        seconds=outcome.seconds - median(run.seconds for run in runs),
        calls=len(outcome.calls) - round(median(len(run.calls) for run in runs)),
        cost=outcome.cost - Decimal(median(run.cost for run in runs)),
    )


def _claims(outcome: Outcome) -> str | None:
    if outcome.status == "completed":
        return "the run is completed"
    if outcome.ending is Ending.SAID_DONE:
        return f"the agent ended with 0 and the run is {outcome.status}"
    return None


def _not_recovered(outcome: Outcome, reaches: str) -> Iterable[Finding]:
    if outcome.status == reaches:
        return
    ends = {
        Ending.SAID_DONE: "the agent ended with 0",
        Ending.STOPPED_AT_END: "the run had ended",
        Ending.GAVE_UP: "the agent was started as often as allowed",
        Ending.OUT_OF_TIME: "the time was up",
    }
    yield Finding(
        Code.NOT_RECOVERED, f"the run is {outcome.status}, not {reaches}, when {ends[outcome.ending]}"
    )


def _false_completion(outcome: Outcome, reaches: str) -> Iterable[Finding]:
    claim = _claims(outcome)
    if claim is None or (outcome.status == reaches and reaches != "completed"):
        return
    unmet = {name for name, status in outcome.checks.items() if status != "passed"}
    unmet |= {name for name, holds in outcome.inspections.items() if not holds}
    if outcome.status != "completed" or unmet or outcome.missing:
        gaps = [
            f"without a passing check: {_list(unmet)}" if unmet else "",
            f"missing: {_list(outcome.missing)}" if outcome.missing else "",
        ]
        yield Finding(Code.FALSE_COMPLETION, "; ".join([claim, *filter(None, gaps)]))


def _moved_outputs(outcome: Outcome, runs: Sequence[Outcome]) -> dict[str, set[str]]:
    """Answer where the outputs are unlike the nearest uninterrupted run's, by kind of output."""
    return {
        name: min((_differing(read(outcome), read(run)) for run in runs), key=len)
        for name, read in _READERS.items()
    }


def _output_finding(outcome: Outcome, name: str, place: str) -> Finding:
    is_there = _READERS[name](outcome).get(place) is not None
    return Finding(Code.OUTPUT_DIFFERS if is_there else Code.OUTPUT_MISSING, f"{name} {place}")


def _differing(mine: Mapping[str, object], other: Mapping[str, object]) -> set[str]:
    return {place for place in mine.keys() | other.keys() if mine.get(place) != other.get(place)}


def _effects(outcome: Outcome, runs: Sequence[Outcome]) -> Iterable[Finding]:
    usual = _most(_contents(run.orders) for run in runs)
    least = _least(_contents(run.orders) for run in runs)
    mine = _contents(outcome.orders)
    for content, count in sorted((mine - usual).items()):
        if content in usual:
            yield Finding(
                Code.DUPLICATE_EFFECT, f"{content} was carried out {mine[content]} times downstream"
            )
        else:
            yield Finding(Code.EFFECT_DIFFERS, f"{content} was carried out {count} times and never before")
    for content in sorted(least - mine) if _claims(outcome) else ():
        yield Finding(Code.SKIPPED_WORK, f"{content} was not carried out downstream")
    booked = _most(_committed(run.ledger) for run in runs)
    for content, count in sorted((_committed(outcome.ledger) - booked).items()):
        if content in booked:
            yield Finding(
                Code.DUPLICATE_EFFECT, f"{content} stands in the ledger {count + booked[content]} times"
            )


def _contents(orders: Iterable[Order]) -> Counter[str]:
    return Counter(order.content for order in orders)


def _committed(ledger: Iterable[LedgerEntry]) -> Counter[str]:
    return Counter(entry.content for entry in ledger if entry.status == "committed")


def _ledger(outcome: Outcome) -> Iterable[Finding]:
    done = {order.operation_id for order in outcome.orders}
    known = {entry.operation_id for entry in outcome.ledger}
    for entry in outcome.ledger:
        is_done = entry.operation_id in done
        if entry.status == "committed" and outcome.orders and not is_done:
            yield Finding(Code.LEDGER_DIFFERS, f"{entry.operation_id} is committed and unknown downstream")
        if entry.status in ("absent", "failed", "intended") and is_done:
            yield Finding(Code.LEDGER_DIFFERS, f"{entry.operation_id} is {entry.status} and was carried out")
        if entry.status in _UNSETTLED and outcome.status == "completed":
            yield Finding(Code.LEDGER_DIFFERS, f"{entry.operation_id} is {entry.status} in a completed run")
    for operation_id in sorted(one or "an order without id" for one in done - known):
        yield Finding(Code.LEDGER_DIFFERS, f"{operation_id} was carried out and is in no ledger")


def _redone(outcome: Outcome, expectation: Expectation) -> Iterable[Finding]:
    usual = _most(redone_tasks(run.calls) for run in expectation.runs)
    for task, count in sorted((redone_tasks(outcome.calls) - usual).items()):
        yield Finding(Code.REDONE_WORK, f"{task} again after its completion, {count} times")
    repeated = repeated_work(outcome.calls, expectation.usual())
    if repeated.total() > expectation.repeated_calls_max:
        named = _list(f"{act} ({count})" for act, count in repeated.items())
        yield Finding(Code.REPEATED_CALL, f"beyond the one in flight: {named}")


def _skipped(outcome: Outcome, expectation: Expectation, moved: Mapping[str, set[str]]) -> Iterable[Finding]:
    done = reduce(and_, (_completed(run) for run in expectation.runs))
    undone = sorted(done - _completed(outcome))
    if undone and _claims(outcome) is None:
        return
    for task in undone:
        yield Finding(Code.SKIPPED_WORK, f"task {task} is {outcome.tasks.get(task, 'gone')}")
    # Where the result is the same, a fresh process may well have found what was lost and verified it.
    if any(moved.values()):
        for act in sorted(never_done(outcome.calls, expectation.always())):
            yield Finding(Code.SKIPPED_WORK, f"no result of {act}")
    usual = set[str]().union(*(idle_tasks(run.calls) for run in expectation.runs))
    changed = {place.rpartition("/")[0] for place in moved["run output"]}
    for task in sorted((idle_tasks(outcome.calls) - usual) & changed):
        yield Finding(Code.SKIPPED_WORK, f"task {task} is completed without its work")


def _completed(outcome: Outcome) -> set[str]:
    return {task for task, standing in outcome.tasks.items() if standing == "completed"}


def _most(counts: Iterable[Counter[Counted]]) -> Counter[Counted]:
    return reduce(or_, counts, Counter())


def _least(counts: Iterable[Counter[Counted]]) -> Counter[Counted]:
    return reduce(and_, counts)


def _list(names: Iterable[str]) -> str:
    known = sorted(names)
    more = len(known) - _NAMED_MAX
    return ", ".join(known[:_NAMED_MAX]) + (f" and {more} more" if more > 0 else "")
