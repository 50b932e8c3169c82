"""What a person does to a run from outside, and why: each act is kept with its reason."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum


class InterventionKind(StrEnum):
    """What was done."""

    CANCEL = "cancel"
    RETRY = "retry"
    RECONCILE = "reconcile"
    ESCALATE = "escalate"


@dataclass(frozen=True, slots=True)
class Intervention:
    """One act upon a run.

    `operation_id` names the effect that it was about. `reason` is `None` where the caller may not read it or
    it was erased. `by` is the principal.
    """

    id: str
    execution_id: str
    action: InterventionKind
    operation_id: str | None
    reason: str | None
    by: str
    at: datetime
