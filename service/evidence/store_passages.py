"""Queries for passages: the re-check of what an index answered, neighbours, what the index should hold."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, Final, Self, TypeVar

from sqlalchemy import ColumnElement, Row, Select, String, and_, cast, exists, select
from sqlalchemy.orm import Mapped
from sqlmodel import Session, col

from service.core.cipher import Cipher, TextErased
from service.core.passages import PassageKey
from service.evidence.model import EvidencePassage, IndexPassage, Source
from service.evidence.ports import Span
from service.evidence.rules import inner_neighbours, is_stale
from service.evidence.sealing import EvidenceSeal, Header
from service.evidence.tables import EvidenceChunkRow, EvidenceReaderRow, EvidenceRow, EvidenceVersionRow
from service.identity.model import Caller
from service.identity.unit import Unit
from service.policies.words import Authority, Trust

IN_LIST_MAX: Final = 500
"""Most values in one IN list: databases plan longer ones badly or refuse them."""

Value = TypeVar("Value")
AnySelect = Select[*tuple[Any, ...]]
"""A query of columns: their types are those of the values that are made of them."""
AnyRow = Row[*tuple[Any, ...]]


def in_parts(values: Sequence[Value]) -> Iterator[Sequence[Value]]:
    """Cut values into lists that one query may hold."""
    for start in range(0, len(values), IN_LIST_MAX):
        yield values[start : start + IN_LIST_MAX]


def same_version() -> ColumnElement[bool]:
    """Join an item to its current version."""
    return and_(
        col(EvidenceVersionRow.tenant_id) == col(EvidenceRow.tenant_id),
        col(EvidenceVersionRow.evidence_id) == col(EvidenceRow.id),
        col(EvidenceVersionRow.version) == col(EvidenceRow.version),
    )


def labelled_for(caller: Caller) -> ColumnElement[bool]:
    """Keep versions in the caller's projects that carry a label of the caller."""
    return and_(
        col(EvidenceRow.project_id).in_(sorted(caller.project_ids)),
        exists().where(
            col(EvidenceReaderRow.tenant_id) == col(EvidenceVersionRow.tenant_id),
            col(EvidenceReaderRow.evidence_id) == col(EvidenceVersionRow.evidence_id),
            col(EvidenceReaderRow.version) == col(EvidenceVersionRow.version),
            col(EvidenceReaderRow.label).in_(sorted(caller.reader_labels)),
        ),
    )


