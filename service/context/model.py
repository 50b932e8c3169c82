"""What a context package is made of: sections in their order, candidates, items, omissions."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from types import MappingProxyType
from typing import Final

from service.context.worth import Worth
from service.core.hashing import Json
from service.policies.words import Overflow, SectionName


class Segment(StrEnum):
    """How long a section's text lasts: for all calls, for a session's, for one."""

    STABLE = "stable"
    SESSION = "session"
    VOLATILE = "volatile"


SEGMENTS: Final[Mapping[SectionName, Segment]] = MappingProxyType(
    {
        SectionName.INSTRUCTIONS: Segment.STABLE,
        SectionName.TOOLS: Segment.STABLE,
        SectionName.SCOPE: Segment.SESSION,
        SectionName.GOAL: Segment.SESSION,
        SectionName.HISTORY: Segment.SESSION,
        SectionName.MEMORIES: Segment.VOLATILE,
        SectionName.EVIDENCE: Segment.VOLATILE,
        SectionName.OBSERVATIONS: Segment.VOLATILE,
        SectionName.STATE: Segment.VOLATILE,
        SectionName.LIMITS: Segment.VOLATILE,
    }
)
assert tuple(SEGMENTS) == tuple(SectionName)


class Rendering(StrEnum):
    """The shape in which a package is handed over."""

    MARKDOWN = "markdown"
    OPENAI = "openai"
    ANTHROPIC = "anthropic"


class OmissionReason(StrEnum):
    """Why a candidate is not in the package. Append-only."""

    OVER_BUDGET = "over_budget"
    DUPLICATE = "duplicate"
    SUPERSEDED = "superseded"
    STALE = "stale"
    LOW_RELEVANCE = "low_relevance"
    PURPOSE = "purpose"
    TRUST = "trust"
    EXPIRED = "expired"
    QUARANTINED = "quarantined"
    RECOVERY = "recovery"
    NOT_PERMITTED = "not_permitted"


class Shape(StrEnum):
    """Where a text may be cut so that what is left still means something."""

    PROSE = "prose"
    MARKDOWN = "markdown"
    """Prose that may hold tables and fenced code."""
    LINES = "lines"
    LOG = "log"
    """Lines of which the last say most, and the first more than the middle: a log ends in its error."""
    ROWS = "rows"
    RECORDS = "records"
    """Lines that are each something by themselves, such as JSON Lines."""
    JSON = "json"
    WHOLE = "whole"
    """Never cut."""


@dataclass(frozen=True, slots=True)
class Source:
    """Where a piece came from."""

    uri: str
    kind: str
    source_version: str | None
    observed_at: datetime | None


@dataclass(frozen=True, slots=True)
class Group:
    """What neighbouring pieces share, printed once above them. `title` may hold anything a source said.

    `standing` says how much they count; where most of a section have the same, its head says it once for all.
    """

    key: str
    title: str
    note: str = ""
    standing: str = ""


@dataclass(frozen=True, slots=True)
class Part:
    """One labelled text. A candidate of several parts (a tool call and its result) is never parted."""

    label: str
    text: str


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool definition as the request gives it, already limited in size and depth."""

    name: str
    description: str
    schema: Mapping[str, Json]
    writes: bool


@dataclass(frozen=True, slots=True)
class Merged:
    """What a near duplicate is, and where it came from."""

    kind: str
    id: str
    version: int
    span: tuple[int, int] | None
    sha256: str
    source: Source | None


