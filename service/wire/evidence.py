"""Requests and answers of evidence."""

import json
from typing import Annotated, Any, Final, Literal

from pydantic import AfterValidator, Field

from service.wire.scalars import Answer, Hash, Id, Name, Request, ShortText, Text, When

METADATA_BYTES_MAX: Final = 16 * 1024
READERS_MAX: Final = 50
SUBJECTS_MAX: Final = 50
REFERENCES_MAX: Final = 100
QUERY_CHARACTERS_MAX: Final = 4_000
PATTERN_CHARACTERS_MAX: Final = 500
REJECTED_SHOWN_MAX: Final = 1_000

Authority = Literal[
    "system_of_record", "approved_record", "tool_result", "document", "conversation", "model_summary"
]
Trust = Literal["first_party", "internal_tool", "external_tool", "third_party"]


def _small(metadata: dict[str, Any]) -> dict[str, Any]:
    # Escaped, so that what is measured does not depend on how the client wrote it.
    if len(json.dumps(metadata)) > METADATA_BYTES_MAX:
        raise ValueError(f"is larger than {METADATA_BYTES_MAX} bytes")
    return metadata


Uri = Annotated[Text, Field(min_length=1, max_length=2_000, pattern=r"^[A-Za-z][A-Za-z0-9+.-]*:\S+$")]
"""A uri with its scheme and without white space: `register://plots/18`."""

Kind = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_.-]{0,63}$")]
"""What a source is: `record`, `document`, `tool`."""

Reader = Annotated[Text, Field(max_length=250, pattern=r"^(project|user|role):\S+$")]
"""Who may read: `project:NAME`, `user:ID` or `role:ROLE`."""

ReferenceText = Annotated[
    Text,
    Field(
        max_length=150, pattern=r"^(evidence|turn|observation|memory|package):[^\s@]{1,100}(@[0-9]{1,9})?$"
    ),
]
"""What a text was made from: `evidence:ID`, or `evidence:ID@VERSION`."""

MediaType = Annotated[str, Field(max_length=100, pattern=r"^[a-z]+/[a-z0-9][a-z0-9.+-]*$")]
"""A media type without parameters, in lower case."""

Metadata = Annotated[dict[str, Any], AfterValidator(_small)]
"""A free JSON object of at most 16 KiB."""


class SourceFields(Request):
    """Where a text comes from. Without `observed_at`: it was seen now."""

    uri: Uri
    kind: Kind
    source_version: Annotated[Text, Field(min_length=1, max_length=200)] | None = None
    observed_at: When | None = None


class GroupFields(Request):
    """Pieces that belong together in an order: a session, a document."""

    id: Annotated[Text, Field(min_length=1, max_length=200)]
    title: Annotated[Text, Field(max_length=500)] = ""
    sequence: Annotated[int, Field(ge=0, le=2**53)]


class AddEvidence(Request):
    """One text with its provenance. A file is sent beside these fields and then takes the text's place."""

    project: Name
    text: Annotated[Text, Field(min_length=1)] | None = None
    title: ShortText | None = None
    media_type: MediaType | None = None
    source: SourceFields
    authority: Authority | None = None
    readers: Annotated[tuple[Reader, ...], Field(max_length=READERS_MAX)] = ()
    subjects: Annotated[tuple[Name, ...], Field(max_length=SUBJECTS_MAX)] = ()
    group: GroupFields | None = None
    fresh_until: When | None = None
    supersedes: Id | None = None
    derived_from: Annotated[tuple[ReferenceText, ...], Field(max_length=REFERENCES_MAX)] = ()
    metadata: Metadata = Field(default_factory=dict)


class Limited(Answer):
    """Why a text weighs less than was claimed."""

    code: str
    message: str


class EvidenceKept(Answer):
    """What a text became. `created` is false (and the status 200) when this version stood already."""

    id: str
    version: int
    created: bool
    sha256: Hash
    trust: Trust
    authority: Authority
    limited: Limited | None
    tokens: int
    chunks: int
    flags: list[str] = Field(
        default_factory=list, description="`hidden_text`: it holds characters that only models read."
    )


class Rejected(Answer):
    """A line of a batch that was not kept: its number from 1, and its problem's type."""

    line: int
    type: str
    code: str
    detail: str
    errors: list[dict[str, str]] = Field(default_factory=list)


