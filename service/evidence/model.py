"""Values of evidence: what is handed in, what is kept, and the passages that others read."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any, Final

from service.core.errors import Forbidden, Invalid, NotFound
from service.core.passages import PassageKey
from service.evidence.ports import Span
from service.policies.words import Authority, Trust

CHUNK_TOKENS_MAX: Final = 256
"""Most tokens of a chunk. Long pieces blur a pooled vector and waste a small budget, short ones lose their
context: eight of these fit the 2,000 tokens that a package gives to evidence by default."""
TEXT_READ_CHARACTERS_MAX: Final = 100_000
"""Most characters that one reading of a text answers."""
TEXT_SHOWN_CHARACTERS_MAX: Final = 20_000
"""Most characters of the text that an item shows of itself."""
BATCH_ITEMS_MAX: Final = 100
"""Most items kept in one transaction: long enough to share its cost, short enough to let others write."""


class ReferenceNotFound(NotFound):
    """A reference inside the request names nothing that the caller may read."""

    code = "reference_not_found"
    title = "The request refers to something that you may not read"

    def __init__(self, pointer: str) -> None:
        message = "names nothing that you may read"
        super().__init__("", errors=[{"pointer": pointer, "message": message}])


class ReaderUnknown(Invalid):
    """A reader is neither `project:NAME`, `user:ID` nor `role:ROLE`."""

    code = "reader_unknown"
    title = "A reader is project:NAME, user:ID or role:ROLE"


class SupersedeRefused(Forbidden):
    """Evidence of lower standing, or for other readers, may not put this one out of search."""

    code = "supersede_refused"
    title = "This evidence may not supersede that one"


@dataclass(frozen=True, slots=True)
class Source:
    """Where a text comes from. `retrieved_by` is the principal that handed it in, never its own claim."""

    uri: str
    kind: str
    source_version: str | None
    observed_at: datetime
    retrieved_by: str = ""


@dataclass(frozen=True, slots=True)
class Group:
    """Pieces that belong together in an order: a session, a document. Unique inside a project."""

    id: str
    title: str
    sequence: int


@dataclass(frozen=True, slots=True)
class Reference:
    """Something that a text was made from: `evidence`, `turn`, `observation`, `memory` or `package`."""

    kind: str
    id: str
    version: int | None = None


@dataclass(frozen=True, slots=True)
class Piece:
    """One chunk: its characters in the text and its tokens (o200k_base)."""

    start: int
    end: int
    text: str
    tokens: int


@dataclass(frozen=True, slots=True)
class NewEvidence:
    """What somebody hands in. `readers` are as clients write them; none means the project's members.

    `pieces` are the text already cut (see `cut.cut`), so that a transaction need not wait for it; without
    them it is cut when it is kept.
    """

    project: str
    text: str
    source: Source
    title: str = ""
    media_type: str = "text/plain"
    authority: Authority | None = None
    readers: tuple[str, ...] = ()
    subjects: tuple[str, ...] = ()
    group: Group | None = None
    fresh_until: datetime | None = None
    supersedes: str | None = None
    derived_from: tuple[Reference, ...] = ()
    metadata: Mapping[str, Any] = field(default_factory=dict)
    pieces: tuple[Piece, ...] = ()


class Limitation(StrEnum):
    """Why a text weighs less than was claimed for it. Append only."""

    SOURCE_NOT_GRANTED = "source_not_granted"
    AUTHORITY_ABOVE_CEILING = "authority_above_ceiling"

    @property
    def message(self) -> str:
        """The same in a sentence."""
        return {
            Limitation.SOURCE_NOT_GRANTED: "This credential may not submit evidence of this source,"
            " so it is kept as a third party's document.",
            Limitation.AUTHORITY_ABOVE_CEILING: "The source may not claim that authority,"
            " so it is kept with the highest that it may.",
        }[self]


@dataclass(frozen=True, slots=True)
class Standing:
    """How much evidence weighs, and why it is less than was claimed where it is."""

    trust: Trust
    authority: Authority
    limited: Limitation | None = None


@dataclass(frozen=True, slots=True)
class Kept:
    """The answer to handing evidence in. `is_new` is false when this version stood already."""

    id: str
    version: int
    project_id: str
    sha256: str
    standing: Standing
    tokens: int
    chunks: int
    is_new: bool
    flags: tuple[str, ...] = ()
    """What readers of it should know (see `flags.Flag`)."""


@dataclass(frozen=True, slots=True)
class Head:
    """An item's current version, without any text: enough to decide what may replace it."""

    id: str
    project_id: str
    uri_key: str
    version: int
    superseded_by: str | None
    created_by: str
    standing: Standing
    readers_key: str
    statement_key: str
    observed_at: datetime
    fresh_until: datetime | None
    sha256: str
    tokens: int
    chunks: int


@dataclass(frozen=True, slots=True)
class Evidence:
    """One version of an item with its provenance, all but the text (see `EvidenceStore.pieces`).

    `readers` are labels as stored (`project:<id>`). `version` is the one asked for, `current_version` the
    newest. `characters` counts Unicode code points, as all offsets do.
    """

    id: str
    version: int
    current_version: int
    project_id: str
    source: Source
    title: str
    media_type: str
    sha256: str
    characters: int
    tokens: int
    chunks: int
    standing: Standing
    readers: tuple[str, ...]
    subjects: tuple[str, ...]
    group: Group | None
    fresh_until: datetime | None
    stale: bool
    supersedes: str | None
    superseded_by: str | None
    derived_from: tuple[Reference, ...]
    metadata: Mapping[str, Any]
    created_at: datetime
    created_by: str
    quarantined: bool = False
    """Whether a quarantine keeps it out of every search, package and ordinary reading."""
    flags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class EvidencePassage:
    """One chunk that the caller may read now: re-read from the record, so it may be shown.

    `span` are character offsets into the item's text, `sha256` is the whole text's. `stale` says that
    `fresh_until` has passed: shown by searches, left out of packages.
    """

    key: PassageKey
    project_id: str
    title: str
    text: str
    span: Span
    tokens: int
    trust: Trust
    authority: Authority
    source: Source
    group: Group | None
    fresh_until: datetime | None
    stale: bool
    sha256: str
    flags: tuple[str, ...] = ()

    @property
    def evidence_id(self) -> str:
        """The item's id."""
        return self.key.item_id

    @property
    def version(self) -> int:
        """The item's version."""
        return self.key.version

    @property
    def ordinal(self) -> int:
        """The chunk's place in the item, from 0."""
        return self.key.ordinal


@dataclass(frozen=True, slots=True)
class ReadableItem:
    """What tells, without any text, whether passages of an item may be answered, and what is beside them."""

    id: str
    version: int
    project_id: str
    kind: str
    authority: Authority
    observed_at: datetime
    chunks: int
    group_key: str | None
    sequence: int | None

    def holds(self, key: PassageKey) -> bool:
        """Say whether the passage is one of the item's current version."""
        return key.version == self.version and 0 <= key.ordinal < self.chunks


@dataclass(frozen=True, slots=True)
class IndexPassage:
    """One chunk as the indexing job needs it. `readers` are stored labels, `project:<id>` among them."""

    key: PassageKey
    project_id: str
    title: str
    text: str
    readers: tuple[str, ...]
    subjects: tuple[str, ...]
