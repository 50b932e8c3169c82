"""Queries of one tenant's evidence: items, their versions, and the rows that a new version writes."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

from sqlalchemy import bindparam, delete, insert, select, update
from sqlmodel import SQLModel, col

from service.core.any_of import is_any_of
from service.core.cipher import TextErased
from service.core.locks import lock_names
from service.evidence.model import Evidence, Head, Limitation, Reference, Source, Standing
from service.evidence.rules import is_stale
from service.evidence.sealing import EvidenceSeal
from service.evidence.store_passages import PassageStore, in_parts
from service.evidence.store_statements import (
    LABELLED_FOR_CALLER,
    OF_TENANT,
    SAME_VERSION,
    AnyRow,
    AnySelect,
    bound_to,
)
from service.evidence.tables import (
    EvidenceChunkRow,
    EvidenceLineageRow,
    EvidenceReaderRow,
    EvidenceRow,
    EvidenceSubjectRow,
    EvidenceVersionRow,
)
from service.identity.model import Caller
from service.policies.words import Authority, Trust

_INSERT_ORDER: Final[tuple[type[SQLModel], ...]] = (
    EvidenceRow,
    EvidenceVersionRow,
    EvidenceChunkRow,
    EvidenceReaderRow,
    EvidenceSubjectRow,
    EvidenceLineageRow,
)


@dataclass(slots=True)
class Writing:
    """Rows that one transaction adds, gathered so that each table is written in one go."""

    items: list[dict[str, Any]] = field(default_factory=list)
    versions: list[dict[str, Any]] = field(default_factory=list)
    chunks: list[dict[str, Any]] = field(default_factory=list)
    readers: list[dict[str, Any]] = field(default_factory=list)
    subjects: list[dict[str, Any]] = field(default_factory=list)
    lineage: list[dict[str, Any]] = field(default_factory=list)
    pointed: dict[str, int] = field(default_factory=dict)
    """Items that stood already, and the version that is now their current one."""
    superseded: dict[str, str] = field(default_factory=dict)
    """Items that leave search, and the item that supersedes each."""
    seen: dict[tuple[str, int], tuple[datetime, datetime | None]] = field(default_factory=dict)
    """Versions that were seen again unchanged: when, and how long they are fresh now."""


class EvidenceStore(PassageStore):
    """One tenant's evidence, inside one transaction."""

    def lock(self, names: Sequence[str]) -> None:
        """Keep others from adding under these names until this transaction ends."""
        lock_names(self._session, self._tenant_id, [f"evidence/{name}" for name in names])

    def heads_by_uri(self, uri_keys: Sequence[str]) -> dict[str, Head]:
        """Answer the items that stand under these keys, by key, whoever may read them."""
        found = {}
        for part in in_parts(uri_keys):
            for row in self._rows(_HEADS_BY_URI, uri_keys=part):
                found[row.uri_key] = _head_of(row)
        return found

    def readable_heads(self, ids: Sequence[str], caller: Caller) -> dict[str, Head]:
        """Answer those of the items that the caller may read and no quarantine holds, by id."""
        found = {}
        for part in in_parts(ids):
            rows = self._rows(_READABLE_HEADS, item_ids=part, **bound_to(caller))
            found.update({row.id: _head_of(row) for row in rows})
        return found

    def write(self, writing: Writing) -> None:
        """Add the rows, point the items at their new versions, and put what is superseded out of search."""
        connection = self._session.connection()
        rows = (writing.items, writing.versions, writing.chunks)
        for table, values in zip(
            _INSERT_ORDER, (*rows, writing.readers, writing.subjects, writing.lineage), strict=True
        ):
            if values:
                connection.execute(insert(table), [{"tenant_id": self._tenant_id, **row} for row in values])
        item = update(EvidenceRow).where(
            col(EvidenceRow.tenant_id) == self._tenant_id, col(EvidenceRow.id) == bindparam("item_id")
        )
        if writing.pointed:
            connection.execute(
                # A new version is a new statement: it returns to search even if the last was superseded.
                item.values(version=bindparam("newest"), superseded_by=None),
                [{"item_id": name, "newest": version} for name, version in writing.pointed.items()],
            )
        if writing.superseded:
            connection.execute(
                item.values(superseded_by=bindparam("successor")),
                [{"item_id": name, "successor": by} for name, by in writing.superseded.items()],
            )
        if writing.seen:
            self._see_again(writing)

    def find(self, evidence_id: str, *, now: datetime, version: int | None = None) -> Evidence | None:
        """Answer an item at a version (default: the current one), or `None`: no caller is asked about."""
        query = _evidence_query(self._tenant_id, evidence_id, version)
        row = self._session.connection().execute(query).first()
        if row is None:
            return None
        seal = EvidenceSeal(self._cipher, row.id, row.version)
        try:
            header, metadata = seal.open_header(row.header), seal.open_metadata(row.free_form)
        except TextErased:
            return None
        return Evidence(
            id=row.id,
            version=row.version,
            current_version=row.current_version,
            project_id=row.project_id,
            source=Source(header.uri, row.kind, header.source_version, row.observed_at, row.created_by),
            title=header.title,
            media_type=row.media_type,
            sha256=row.sha256,
            characters=row.characters,
            tokens=row.tokens,
            chunks=row.chunks,
            standing=_standing_of(row),
            readers=tuple(sorted(self._readers_of([row.id])[row.id, row.version])),
            subjects=header.subjects,
            group=header.group_at(row.sequence),
            fresh_until=row.fresh_until,
            stale=is_stale(row.fresh_until, now),
            supersedes=row.supersedes,
            superseded_by=row.superseded_by,
            quarantined=row.quarantine_id is not None,
            derived_from=self._lineage(row.id, row.version),
            metadata=metadata,
            created_at=row.created_at,
            created_by=row.owner,
            flags=header.flags,
        )

    def pieces(
        self, evidence_id: str, version: int, *, start: int = 0, end: int | None = None
    ) -> Iterator[tuple[int, str]]:
        """Answer each chunk that touches the characters from `start` to `end`, with its offset, in order.

        Read one by one, so that a long text never stands in memory at once.
        """
        query = (
            select(col(EvidenceChunkRow.ordinal), col(EvidenceChunkRow.start_at), col(EvidenceChunkRow.text))
            .where(
                col(EvidenceChunkRow.tenant_id) == self._tenant_id,
                col(EvidenceChunkRow.evidence_id) == evidence_id,
                col(EvidenceChunkRow.version) == version,
                col(EvidenceChunkRow.end_at) > start,
            )
            .order_by(col(EvidenceChunkRow.ordinal))
        )
        if end is not None:
            query = query.where(col(EvidenceChunkRow.start_at) < end)
        seal = EvidenceSeal(self._cipher, evidence_id, version)
        result = self._session.connection().execute(query.execution_options(yield_per=100))
        try:
            for row in result:
                yield row.start_at, seal.open_chunk(row.text, row.ordinal)
        finally:
            result.close()

    def remove(self, evidence_id: str) -> bool:
        """Remove an item with all its versions and all that hangs on them; say whether it was there."""
        removed = self._session.connection().execute(
            delete(EvidenceRow).where(
                col(EvidenceRow.tenant_id) == self._tenant_id, col(EvidenceRow.id) == evidence_id
            )
        )
        return bool(removed.rowcount)

    def _see_again(self, writing: Writing) -> None:
        self._session.connection().execute(
            update(EvidenceVersionRow)
            .where(
                col(EvidenceVersionRow.tenant_id) == self._tenant_id,
                col(EvidenceVersionRow.evidence_id) == bindparam("item_id"),
                col(EvidenceVersionRow.version) == bindparam("item_version"),
            )
            .values(observed_at=bindparam("seen_at"), fresh_until=bindparam("fresh")),
            [
                {"item_id": item_id, "item_version": version, "seen_at": seen_at, "fresh": fresh}
                for (item_id, version), (seen_at, fresh) in writing.seen.items()
            ],
        )

    def _lineage(self, evidence_id: str, version: int) -> tuple[Reference, ...]:
        table = EvidenceLineageRow
        query = (
            select(col(table.ref_kind), col(table.ref_id), col(table.ref_version))
            .where(
                col(table.tenant_id) == self._tenant_id,
                col(table.evidence_id) == evidence_id,
                col(table.version) == version,
            )
            .order_by(col(table.position))
        )
        return tuple(Reference(row.ref_kind, row.ref_id, row.ref_version) for row in self._rows(query))


