"""The audit trail's vocabulary: what can have happened, one event, and the verdict on a chain of them."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Final

from service.audit.details import Detail

__all__ = [
    "GENESIS_HASH",
    "Action",
    "Checkpoint",
    "Detail",
    "Event",
    "Fault",
    "Head",
    "Link",
    "Rewind",
    "Verdict",
]

GENESIS_HASH: Final = "sha256:" + "0" * 64
"""What the first event of a tenant names as its predecessor."""


class Action(StrEnum):
    """Everything that can be recorded. Append only: a name once written stays readable for ever."""

    TENANT_CREATED = "tenant.created"
    PROJECT_CREATED = "project.created"
    MEMBER_ADDED = "member.added"
    MEMBER_REMOVED = "member.removed"
    KEY_CREATED = "key.created"
    KEY_REVOKED = "key.revoked"
    REQUEST_REFUSED = "request.refused"
    EVIDENCE_ADDED = "evidence.added"
    EVIDENCE_SEEN_AGAIN = "evidence.seen_again"
    EVIDENCE_BATCH_ADDED = "evidence.batch_added"
    EVIDENCE_DELETED = "evidence.deleted"
    EXECUTION_OPENED = "execution.opened"
    EXECUTION_CHECKPOINTED = "execution.checkpointed"
    EXECUTION_COMPLETED = "execution.completed"
    EXECUTION_CANCELLED = "execution.cancelled"
    EXECUTION_RETRIED = "execution.retried"
    EXECUTION_EXPIRED = "execution.expired"
    EXECUTION_REVIEW_REQUIRED = "execution.review_required"
    EXECUTION_RESUMED = "execution.resumed"
    EXECUTION_UNSUPPORTED = "execution.unsupported"
    EXECUTION_CONTENT_ENDED = "execution.content_ended"
    LEASE_GIVEN_BACK = "lease.given_back"
    CONTRACT_CONFIRMED = "contract.confirmed"
    MANIFEST_SET = "manifest.set"
    STEP_LOGGED = "step.logged"
    TURN_ADDED = "turn.added"
    PIN_SET = "pin.set"
    PIN_RESOLVED = "pin.resolved"
    PIN_REOPENED = "pin.reopened"
    SUMMARY_ADDED = "summary.added"
    OBSERVATION_ADDED = "observation.added"
    EFFECT_INTENDED = "effect.intended"
    EFFECT_SETTLED = "effect.settled"
    EFFECT_RECONCILED = "effect.reconciled"
    APPROVAL_ASKED = "approval.asked"
    APPROVAL_DECIDED = "approval.decided"
    APPROVAL_REDEEMED = "approval.redeemed"
    APPROVAL_LAPSED = "approval.lapsed"
    APPROVAL_STALE = "approval.stale"
    APPROVAL_CANCELLED = "approval.cancelled"
    CANDIDATE_SUBMITTED = "candidate.submitted"
    CHECK_REQUESTED = "check.requested"
    CHECK_WRITTEN = "check.written"
    MEMORY_PROPOSED = "memory.proposed"
    PROPOSAL_DECIDED = "memory_proposal.decided"
    MEMORY_KEPT = "memory.kept"
    MEMORY_SUPERSEDED = "memory.superseded"
    MEMORY_CORRECTED = "memory.corrected"
    MEMORY_PAUSED = "memory.paused"
    MEMORY_RESUMED = "memory.resumed"
    MEMORY_EXPIRED = "memory.expired"
    MEMORY_DESTROYED = "memory.destroyed"
    MEMORY_ERASED = "memory.erased"
    CONSENT_SET = "consent.set"
    REFUSAL_SET = "refusal.set"
    PACKAGE_BUILT = "package.built"
    QUARANTINE_BEGUN = "quarantine.begun"
    QUARANTINE_RELEASED = "quarantine.released"
    ERASURE_BEGUN = "erasure.begun"
    ERASURE_COMPLETED = "erasure.completed"
    HOLD_PLACED = "hold.placed"
    HOLD_RELEASED = "hold.released"
    POLICY_ASKED = "policy.asked"
    POLICY_ACTIVATED = "policy.activated"
    POLICY_CANCELLED = "policy.cancelled"
    POLICY_SHADOWED = "policy.shadowed"
    POLICY_UNSHADOWED = "policy.unshadowed"
    RECORD_COPIED = "record.copied"
    RECORD_RESTORED = "record.restored"
    SUBJECT_EXPORTED = "subject.exported"


@dataclass(frozen=True, slots=True)
class Event:
    """One thing that happened, before it has its place in the chain.

    `kind` and `ref` name what it happened to (`"memory"`, its id). `principal` is who did it, as
    `principals.kept_principal` writes it; `credential_id` is the key they held.
    """

    at: datetime
    principal: str
    credential_id: str
    request_id: str
    action: str
    kind: str
    ref: str
    details: Mapping[str, Detail]


@dataclass(frozen=True, slots=True)
class Link:
    """An event in its place: its number in the tenant, its predecessor's hash and its own."""

    sequence: int
    previous_hash: str
    hash: str
    event: Event


@dataclass(frozen=True, slots=True)
class Head:
    """Where a tenant's chain ends. `seal` is a keyed hash of both, which the database alone cannot make."""

    sequence: int
    hash: str
    seal: str


@dataclass(frozen=True, slots=True)
class Rewind:
    """That a restore put the chain back: `sequence` events stayed of `former_sequence` that were known."""

    sequence: int
    former_sequence: int
    at: datetime


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """Where a tenant's chain ended at a moment: so many events, and the hash of the last.

    `rewinds` are the restores that the chain has been through, oldest first.
    """

    tenant_id: str
    sequence: int
    hash: str
    at: datetime
    rewinds: tuple[Rewind, ...] = ()


class Fault(StrEnum):
    """Why a chain does not hold. Append only."""

    SEQUENCE_GAP = "sequence_gap"
    LINK_BROKEN = "link_broken"
    CONTENT_ALTERED = "content_altered"
    HEAD_MISSING = "head_missing"
    HEAD_MISMATCH = "head_mismatch"
    SEAL_INVALID = "seal_invalid"
    BEHIND_CHECKPOINT = "behind_checkpoint"
    CHECKPOINT_MISMATCH = "checkpoint_mismatch"
    CHECKPOINT_INVALID = "checkpoint_invalid"


@dataclass(frozen=True, slots=True)
class Verdict:
    """The outcome of reading a whole chain.

    `events` were read and held; `head_hash` is the hash of the last of them. When the chain does not hold,
    `fault` says why and `first_bad_sequence` which event is the first that cannot be believed.
    """

    events: int
    head_hash: str
    fault: Fault | None = None
    first_bad_sequence: int | None = None

    @property
    def intact(self) -> bool:
        """Whether every event is there, unaltered and in its place."""
        return self.fault is None