@dataclass(frozen=True, slots=True)
class Candidate:
    """Something that could stand in a section. Collectors list theirs with the most wanted first.

    `trusted` text is written by the service or comes from the policy bundle; all else stands inside a fence.
    `place` orders the chosen ones for reading. `cite` is the letter of its citation (E, M, O) or empty.
    `reason` is set where something other than the budget already keeps it out. A `summary` comes in only
    where the others do not all fit; what `may_be_cut` is rather cut than left out.
    """

    kind: str
    id: str
    version: int
    parts: tuple[Part, ...]
    sha256: str
    place: tuple[int | str, ...] = ()
    cite: str = ""
    trusted: bool = False
    required: bool = False
    summary: bool = False
    may_be_cut: bool = False
    group: Group | None = None
    shape: Shape = Shape.PROSE
    card_title: str | None = None
    authority: str | None = None
    trust: str | None = None
    advisory: bool = False
    source: Source | None = None
    span: tuple[int, int] | None = None
    scores: Mapping[str, float] = field(default_factory=dict)
    tool: Tool | None = None
    reason: OmissionReason | None = None
    flags: tuple[str, ...] = ()
    """What readers should know: `hidden_text` where its source holds what only models read, `contested` where
    something of higher standing says otherwise."""
    merged: tuple[Merged, ...] = ()
    """What says the same and is left out for it."""
    also: tuple[str, ...] = ()
    """Turns that are shown with it, or that it quotes: who asks for their uses finds this one."""

    @property
    def text(self) -> str:
        """All its parts' text, in order."""
        return "\n".join(part.text for part in self.parts)


@dataclass(frozen=True, slots=True)
class SectionPlan:
    """A section's candidates, most wanted first, and its share of the budget; higher priorities go first."""

    name: SectionName
    candidates: tuple[Candidate, ...]
    minimum: int = 0
    maximum: int = 2_000_000
    limits_at: Callable[[int], tuple[int, int]] | None = None
    """Minimum and maximum in a package of another size; without it they are the same for all."""
    priority: int = 0
    overflow: Overflow = Overflow.DROP
    card_tokens: int = 64
    standing: str = ""
    """What the section's head says of all groups that say nothing else."""
    maximum_is_strict: bool = True
    """Whether even what is required may not pass the maximum."""

    @property
    def open_candidates(self) -> tuple[Candidate, ...]:
        """Those that nothing but the budget keeps out."""
        return tuple(candidate for candidate in self.candidates if candidate.reason is None)

    @property
    def is_all_required(self) -> bool:
        """Whether the package cannot be without any of them."""
        return self.overflow is Overflow.ERROR


@dataclass(frozen=True, slots=True)
class Truncation:
    """Tokens kept of how many: the marker of a cut is this field and never part of the content."""

    kept: int
    of: int


@dataclass(frozen=True, slots=True)
class Item:
    """A candidate as it stands in the package; `text` may be a cut or a card's first lines."""

    candidate: Candidate
    citation: str
    tokens: int
    text: str
    truncated: Truncation | None
    span: tuple[int, int] | None
    card: bool


@dataclass(frozen=True, slots=True)
class Omission:
    """A candidate that is not in the package, and why. `tokens` is what it would have taken.

    `would_fit_with` is a `max_tokens` with which it would be in, where only the budget keeps it out.
    """

    section: SectionName
    kind: str
    id: str
    version: int
    reason: OmissionReason
    tokens: int
    would_fit_with: int | None = None
    scores: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Section:
    """One section as rendered. `used_tokens` is the exact count of `text`."""

    name: SectionName
    max_tokens: int
    used_tokens: int
    text: str
    items: tuple[Item, ...]
    pieces: tuple[str, ...] = ()
    """The text's head, block after block, and its foot."""
    worth: Worth | None = None
    """What was taken is worth, where the candidates were ranked by scores."""

    @property
    def segment(self) -> Segment:
        """How long its text lasts."""
        return SEGMENTS[self.name]


@dataclass(frozen=True, slots=True)
class TokenEstimate:
    """That the counts of a package are estimates, and how they are made.

    `margin_percent` is by how much they were raised above the counts that they start from, if from any.
    """

    method: str
    margin_percent: int | None


@dataclass(frozen=True, slots=True)
class Package:
    """A finished package. `used_tokens` is the count of what `rendered` holds, exact without `estimate`."""

    id: str
    digest: str
    encoding: str
    max_tokens: int
    used_tokens: int
    overhead_tokens: int
    stable_prefix_tokens: int
    prefix_hashes: Mapping[str, str]
    degraded: tuple[str, ...]
    policy_version: str
    profile_version: str
    fence_marker: str
    sections: tuple[Section, ...]
    omissions: tuple[Omission, ...]
    rendered: Mapping[str, object]
    warnings: tuple[str, ...]
    estimate: TokenEstimate | None = None
