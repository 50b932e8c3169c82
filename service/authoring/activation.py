"""What an activation is, and what keeps one from happening."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from service.core.errors import Conflict, Forbidden


class ActivationKind(StrEnum):
    """How a version came to count."""

    ACTIVATE = "activate"
    ROLLBACK = "rollback"
    RESTORE = "restore"
    """A backup was put back, and what counted last counts again."""


class ActivationStatus(StrEnum):
    """How an activation stands."""

    PENDING_SECOND_PERSON = "pending_second_person"
    """It may allow more than before, so another person has to say yes."""
    ACTIVE = "active"
    """Its version counts."""
    SUPERSEDED = "superseded"
    """Its version counted until another one did."""
    CANCELLED = "cancelled"
    """It was refused, or another one came first."""


@dataclass(frozen=True, slots=True)
class Activation:
    """One activation. `requester` and `second_person` are keyed hashes of principals."""

    id: str
    kind: ActivationKind
    status: ActivationStatus
    direction: str
    from_version: str
    to_version: str
    base_revision: int
    revision: int | None
    plan_id: str | None
    requester: str
    second_person: str | None
    created_at: datetime
    activated_at: datetime | None
    effective_at: datetime | None
    """From when on a time that its version shortened ends something; nothing else waits for it."""


class PlanMismatch(Conflict):
    """The hash given is not that of the plan: what was looked at is not what would be activated."""

    code = "plan_mismatch"
    title = "This is not the plan that was looked at"


class PlanOutdated(Conflict):
    """Policy or data are no longer those that the plan was worked out on. Simulate again."""

    code = "plan_outdated"
    title = "The plan no longer says what would happen"


class BlastRadiusExceeded(Conflict):
    """More would be affected than the policy that counts allows one activation to affect."""

    code = "blast_radius_exceeded"
    title = "This would affect more than one activation may"


class SecondPersonNeeded(Forbidden):
    """Who asked for an activation cannot be the second person who approves it."""

    code = "second_person_needed"
    title = "Another person has to approve this"


class ActivationSettled(Conflict):
    """It is active, superseded or cancelled: there is nothing to decide."""

    code = "activation_settled"
    title = "This activation does not wait for anybody"


class NothingToActivate(Conflict):
    """The version counts already, or there is none to go back to."""

    code = "nothing_to_activate"
    title = "There is no other version to activate"
