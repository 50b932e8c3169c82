"""Shapes of proposals, memories, consents and receipts."""

from typing import Annotated, Any, Literal

from pydantic import Field

from service.wire.scalars import Answer, Hash, Id, Name, Request, ShortText, Text, When
from service.wire.validity import WithValidity

Key = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9_.-]{0,99}$")]
"""What a memory says something about: `reply_style`."""

Quote = Annotated[Text, Field(min_length=1, max_length=1_000)]


class ProvenanceShape(Request):
    """A source of the proposal, and words that stand in it."""

    kind: Literal["turn", "evidence", "observation"]
    id: Id
    quote: Quote | None = None


Scalar = Annotated[Text, Field(max_length=10_000)] | int | float | bool
FieldName = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,63}$")]
Texts = Annotated[list[Annotated[Text, Field(max_length=2_000)]], Field(max_length=100)]

Value = Scalar | Annotated[dict[FieldName, Scalar | Texts], Field(max_length=32)]
"""A structured value, beside or instead of a text: a scalar, or an object as its class describes it."""


class ProposeMemory(WithValidity):
    """Something to be remembered, and when it is true, if not always."""

    project: Name
    class_: Annotated[str, Field(alias="class", min_length=1, max_length=64, pattern=r"^[a-z][a-z0-9_]*$")]
    subject: Name | None = None
    key: Key
    text: Annotated[Text, Field(max_length=10_000)] | None = None
    value: Value | None = None
    confidence: Annotated[float, Field(ge=0, le=1)]
    provenance: Annotated[tuple[ProvenanceShape, ...], Field(max_length=20)] = ()
    purpose: Annotated[str, Field(min_length=1, max_length=64)]


class ReasonAnswer(Answer):
    """Why something was not simply approved."""

    code: str
    message: str


class MemoryNamed(Answer):
    """The memory that a proposal became."""

    id: str
    version: int


class ProposalAnswer(Answer):
    """The decision on a proposal, with its reasons."""

    id: str
    decision: Literal["approved", "denied", "pending_review"]
    reasons: list[ReasonAnswer]
    policy_version: str
    memory: MemoryNamed | None


class DetectionAnswer(Answer):
    """What a detector found: characters `start` to `end` of `key`, `text`, `value` or `quote.N`."""

    place: str
    kind: str
    start: int
    end: int


class ProposalListed(Answer):
    """A proposal in a list. Its words are there while it waits; a denied one has kept none."""

    id: str
    project: str
    class_: str = Field(serialization_alias="class")
    decision: Literal["approved", "denied", "pending_review"]
    codes: list[str]
    decision_reason: str | None
    approver: str | None
    subject: str | None
    key: str | None
    text: str | None
    value: Any
    provenance: list[dict[str, Any]]
    purpose: str
    confidence: float
    valid_from: When | None
    valid_until: When | None
    detections: list[DetectionAnswer]
    proposer: str
    policy_version: str
    memory_id: str | None
    created_at: When
    age_seconds: float


class ProposalPage(Answer):
    """A page of proposals."""

    items: list[ProposalListed]
    next_cursor: str | None


class DecideProposal(Request):
    """A person's word on a proposal."""

    decision: Literal["approve", "reject"]
    reason: ShortText | None = None
    content_hash: Hash | None = None
    """Of the proposal as the person saw it: what has changed since is not decided."""


class MemoryAnswer(Answer):
    """What is remembered, why, by whose word and until when.

    `valid_from` and `valid_until` say when it is true, `expires_at` until when it is kept. What contradicts
    each other shares a `conflict_group`. `grace_until` is there while its subject may take a deletion back.
    """

    id: str
    class_: str = Field(serialization_alias="class")
    project: str
    subject: str | None
    key: str
    text: str | None
    value: Any
    purpose: str
    purposes: list[str]
    lawful_basis: str | None
    because: str | None
    confidence: float
    provenance: list[dict[str, Any]]
    trust: str
    version: int
    created_at: When
    confirmed_at: When
    expires_at: When
    valid_from: When | None
    valid_until: When | None
    grace_until: When | None
    conflict_group: str | None
    status: Literal["active", "paused", "expired", "superseded", "quarantined", "grace"]
    advisory: bool
    revalidate: list[str]
    policy_version: str


class MemoryPage(Answer):
    """A page of memories."""

    items: list[MemoryAnswer]
    next_cursor: str | None


class SearchMemories(Request):
    """A question to long-term memory: what is true at `as_of`, as far as it was known at `known_at`."""

    query: Annotated[Text, Field(min_length=1, max_length=8_000)]
    subject: Name | None = None
    project: Name | None = None
    purpose: Annotated[str, Field(min_length=1, max_length=64)]
    limit: Annotated[int, Field(ge=1, le=100)] = 10
    as_of: When | None = None
    known_at: When | None = None


class MemoryFound(Answer):
    """A memory that was found, with the scores that placed it."""

    memory: MemoryAnswer
    scores: dict[str, float]


class MemoriesFound(Answer):
    """What a search found, the best first."""

    items: list[MemoryFound]


class SetConsent(Request):
    """Giving or withdrawing consent; `text_version` is the version of what the person was shown."""

    subject: Name
    granted: bool
    text_version: Annotated[Text, Field(min_length=1, max_length=100)]


class ConsentActAnswer(Answer):
    """One giving or withdrawing."""

    granted: bool
    text_version: str
    at: When
    by: str


class ConsentAnswer(Answer):
    """Whether consent to a purpose stands, and how it came to that."""

    purpose: str
    subject: str
    granted: bool
    text_version: str
    history: list[ConsentActAnswer]


class ConsentsAnswer(Answer):
    """A person's consents."""

    items: list[ConsentAnswer]