class BatchKept(Answer):
    """What a batch became. `ids` are those of the accepted lines in order; `unchanged` stood already.

    At most 1,000 rejected lines are described; `rejected_count` counts all.
    """

    accepted: int
    unchanged: int
    rejected: list[Rejected]
    rejected_count: int
    ids: list[str]


class SourceAnswer(Answer):
    """Where a text comes from, and which principal handed it in."""

    uri: str
    kind: str
    source_version: str | None
    observed_at: When
    retrieved_by: str


class GroupAnswer(Answer):
    """The group that a text belongs to, and its place in it."""

    id: str
    title: str
    sequence: int


class SpanAnswer(Answer):
    """A half-open range of characters (Unicode code points) of the item's text."""

    start: int
    end: int


class Truncated(Answer):
    """How many characters are shown, and of how many."""

    kept: int
    of: int


class EvidenceAnswer(Answer):
    """One version of an item. `text` is its beginning; `truncated` says when there is more."""

    id: str
    version: int
    current_version: int
    project: str
    title: str
    text: str
    truncated: Truncated | None
    media_type: str
    sha256: Hash
    characters: int
    tokens: int
    chunks: int
    trust: Trust
    authority: Authority
    limited: Limited | None
    source: SourceAnswer
    readers: list[str]
    subjects: list[str]
    group: GroupAnswer | None
    fresh_until: When | None
    stale: bool
    supersedes: str | None
    superseded_by: str | None
    quarantined: bool = Field(description="Held back from every search and package; only judges read it.")
    derived_from: list[str]
    metadata: dict[str, Any]
    created_at: When
    created_by: str
    flags: list[str] = Field(
        default_factory=list, description="`hidden_text`: it holds characters that only models read."
    )


class TextAnswer(Answer):
    """A part of an item's text: its characters from `start` to `end`, of `characters` in all."""

    id: str
    version: int
    start: int
    end: int
    characters: int
    text: str


class Grep(Request):
    """A literal to look for: no pattern language, `*` is an asterisk."""

    pattern: Annotated[Text, Field(min_length=1, max_length=PATTERN_CHARACTERS_MAX)]
    ignore_case: bool = False
    limit: Annotated[int, Field(ge=1, le=200)] = 50
    context: Annotated[int, Field(ge=0, le=500)] = 80
    version: Annotated[int, Field(ge=1, le=2**31 - 1)] | None = None


class GrepMatch(Answer):
    """One place where the literal stands, with what stands around it (`text` begins at `text_start`)."""

    span: SpanAnswer
    text: str
    text_start: int


class GrepAnswer(Answer):
    """Places in order. `more` says that there are others after the last."""

    id: str
    version: int
    matches: list[GrepMatch]
    more: bool


class EvidenceDeleted(Answer):
    """The item is gone: no search, reading or package finds it again."""

    id: str
    deleted: Literal[True] = True


class EvidenceFilters(Request):
    """What found passages must be."""

    authority: Annotated[tuple[Authority, ...], Field(min_length=1, max_length=6)] | None = None
    source_kind: Annotated[tuple[Kind, ...], Field(min_length=1, max_length=20)] | None = None
    observed_after: When | None = None


class SearchEvidence(Request):
    """A question in words. Only current evidence that the caller may read is searched."""

    project: Name
    query: Annotated[Text, Field(min_length=1, max_length=QUERY_CHARACTERS_MAX)]
    limit: Annotated[int, Field(ge=1, le=100)] = 10
    filters: EvidenceFilters = EvidenceFilters()


class FoundEvidence(Answer):
    """A passage that was found, with where it stands and every score that ranked it."""

    id: str
    version: int
    title: str
    text: str
    span: SpanAnswer
    tokens: int
    sha256: Hash
    trust: Trust
    authority: Authority
    source: SourceAnswer
    group: GroupAnswer | None
    stale: bool
    score: float
    scores: dict[str, float]
    flags: list[str] = Field(
        default_factory=list, description="`hidden_text`: it holds characters that only models read."
    )


class EvidenceFound(Answer):
    """Passages, the best first."""

    items: list[FoundEvidence]
