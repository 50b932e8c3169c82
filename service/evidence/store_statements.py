"""The statements of passages and items, built once: each call binds tenant, caller and lists, and runs."""

from collections.abc import Callable
from typing import Any, Final

from sqlalchemy import (
    ColumnElement,
    Row,
    Select,
    String,
    and_,
    bindparam,
    cast,
    exists,
    or_,
    select,
)
from sqlalchemy.orm import Mapped
from sqlmodel import col

from service.core.any_of import is_any_of
from service.core.held import HOLDS
from service.evidence.tables import (
    EvidenceChunkRow,
    EvidenceReaderRow,
    EvidenceRow,
    EvidenceSubjectRow,
    EvidenceVersionRow,
)
from service.identity.model import Caller

AnySelect = Select[*tuple[Any, ...]]
"""A query of columns: their types are those of the values that are made of them."""
AnyRow = Row[*tuple[Any, ...]]

SAME_VERSION: Final[ColumnElement[bool]] = and_(
    col(EvidenceVersionRow.tenant_id) == col(EvidenceRow.tenant_id),
    col(EvidenceVersionRow.evidence_id) == col(EvidenceRow.id),
    col(EvidenceVersionRow.version) == col(EvidenceRow.version),
)
"""Joins an item to its current version."""

OF_TENANT: Final[ColumnElement[bool]] = col(EvidenceRow.tenant_id) == bindparam("tenant_id")
"""Binds `tenant_id`."""

# A hold that has an end is released when that comes.
_IS_HELD: Final[ColumnElement[bool]] = exists(
    select(HOLDS.c.ref).where(
        HOLDS.c.tenant_id == col(EvidenceRow.tenant_id),
        HOLDS.c.released_at.is_(None),
        or_(
            and_(HOLDS.c.scope == "evidence", HOLDS.c.ref == col(EvidenceRow.id)),
            and_(HOLDS.c.scope == "project", HOLDS.c.ref == col(EvidenceRow.project_id)),
            and_(
                HOLDS.c.scope == "subject",
                exists().where(
                    col(EvidenceSubjectRow.tenant_id) == col(EvidenceRow.tenant_id),
                    col(EvidenceSubjectRow.evidence_id) == col(EvidenceRow.id),
                    col(EvidenceSubjectRow.subject_hash) == HOLDS.c.ref,
                ),
            ),
        ),
    )
)
"""Keeps items that a legal hold restricts: by themselves, by a person whom they are about, by project."""

LABELLED_FOR_CALLER: Final[ColumnElement[bool]] = and_(
    is_any_of(col(EvidenceRow.project_id), "project_ids"),
    exists().where(
        col(EvidenceReaderRow.tenant_id) == col(EvidenceVersionRow.tenant_id),
        col(EvidenceReaderRow.evidence_id) == col(EvidenceVersionRow.evidence_id),
        col(EvidenceReaderRow.version) == col(EvidenceVersionRow.version),
        is_any_of(col(EvidenceReaderRow.label), "labels"),
    ),
)
"""Keeps versions in the caller's projects that carry a label of the caller. Binds `bound_to(caller)`."""


def bound_to(caller: Caller) -> dict[str, Any]:
    """Answer what `LABELLED_FOR_CALLER` binds."""
    return {"project_ids": sorted(caller.project_ids), "labels": sorted(caller.reader_labels)}


def pair_text(name: str, number: int) -> str:
    """Answer a pair as `_is_pair` compares it."""
    return f"{name}:{number}"


def _is_pair(name: Mapped[Any], number: Mapped[Any], *, names: str, pairs: str) -> ColumnElement[bool]:
    """Keep rows whose name and number are one of the pairs; binds the `names` alone too, for an index."""
    return and_(is_any_of(name, names), is_any_of(name + ":" + cast(number, String), pairs))


def _current(*columns: Any) -> AnySelect:  # noqa: ANN401 - any columns
    """Select from the current version of items that nothing supersedes, quarantined or not."""
    return (
        select(*(col(column) for column in columns))
        .select_from(EvidenceRow)
        .join(EvidenceVersionRow, SAME_VERSION)
        .where(OF_TENANT, col(EvidenceRow.superseded_by).is_(None))
    )


def _live(*columns: Any) -> AnySelect:  # noqa: ANN401 - any columns
    """Select from the current version of items that nothing supersedes and no quarantine holds."""
    return _current(*columns).where(col(EvidenceRow.quarantine_id).is_(None))