class PassageStore:
    """One tenant's passages of evidence, inside one transaction."""

    def __init__(self, session: Session, tenant_id: str, cipher: Cipher) -> None:
        self._session = session
        self._tenant_id = tenant_id
        self._cipher = cipher

    @classmethod
    def of(cls, unit: Unit) -> Self:
        """Answer the store of the unit's tenant and transaction."""
        return cls(unit.session, unit.tenant_id, unit.cipher)

    def passages(
        self, keys: Sequence[PassageKey], *, caller: Caller, now: datetime
    ) -> Mapping[PassageKey, EvidencePassage]:
        """Answer those of the passages that the caller may read now: current, not superseded, not erased.

        Keys of other versions, other projects or other readers, and those of nothing, are simply absent.
        """
        wanted = set(keys)
        found: dict[PassageKey, EvidencePassage] = {}
        for part in in_parts(sorted(wanted)):
            headers: dict[str, Header | None] = {}
            for row in self._rows(_passage_query(self._tenant_id, part).where(labelled_for(caller))):
                key = PassageKey(row.id, row.version, row.ordinal)
                if key in wanted and (passage := self._open(row, key, headers, now)):
                    found[key] = passage
        return found

    def neighbours(self, keys: Sequence[PassageKey]) -> Mapping[PassageKey, tuple[PassageKey, ...]]:
        """Answer for each key the passages before and after it.

        Inside the item those at ordinal ± 1; at its ends the last or first passage of the item at sequence
        ± 1 of the same group. Keys of nothing current are absent. No caller is asked about: what is shown
        of the answer must pass `passages`.
        """
        items = {row.id: row for row in self._places(sorted({key.item_id for key in keys}))}
        wanted = {
            (row.group_key, row.sequence + step)
            for row in items.values()
            if row.group_key is not None
            for step in (-1, 1)
        }
        around = self._at_places(sorted(wanted))
        found = {}
        for key in keys:
            row = items.get(key.item_id)
            if row is None or row.version != key.version:
                continue
            near = inner_neighbours(key, row.chunks)
            before = around.get((row.group_key, (row.sequence or 0) - 1)) if key.ordinal == 0 else None
            after = (
                around.get((row.group_key, (row.sequence or 0) + 1))
                if key.ordinal == row.chunks - 1
                else None
            )
            if before is not None:
                near = (PassageKey(before.id, before.version, before.chunks - 1), *near)
            if after is not None:
                near = (*near, PassageKey(after.id, after.version, 0))
            found[key] = near
        return found

    def index_passages(self, *item_ids: str) -> Sequence[IndexPassage]:
        """Answer all that the index should hold of these items, in order of item and ordinal.

        Empty for an item that is gone, superseded or erased: then nothing of it belongs in the index.
        """
        found: list[IndexPassage] = []
        for part in in_parts(sorted(set(item_ids))):
            query = _live_query(self._tenant_id).where(col(EvidenceRow.id).in_(part))
            rows = self._rows(query.order_by(col(EvidenceRow.id), col(EvidenceChunkRow.ordinal)))
            readers = self._readers_of(part)
            headers: dict[str, Header | None] = {}
            for row in rows:
                header = self._header(row, headers)
                if header is None:
                    continue
                text = EvidenceSeal(self._cipher, row.id, row.version).open_chunk(row.text, row.ordinal)
                key = PassageKey(row.id, row.version, row.ordinal)
                labels = tuple(sorted(readers[row.id, row.version]))
                found.append(IndexPassage(key, row.project_id, header.title, text, labels, header.subjects))
        return found

    def live_versions(self, item_ids: Sequence[str]) -> Mapping[str, int]:
        """Answer the current version of those of the items that belong in the index, without their text."""
        return {row.id: row.version for row in self._places(sorted(set(item_ids)))}

    def list_live_ids(self, *, after: str = "", limit: int) -> Sequence[str]:
        """Answer ids of items that belong in the index, in order, after `after`: for rebuilding it."""
        query = (
            select(col(EvidenceRow.id))
            .where(
                col(EvidenceRow.tenant_id) == self._tenant_id,
                col(EvidenceRow.superseded_by).is_(None),
                col(EvidenceRow.id) > after,
            )
            .order_by(col(EvidenceRow.id))
            .limit(limit)
        )
        return [row.id for row in self._rows(query)]

    def _rows(self, query: AnySelect) -> Sequence[AnyRow]:
        # Columns, not objects: rows are written in bulk beside the session's own bookkeeping of objects.
        return self._session.connection().execute(query).all()

    def _header(self, row: AnyRow, headers: dict[str, Header | None]) -> Header | None:
        if row.id not in headers:
            try:
                headers[row.id] = EvidenceSeal(self._cipher, row.id, row.version).open_header(row.header)
            except TextErased:
                headers[row.id] = None
        return headers[row.id]

    def _open(
        self, row: AnyRow, key: PassageKey, headers: dict[str, Header | None], now: datetime
    ) -> EvidencePassage | None:
        header = self._header(row, headers)
        if header is None:
            return None
        return EvidencePassage(
            key=key,
            project_id=row.project_id,
            title=header.title,
            text=EvidenceSeal(self._cipher, row.id, row.version).open_chunk(row.text, row.ordinal),
            span=Span(row.start_at, row.end_at),
            tokens=row.tokens,
            trust=Trust(row.trust),
            authority=Authority(row.authority),
            source=Source(header.uri, row.kind, header.source_version, row.observed_at, row.created_by),
            group=header.group_at(row.sequence),
            fresh_until=row.fresh_until,
            stale=is_stale(row.fresh_until, now),
            sha256=row.sha256,
        )

    def _readers_of(self, item_ids: Sequence[str]) -> Mapping[tuple[str, int], list[str]]:
        rows = self._rows(
            select(
                col(EvidenceReaderRow.evidence_id),
                col(EvidenceReaderRow.version),
                col(EvidenceReaderRow.label),
            ).where(
                col(EvidenceReaderRow.tenant_id) == self._tenant_id,
                col(EvidenceReaderRow.evidence_id).in_(item_ids),
            )
        )
        found = defaultdict(list)
        for row in rows:
            found[row.evidence_id, row.version].append(row.label)
        return found

    def _places(self, item_ids: Sequence[str]) -> Iterator[AnyRow]:
        for part in in_parts(item_ids):
            yield from self._rows(_place_query(self._tenant_id).where(col(EvidenceRow.id).in_(part)))

    def _at_places(self, places: Sequence[tuple[str, int]]) -> Mapping[tuple[str | None, int], AnyRow]:
        found: dict[tuple[str | None, int], AnyRow] = {}
        for part in in_parts(places):
            place = is_pair(col(EvidenceVersionRow.group_key), col(EvidenceVersionRow.sequence), part)
            query = _place_query(self._tenant_id).where(place).order_by(col(EvidenceRow.id))
            for row in self._rows(query):
                # Two items may claim one place; the older one is taken, so that the answer never wavers.
                found.setdefault((row.group_key, row.sequence), row)
        return found


