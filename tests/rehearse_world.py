"""Made-up traces and outcomes of rehearsals, for the rules that compare them."""

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

from service.entry.rehearse.compare import Expectation
from service.entry.rehearse.model import (
    Act,
    ActKind,
    Call,
    Channel,
    Ending,
    Fate,
    LedgerEntry,
    Order,
    Outcome,
)

PATTERNS = {
    ActKind.PACKAGE: "POST /context-packages",
    ActKind.OBSERVATION: "POST /executions/*/observations",
    ActKind.ORDER: "downstream POST /orders",
    ActKind.INTENT: "POST /executions/*/effects",
    ActKind.CANDIDATE: "POST /executions/*/candidates",
    ActKind.CHECKPOINT: "POST /executions/*/checkpoints",
}

Line = tuple[int, ActKind, str] | tuple[int, ActKind, str, Fate]
"""Session, kind, what it is about; answered unless it says otherwise."""

STEADY: Sequence[Line] = (
    (1, ActKind.STARTED, "draft"),
    (1, ActKind.PACKAGE, "for draft"),
    (1, ActKind.COMPLETED, "draft"),
    (1, ActKind.STARTED, "order"),
    (1, ActKind.PACKAGE, "for order"),
    (1, ActKind.INTENT, "orders.create x"),
    (1, ActKind.ORDER, "/orders x"),
    (1, ActKind.COMPLETED, "order"),
    (1, ActKind.CANDIDATE, "sha256:a"),
)
"""An uninterrupted run: a draft, then an order."""


def in_session(session: int, lines: Sequence[Line]) -> list[Line]:
    """Answer the same lines as another session's, all of them answered."""
    return [(session, kind, about) for _, kind, about, *_ in lines]


def calls_of(lines: Sequence[Line], *, pause_seconds: float = 0.1) -> tuple[Call, ...]:
    """Answer a trace. A call that was cut before it was passed on has no status."""
    return tuple(_call(number, line, number * pause_seconds) for number, line in enumerate(lines, start=1))


def outcome_of(lines: Sequence[Line] = STEADY, **changes: Any) -> Outcome:
    """Answer a good outcome after these calls, with `changes`."""
    calls = calls_of(lines)
    good: Mapping[str, Any] = {
        "status": "completed",
        "ending": Ending.SAID_DONE,
        "sessions": max(call.session for call in calls),
        "calls": calls,
        "files": {"draft.md": "sha256:d"},
        "outputs": {"draft/text": "sha256:d"},
        "artifact_hash": "sha256:a",
        "tasks": {"draft": "completed", "order": "completed"},
        "checks": {"draft": "passed"},
        "inspections": {"draft": True},
        "constraints": {"short": True},
        "ledger": (LedgerEntry("op-1", "committed", "orders.create x"),),
        "orders": (Order("op-1", "orders x"),),
        "cost": Decimal("0.10"),
        "seconds": 2.0,
    }
    return Outcome(**{**good, **changes})


def expectation_of(*runs: Outcome, repeated_calls_max: int = 0, reaches: str = "completed") -> Expectation:
    """Answer what uninterrupted runs lead to expect; without any: the steady one."""
    return Expectation(reaches, repeated_calls_max, runs or (outcome_of(),))


def _call(number: int, line: Line, at_seconds: float) -> Call:
    session, kind, about, *rest = line
    fate = rest[0] if rest else Fate.ANSWERED
    return Call(
        number=number,
        session=session,
        channel=Channel.DOWNSTREAM if kind is ActKind.ORDER else Channel.SERVICE,
        pattern=PATTERNS.get(kind, "POST /executions/*/steps"),
        path="/",
        started_seconds=at_seconds,
        ended_seconds=at_seconds + 0.01,
        fate=fate,
        status=None if fate is Fate.CUT_BEFORE else 201,
        act=Act(kind, about),
    )
