"""Shapes of reviewing proposals: all that a decision rests on, and many decisions at once."""

from typing import Annotated, Any, Literal

from pydantic import Field

from service.wire.memories import DecideProposal, MemoryNamed, ProposalListed, ReasonAnswer
from service.wire.scalars import Answer, Id, Request, When

DECISIONS_MAX = 100


class ProposedBy(Answer):
    """Who proposed: `sub` is the person in whose name, `act` the agent, each `null` where there is none."""

    role: str
    sub: str | None
    act: str | None


class PassageAnswer(Answer):
    """What stands around a quote; `text` begins at character `text_start` of the source."""

    source_id: str
    text: str
    text_start: int


class SourceAnswer(Answer):
    """A source: its quote is part of the proposal; all else is there only for who may read the source.

    `start` and `end` are the quote's characters in it, `null` where nothing is quoted or it is there no more.
    """

    kind: str
    id: str
    quote: str | None
    readable: bool
    version: int | None
    start: int | None
    end: int | None
    trust: str | None
    observed_at: When | None
    passage: PassageAnswer | None


class PieceAnswer(Answer):
    """A piece of the difference, word by word."""

    op: Literal["keep", "add", "remove"]
    text: str


class ReplacedAnswer(Answer):
    """What an approval would end. Of what the caller may not read only that it is there."""

    readable: bool
    memory_id: str | None
    version: int | None
    text: str | None
    value: Any
    diff: list[PieceAnswer]


class RuleAnswer(Answer):
    """What the class says about such memories now."""

    because: str
    purposes: list[str]
    lawful_basis: str | None
    consent_needed: bool
    approval: str
    conflict: str
    sensitivity: str
    readers: list[str]


class IfApproved(Answer):
    """What the policy says of it at this moment, once all who must have approved."""

    decision: Literal["approved", "denied"]
    reasons: list[ReasonAnswer]


class ProposalReview(ProposalListed):
    """A proposal with all that a decision about it rests on.

    `content_hash` stands for exactly what is shown and what it would replace: send it with the decision.
    `may_decide_as` says in which part the caller decides, `null` for who does not; `approvals` who has.
    """

    proposed_by: ProposedBy
    may_decide_as: Literal["subject", "reviewer"] | None
    approvals: list[str]
    content_hash: str | None
    sources: list[SourceAnswer]
    replaces: ReplacedAnswer | None
    trust: str | None
    if_approved: IfApproved | None
    rule: RuleAnswer | None


class DecideOne(DecideProposal):
    """A word on one of many proposals."""

    id: Id


class DecideProposals(Request):
    """Words on many proposals, each by itself; with `preview` nothing is changed."""

    decisions: Annotated[tuple[DecideOne, ...], Field(min_length=1, max_length=DECISIONS_MAX)]
    preview: bool = False


class DecisionAnswer(Answer):
    """What became, or would become, of one: a decision with status 200, or a refusal with its code."""

    id: str
    status: int
    code: str | None
    detail: str | None
    decision: Literal["approved", "denied", "pending_review"] | None
    reasons: list[ReasonAnswer]
    memory: MemoryNamed | None


class DecisionsAnswer(Answer):
    """The answers in the order of the request."""

    preview: bool
    items: list[DecisionAnswer]
