"""Proposals, memories, consents and receipts, and the refusals of this capability."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from service.core.errors import Conflict, Forbidden, Invalid
from service.core.hashing import Json
from service.core.passages import PassageKey
from service.policies.verdict import MemoryMode, Outcome, Reason, SourceFacts
from service.policies.words import Approver, ProvenanceKind, Trust


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


@dataclass(frozen=True, slots=True)
class Slot:
    """Where one active value stands: a subject's (or project's) key in a class. Hashes are keyed."""

    project_id: str
    class_name: str
    subject_hash: str
    """Empty for a project's memory."""
    key_hash: str


@dataclass(frozen=True, slots=True)
class Proposal:
    """A proposal with its decision. What was denied has kept no text: `content` is `None` then."""

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
    """Why a person decided as they did, in their own words."""


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
    """One version of what is remembered, by whose word and until when."""

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
    """For each citation of the content: kind, id, version, start and end of the quote. No words."""


@dataclass(frozen=True, slots=True)
class MemoryPassage:
    """A memory that the caller may read now for the purpose that was asked: re-read from the record."""

    key: PassageKey
    memory: Memory
    revalidate: tuple[str, ...]

    @property
    def memory_id(self) -> str:
        """The memory's id."""
        return self.memory.id

    @property
    def version(self) -> int:
        """The version that is current."""
        return self.memory.version

    @property
    def class_name(self) -> str:
        """Its memory class."""
        return self.memory.class_name

    @property
    def key_name(self) -> str:
        """What it says something about."""
        return self.memory.content.key

    @property
    def text(self) -> str:
        """What is remembered, in words."""
        return shown_text(self.memory.content)

    @property
    def trust(self) -> str:
        """The lowest trust in its lineage."""
        return self.memory.trust

    @property
    def advisory(self) -> bool:
        """Always true: a memory is never a fact."""
        return True

    @property
    def expires_at(self) -> datetime:
        """When it ends."""
        return self.memory.expires_at

    @property
    def tokens(self) -> int:
        """Tokens of the text (o200k_base)."""
        return self.memory.tokens


@dataclass(frozen=True, slots=True)
class IndexedMemory:
    """What the index needs of a memory: its text, whose it is, who may find it."""

    key: PassageKey
    text: str
    project_id: str
    subject: str | None
    readers: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ConsentAct:
    """One giving or withdrawing of consent."""

    purpose: str
    granted: bool
    text_version: str
    at: datetime
    by: str


@dataclass(frozen=True, slots=True)
class Word:
    """A person's word on a waiting proposal, and why, if they say."""

    approves: bool
    reason: str | None = None


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
    return f"{content.key}: {content.value}"
