"""What a person looks at before they decide about a proposal."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from service.memories.diff import Piece
from service.memories.model import Citation, Cited, Memory, Proposal
from service.policies.classes import MemoryClass
from service.policies.verdict import Verdict
from service.policies.words import Approver


@dataclass(frozen=True, slots=True)
class CitedPassage:
    """Where a quote stands, and what is around it: `text` begins at character `text_start` of the source."""

    cited: Cited
    text: str
    text_start: int
    source_id: str
    """The citation's own, or that of the evidence in which a large observation is kept."""


@dataclass(frozen=True, slots=True)
class Source:
    """A source of a proposal. `passage` is `None` where the caller may not read it, or it is gone."""

    citation: Citation
    passage: CitedPassage | None


@dataclass(frozen=True, slots=True)
class OldValue:
    """What an approval would end. `memory` and `diff` are there only for who may read it."""

    memory: Memory | None
    diff: tuple[Piece, ...] = ()


@dataclass(frozen=True, slots=True)
class Reviewed:
    """A proposal with all that a decision about it rests on.

    `content_hash` is what the decision can be bound to; `None`, as is `verdict`, once it has been decided.
    `part` is in which part the caller may decide it, if at all, and `rule` its class in the active bundle.
    """

    proposal: Proposal
    content_hash: str | None
    part: Approver | None
    sources: tuple[Source, ...]
    replaces: OldValue | None
    verdict: Verdict | None
    rule: MemoryClass | None
    looked_at: datetime

    @property
    def age(self) -> timedelta:
        """How long ago it was handed in."""
        return max(timedelta(0), self.looked_at - self.proposal.created_at)
