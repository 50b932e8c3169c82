"""Proposals, memories, consents and receipts, and the refusals of this capability."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any, Final

from service.core.errors import Conflict, Forbidden, Invalid
from service.core.hashing import Json
from service.detection.proposed import Detected, say_value
from service.identity.model import Role
from service.memories.valid import ALWAYS, Validity
from service.policies.verdict import MemoryMode, Outcome, Reason, SourceFacts
from service.policies.words import Approver, ProvenanceKind, Trust

OWN_ACT: Final = "correction"
"""The kind of a source that is the subject's own act."""


class PurposeNotOfClass(Invalid):
    """The proposal names a purpose that the bundle does not have or the class does not list."""

    code = "purpose_unknown"
    title = "The active policy does not use this class for this purpose"


class NothingToRemember(Invalid):
    """Text and value are both empty."""

    code = "memory_empty"
    title = "A proposal needs a text or a value"


class AlreadyDecided(Conflict):
    """A proposal is decided once."""

    code = "proposal_decided"
    title = "This proposal has been decided"


class NotYoursToDecide(Forbidden):
    """The class names somebody else, or the caller proposed it."""

    code = "decision_not_yours"
    title = "The policy does not let this credential decide this proposal"


class MemoryStatus(StrEnum):
    """Where a memory stands. Whether an active one may be read is decided by every query anew."""

    ACTIVE = "active"
    PAUSED = "paused"
    EXPIRED = "expired"
    SUPERSEDED = "superseded"
    QUARANTINED = "quarantined"
    GRACE = "grace"


@dataclass(frozen=True, slots=True)
class Citation:
    """A source that a proposal names: a turn, evidence or observation, and words that stand in it."""

    kind: ProvenanceKind
    id: str
    quote: str | None = None


@dataclass(frozen=True, slots=True)
class Cited:
    """What the record says about a citation.

    `version` is the evidence's, `start` and `end` are where the quote stands in it (characters),
    `observed_at` is when the source was observed or said, `memory_mode` the mode of the run it comes from.
    """

    facts: SourceFacts
    version: int | None = None
    start: int | None = None
    end: int | None = None
    observed_at: datetime | None = None
    memory_mode: MemoryMode | None = None


@dataclass(frozen=True, slots=True)
class NewProposal:
    """What somebody wants to be remembered. `subject` is `None` for a project's memory."""

    project: str
    class_name: str
    subject: str | None
    key: str
    text: str | None
    value: Json
    confidence: float
    citations: tuple[Citation, ...]
    purpose: str
    validity: Validity = ALWAYS


@dataclass(frozen=True, slots=True)
class Slot:
    """Where one active value stands: a subject's (or project's) key in a class. Hashes are keyed."""

    project_id: str
    class_name: str
    subject_hash: str
    """Empty for a project's memory."""
    key_hash: str


@dataclass(frozen=True, slots=True)
class Standing:
    """What is active in a slot: enough to decide what a new value does to it."""

    memory_id: str
    version: int
    content_hash: str
    observed_at: datetime | None
    validity: Validity
    conflict_group: str | None
    by: str
    """Who wrote its current version, as in `Caller.principal`."""
    is_own_act: bool
    """Whether the subject wrote it by their own sign-in, with no other source."""

    def is_written_by(self, subject: str) -> bool:
        """Say whether the person wrote it by their own sign-in."""
        return self.is_own_act or self.by == f"{Role.USER}:{subject}"


@dataclass(frozen=True, slots=True)
class Proposal:
    """A proposal with its decision. What was denied has kept no text: `content` is `None` then.

    One that waits and has a `memory_id` would correct that memory.
    """

    id: str
    project_id: str
    class_name: str
    outcome: Outcome
    codes: tuple[str, ...]
    approver: Approver | None
    policy_version: str
    purpose: str
    confidence: float
    proposer: str
    subject_hash: str
    content: "Content | None"
    created_at: datetime
    memory_id: str | None
    approvals: tuple[str, ...] = ()
    """Kinds of person who have approved it already: of use where both must."""
    decision_reason: str | None = None
    """Why a person decided as they did, in their own words; of a correction that waits, why they ask."""
    validity: Validity = ALWAYS
    detections: tuple[Detected, ...] = ()
    """What detectors found when it was handed in: places, no words."""


@dataclass(frozen=True, slots=True)
class Content:
    """The words of a proposal or memory: sealed together, opened together."""

    subject: str | None
    key: str
    text: str | None
    value: Json
    citations: tuple[Citation, ...]


@dataclass(frozen=True, slots=True)
class Memory:
    """One version of what is remembered, by whose word and until when.

    `conflict_group` is shared by what contradicts each other: the values that one slot has had.
    """

    id: str
    version: int
    project_id: str
    class_name: str
    status: MemoryStatus
    content: Content
    purpose: str
    confidence: float
    trust: Trust
    policy_version: str
    created_at: datetime
    expires_at: datetime
    tokens: int
    provenance: tuple[Mapping[str, Any], ...] = ()
    """For each citation of the content: kind, id, version, start and end of the quote. No words.

    An entry of the kind `correction` is the subject's own act, and stands without a citation.
    """
    validity: Validity = ALWAYS
    lawful_basis: str = ""
    """The class's own when it was kept; empty for what an older schema kept."""
    conflict_group: str | None = None
    confirmed_at: datetime | None = None
    """When a person or the policy last said that it is so: its days count from here."""
    grace_until: datetime | None = None
    """Until when its subject may take a deletion back."""


@dataclass(frozen=True, slots=True)
class ConsentAct:
    """One giving or withdrawing of consent."""

    purpose: str
    granted: bool
    text_version: str
    at: datetime
    by: str


@dataclass(frozen=True, slots=True)
class Refused:
    """What a person never wants remembered: a class, or `None` for all, and since when."""

    class_name: str | None
    since: datetime


@dataclass(frozen=True, slots=True)
class Word:
    """A person's word on a waiting proposal, and why, if they say.

    With a `content_hash` it counts only for exactly what that was the hash of.
    """

    approves: bool
    reason: str | None = None
    content_hash: str | None = None


@dataclass(frozen=True, slots=True)
class Decided:
    """The answer to a proposal or to a decision on one."""

    proposal: Proposal
    reasons: Sequence[Reason]
    memory: Memory | None


def shown_text(content: Content) -> str:
    """Answer a memory's words; a value alone is shown with its key."""
    if content.text:
        return content.text
    return f"{content.key}: {say_value(content.value)}"
