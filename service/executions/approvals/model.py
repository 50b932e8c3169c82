"""Approvals: what is asked, how it stands, and what it is bound to."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any, Final

from service.identity.model import Role

COMMAND_BYTES_MAX: Final = 64 * 1024
"""The longest command in its canonical form: a person has to read it."""
EVIDENCE_MAX: Final = 50
APPROVALS_MAX: Final = 1_000
"""Requests that one run takes, decided ones included."""


class ApprovalStatus(StrEnum):
    """How far a request for approval got."""

    PENDING = "pending"
    APPROVED = "approved"
    REJECTED = "rejected"
    REDEEMED = "redeemed"
    EXPIRED = "expired"
    STALE = "stale"
    """Something that it was bound to is no longer as it was."""
    CANCELLED = "cancelled"


class Moved(StrEnum):
    """Which binding of an approval no longer holds. Append only."""

    COMMAND = "command"
    EXECUTION_ENDED = "execution_ended"
    EXPIRED = "expired"
    ACTING_USER = "acting_user"
    APPROVER = "approver"
    POLICY_VERSION = "policy_version"
    EVIDENCE_CHANGED = "evidence_changed"
    EVIDENCE_SUPERSEDED = "evidence_superseded"
    EVIDENCE_EXPIRED = "evidence_expired"
    EVIDENCE_ERASED = "evidence_erased"
    EVIDENCE_QUARANTINED = "evidence_quarantined"


@dataclass(frozen=True, slots=True)
class PinnedEvidence:
    """One piece of evidence as it stood when the approval was asked for."""

    id: str
    version: int
    sha256: str


@dataclass(frozen=True, slots=True)
class EvidenceNow:
    """One piece of evidence as it stands now."""

    version: int
    sha256: str
    superseded: bool
    expired: bool
    quarantined: bool = False


@dataclass(frozen=True, slots=True)
class NewApproval:
    """A request as it was sent: the whole command with its `kind`. No `expires_at` is the longest time."""

    command: Mapping[str, Any]
    evidence_ids: tuple[str, ...] = ()
    expires_at: datetime | None = None

    @property
    def kind(self) -> str:
        """The kind of effect that the command is."""
        return str(self.command["kind"])


@dataclass(frozen=True, slots=True)
class Decision:
    """A person's word on a request, and why."""

    approves: bool
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Approval:
    """A request for one person's yes to one exact command, and what became of it.

    `command` and `reason` are `None` where they were not read, were erased, or are not the caller's to read.
    `command_hash` is `sha256:<hex>` of the command's RFC 8785 form. `agent` is the agent that asked, if one
    did, for `acting_user`. `decided_by` decided as `decider_role`. `operation_id` is the effect that it was
    redeemed for. `moved` says why it is stale or expired.
    """

    id: str
    execution_id: str
    kind: str
    command: Mapping[str, Any] | None
    command_hash: str
    status: ApprovalStatus
    approver_role: Role
    requested_by: str
    acting_user: str
    agent: str | None
    evidence: Sequence[PinnedEvidence]
    policy_version: str
    expires_at: datetime
    created_at: datetime
    updated_at: datetime
    decided_by: str | None = None
    decider_role: Role | None = None
    decided_at: datetime | None = None
    reason: str | None = None
    operation_id: str | None = None
    redeemed_at: datetime | None = None
    moved: Sequence[Moved] = ()

    @property
    def is_written(self) -> bool:
        """Whether the record says so too: an expiry is true before anybody has written it down."""
        return self.status is not ApprovalStatus.EXPIRED or bool(self.moved)


@dataclass(frozen=True, slots=True)
class Standing:
    """What an approval's bindings are compared with: the present, read anew.

    `acting_user_stands` says whether the acting user may still enter the project, `approver_stands` whether
    whoever decided may still decide there (true while nobody has). `evidence` has what is still there.
    """

    now: datetime
    policy_version: str
    execution_ended: bool
    acting_user_stands: bool
    approver_stands: bool
    evidence: Mapping[str, EvidenceNow]


@dataclass(frozen=True, slots=True)
class Lapsed:
    """An approval that does not hold any more, so that work waits for a newer one, and what moved."""

    approval_id: str
    moved: Sequence[Moved]
