"""What is provably stricter: for each key of a bundle, which change of its value can only allow less.

Everything that is not in these tables, or changes in another way, counts as looser. A right of the person
whom a memory is about is never given up as strictness: who takes it away loosens the policy.
"""

from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from typing import Any, Final

from service.identity.model import Role
from service.policies.words import (
    ApprovalNeed,
    Approver,
    Authority,
    ConflictRule,
    ContractConfirmation,
    Destination,
    ExpiryStart,
    OwnWords,
    RetainedText,
    Revalidation,
    Sensitivity,
    Submission,
    Trust,
)


class Direction(StrEnum):
    """What a change does to what is allowed."""

    STRICTER = "stricter"
    LOOSER = "looser"
    NEUTRAL = "neutral"
    """It decides nothing."""


IsStricter = Callable[[Any, Any], bool]
"""Says of a value before and one after that differ whether the second can only allow less."""

Table = Mapping[str, "IsStricter | Table"]
"""Keys of a part of a bundle; a table stands for a part inside it, compared key by key.

In it, the empty key says what it means where only one of the two bundles has the part.
"""


def less(before: Any, after: Any) -> bool:  # noqa: ANN401 - numbers of any kind
    """Hold where a number falls, or where there is one at all now."""
    return after is not None and (before is None or after < before)


def more(before: Any, after: Any) -> bool:  # noqa: ANN401 - numbers of any kind
    """Hold where a number rises, or where there is one at all now."""
    return after is not None and (before is None or after > before)


def fewer(before: Sequence[Any], after: Sequence[Any]) -> bool:
    """Hold where a list loses entries and gains none."""
    return set(after) < set(before)


def more_of(before: Sequence[Any], after: Sequence[Any]) -> bool:
    """Hold where a list gains entries and loses none."""
    return set(after) > set(before)


def fewer_if_any(before: Sequence[Any], after: Sequence[Any]) -> bool:
    """Hold as `fewer`, where an empty list stands for everything."""
    return bool(after) and (not before or set(after) < set(before))


def fewer_without(right: object) -> IsStricter:
    """Answer `fewer` that holds only where `right` is not taken away."""
    return lambda before, after: fewer(before, after) and not (right in before and right not in after)


def along(*order: object) -> IsStricter:
    """Answer what holds where a value moves on in `order`, from the loosest to the strictest."""
    return lambda before, after: (
        before in order and after in order and order.index(after) > order.index(before)
    )


def one_of(*moves: tuple[object, object]) -> IsStricter:
    """Answer what holds for these changes alone."""
    return lambda before, after: (before, after) in moves


def turned_on(before: object, after: object) -> bool:
    """Hold where no becomes yes."""
    return (before, after) == (False, True)


def turned_off(before: object, after: object) -> bool:
    """Hold where yes becomes no."""
    return (before, after) == (True, False)


def taken_out(before: object, after: object) -> bool:
    """Hold where nothing stands in place of something."""
    return before is not None and after is None


def put_in(before: object, after: object) -> bool:
    """Hold where something stands in place of nothing."""
    return before is None and after is not None


_VALUE: Final[Table] = {
    "text_characters_max": less,
    "value_types": fewer,
    "minimum": more,
    "maximum": less,
    "choices": fewer_if_any,
}
_APPROVAL: Final[Table] = {
    # Where policy alone decides, what a person must see the subject decides: no reviewer stands in for them.
    "by": one_of(
        (Approver.AUTO, Approver.SUBJECT),
        (Approver.AUTO, Approver.BOTH),
        (Approver.SUBJECT, Approver.BOTH),
        (Approver.REVIEWER, Approver.BOTH),
    ),
    "automatic_when": {"": taken_out, "confidence_min": more, "when": put_in},
    "waits_days": less,
}
_EXPIRY: Final[Table] = {
    "days": less,
    "counted_from": along(ExpiryStart.CONFIRMATION, ExpiryStart.CREATION),
    "idle_days": less,
    "last_day": less,
    "keep_ended_days": less,
}
_SOURCES: Final[Table] = {
    "provenance": fewer,
    "from_sources": fewer,
    "lowest_trust": along(*reversed(Trust)),
    "own_words": along(*OwnWords),
}
CLASS: Final[Table] = {
    "refuses": put_in,
    "purposes": fewer,
    "consent_needed": turned_on,
    "agents": fewer_if_any,
    "writers": fewer,
    "readers": fewer,
    # Who may no longer put right what is said about them has lost a right.
    "correctors": fewer_without(Role.USER),
    "history_readers": fewer,
    "may_inform": fewer,
    "revalidate_for": more_of,
    "sources": _SOURCES,
    "confidence_min": more,
    "value": _VALUE,
    "approval": _APPROVAL,
    "expiry": _EXPIRY,
    "quota": less,
    "conflict": one_of(
        (ConflictRule.SUPERSEDE, ConflictRule.REVIEW), (ConflictRule.SUPERSEDE, ConflictRule.KEEP_NEWEST)
    ),
    "sensitivity": along(*Sensitivity),
    "allowed_detections": fewer,
    "destinations": fewer_without(Destination.EXPORT),
    "models": fewer_if_any,
}
"""A class of memories. Its rules are compared one by one: see `differences`."""

PROJECT_CLASS: Final[Table] = {
    **CLASS,
    "approval": {**_APPROVAL, "by": one_of((Approver.AUTO, Approver.REVIEWER))},
}
"""A class of a project's memories, which have no subject."""

SOURCE: Final[Table] = {
    "trust": along(*Trust),
    "submission": along(*Submission),
    "settles_own": turned_off,
    "ceiling": along(*Authority),
}
SEEN_SOURCE: Final[Table] = {"settles_own": turned_off}
"""A source, where a condition asks for trust or authority: a lower one may end a denial, or permit."""

COMMAND: Final[Table] = {
    "approval": along(*(ApprovalNeed.NOT_NEEDED, ApprovalNeed.NEEDED)),
    "longest_expiry_hours": less,
    "evidence_needed": more,
}
RETENTION: Final[Table] = {"text": along(*RetainedText), "days": less}
ROLE: Final[Table] = {"capabilities": fewer}
GUARDS: Final[Table] = {"max_affected": less, "max_affected_percent": less, "tolerance_percent": less}
STOPPING: Final[Table] = {
    "steps_max": less,
    "revisions_max": less,
    "revalidation": along(*Revalidation),
    "contract_confirmation": along(*ContractConfirmation),
}