def _place_query(tenant_id: str) -> AnySelect:
    return (
        select(
            col(EvidenceRow.id),
            col(EvidenceRow.version),
            col(EvidenceVersionRow.chunks),
            col(EvidenceVersionRow.group_key),
            col(EvidenceVersionRow.sequence),
        )
        .join(EvidenceVersionRow, same_version())
        .where(col(EvidenceRow.tenant_id) == tenant_id, col(EvidenceRow.superseded_by).is_(None))
    )


def _live_query(tenant_id: str) -> AnySelect:
    """Chunks of the current version of items that nothing supersedes."""
    version, chunk = EvidenceVersionRow, EvidenceChunkRow
    columns = (
        *(EvidenceRow.id, EvidenceRow.project_id, EvidenceRow.version),
        *(version.header, version.kind, version.trust, version.authority, version.sha256),
        *(version.observed_at, version.fresh_until, version.sequence, version.created_by),
        *(chunk.ordinal, chunk.start_at, chunk.end_at, chunk.tokens, chunk.text),
    )
    return (
        select(*(col(column) for column in columns))
        .join(version, same_version())
        .join(
            chunk,
            and_(
                col(chunk.tenant_id) == col(version.tenant_id),
                col(chunk.evidence_id) == col(version.evidence_id),
                col(chunk.version) == col(version.version),
            ),
        )
        .where(col(EvidenceRow.tenant_id) == tenant_id, col(EvidenceRow.superseded_by).is_(None))
    )


def _passage_query(tenant_id: str, keys: Sequence[PassageKey]) -> AnySelect:
    item_id, ordinal = col(EvidenceChunkRow.evidence_id), col(EvidenceChunkRow.ordinal)
    return _live_query(tenant_id).where(
        # Of other versions no row is live, so the version is compared once the row is read.
        col(EvidenceRow.id).in_(sorted({key.item_id for key in keys})),
        is_pair(item_id, ordinal, [(key.item_id, key.ordinal) for key in keys]),
    )


def is_pair(name: Mapped[Any], number: Mapped[Any], pairs: Sequence[tuple[str, int]]) -> ColumnElement[bool]:
    """Keep rows whose name and number are one of the pairs.

    A list of rows would say it shorter, but PostgreSQL compares each of its members in turn, and a joined
    list of values is compiled anew each time. These lists are hashed, and only narrow what an index found.
    """
    return and_(
        name.in_(sorted({pair[0] for pair in pairs})),
        number.in_(sorted({pair[1] for pair in pairs})),
        (name + ":" + cast(number, String)).in_([f"{pair[0]}:{pair[1]}" for pair in pairs]),
    )