def _chunks(select_from: Callable[..., AnySelect]) -> AnySelect:
    version, chunk = EvidenceVersionRow, EvidenceChunkRow
    return select_from(
        *(EvidenceRow.id, EvidenceRow.project_id, EvidenceRow.version),
        *(version.header, version.kind, version.trust, version.authority, version.sha256),
        *(version.observed_at, version.fresh_until, version.sequence, version.created_by),
        *(chunk.ordinal, chunk.start_at, chunk.end_at, chunk.tokens, chunk.text),
    ).join(
        chunk,
        and_(
            col(chunk.tenant_id) == col(version.tenant_id),
            col(chunk.evidence_id) == col(version.evidence_id),
            col(chunk.version) == col(version.version),
        ),
    )


_PLACE: Final = (
    *(EvidenceRow.id, EvidenceRow.version, EvidenceVersionRow.chunks),
    *(EvidenceVersionRow.group_key, EvidenceVersionRow.sequence),
)

READABLE_PASSAGES: Final = _chunks(_live).where(
    # Of other versions no row is live, so the version is compared once the row is read.
    is_any_of(col(EvidenceRow.id), "item_ids"),
    _is_pair(
        col(EvidenceChunkRow.evidence_id), col(EvidenceChunkRow.ordinal), names="item_ids", pairs="pairs"
    ),
    LABELLED_FOR_CALLER,
    ~_IS_HELD,
)
"""Chunks with their text. Binds `tenant_id`, `item_ids`, `pairs` and `bound_to(caller)`."""

QUARANTINED_PASSAGES: Final = _chunks(_current).where(
    is_any_of(col(EvidenceRow.id), "item_ids"),
    col(EvidenceRow.quarantine_id).is_not(None),
    col(EvidenceChunkRow.ordinal) == 0,
    LABELLED_FOR_CALLER,
)
"""The first chunk of items under quarantine. Binds `tenant_id`, `item_ids` and `bound_to(caller)`."""

READABLE_ITEMS: Final = _live(
    *_PLACE,
    *(EvidenceRow.project_id, EvidenceVersionRow.kind, EvidenceVersionRow.authority),
    *(EvidenceVersionRow.observed_at, EvidenceVersionRow.header),
).where(is_any_of(col(EvidenceRow.id), "item_ids"), LABELLED_FOR_CALLER, ~_IS_HELD)
"""Items without their text. Binds `tenant_id`, `item_ids` and `bound_to(caller)`."""

INDEXED_CHUNKS: Final = (
    _chunks(_live)
    .where(is_any_of(col(EvidenceRow.id), "item_ids"))
    .order_by(col(EvidenceRow.id), col(EvidenceChunkRow.ordinal))
)
"""All chunks of the items, whoever may read them. Binds `tenant_id` and `item_ids`."""

LIVE_VERSIONS: Final = _live(EvidenceRow.id, EvidenceRow.version, EvidenceVersionRow.header).where(
    is_any_of(col(EvidenceRow.id), "item_ids")
)
"""Which versions are current, and the header that tells whether they can be read. Binds as `PLACES`."""

PLACES: Final = _live(*_PLACE).where(is_any_of(col(EvidenceRow.id), "item_ids"))
"""Where items stand in their groups. Binds `tenant_id` and `item_ids`."""

AT_PLACES: Final = (
    _live(*_PLACE)
    .where(
        _is_pair(
            col(EvidenceVersionRow.group_key),
            col(EvidenceVersionRow.sequence),
            names="group_keys",
            pairs="pairs",
        ),
        # The index of groups begins with the tenant too.
        col(EvidenceVersionRow.tenant_id) == bindparam("tenant_id"),
    )
    .order_by(col(EvidenceRow.id))
)
"""What stands at places of groups. Binds `tenant_id`, `group_keys` and `pairs`."""

READERS: Final[AnySelect] = select(
    col(EvidenceReaderRow.evidence_id), col(EvidenceReaderRow.version), col(EvidenceReaderRow.label)
).where(
    col(EvidenceReaderRow.tenant_id) == bindparam("tenant_id"),
    is_any_of(col(EvidenceReaderRow.evidence_id), "item_ids"),
)
"""Labels of all versions of the items. Binds `tenant_id` and `item_ids`."""