def _standing_of(row: AnyRow) -> Standing:
    limited = None if row.limited is None else Limitation(row.limited)
    return Standing(Trust(row.trust), Authority(row.authority), limited)


def _heads() -> AnySelect:
    item, version = EvidenceRow, EvidenceVersionRow
    columns = (
        *(item.id, item.project_id, item.uri_key, item.version, item.superseded_by, item.created_by),
        *(version.trust, version.authority, version.limited, version.readers_key, version.statement_key),
        *(version.observed_at, version.fresh_until, version.sha256, version.tokens, version.chunks),
    )
    return select(*(col(column) for column in columns)).join(version, SAME_VERSION).where(OF_TENANT)


_HEADS_BY_URI: Final = _heads().where(is_any_of(col(EvidenceRow.uri_key), "uri_keys"))
_READABLE_HEADS: Final = _heads().where(
    is_any_of(col(EvidenceRow.id), "item_ids"), col(EvidenceRow.quarantine_id).is_(None), LABELLED_FOR_CALLER
)


def _head_of(row: AnyRow) -> Head:
    return Head(
        id=row.id,
        project_id=row.project_id,
        uri_key=row.uri_key,
        version=row.version,
        superseded_by=row.superseded_by,
        created_by=row.created_by,
        standing=_standing_of(row),
        readers_key=row.readers_key,
        statement_key=row.statement_key,
        observed_at=row.observed_at,
        fresh_until=row.fresh_until,
        sha256=row.sha256,
        tokens=row.tokens,
        chunks=row.chunks,
    )


def _evidence_query(tenant_id: str, evidence_id: str, version: int | None) -> AnySelect:
    item, kept = EvidenceRow, EvidenceVersionRow
    wanted = col(item.version) if version is None else version
    return (
        select(
            col(item.id),
            col(item.project_id),
            col(item.version).label("current_version"),
            col(item.superseded_by),
            col(item.quarantine_id),
            col(item.created_by).label("owner"),
            *kept.__table__.columns,  # type: ignore[attr-defined]  # SQLModel adds it to table models
        )
        .join(kept, (col(kept.tenant_id) == col(item.tenant_id)) & (col(kept.evidence_id) == col(item.id)))
        .where(col(item.tenant_id) == tenant_id, col(item.id) == evidence_id, col(kept.version) == wanted)
    )
