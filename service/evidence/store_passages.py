"""Queries for passages: the re-check of what an index answered, neighbours, what the index should hold."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from types import MappingProxyType
from typing import Any, Final, Self, TypeVar

from sqlalchemy import select
from sqlmodel import Session, col

from service.core.cipher import Cipher, TextErased
from service.core.passages import PassageKey
from service.evidence.model import EvidencePassage, IndexPassage, ReadableItem, Source
from service.evidence.ports import Span
from service.evidence.rules import inner_neighbours, is_stale
from service.evidence.sealing import EvidenceSeal, Header
from service.evidence.store_statements import (
    AT_PLACES,
    INDEXED_CHUNKS,
    LIVE_VERSIONS,
    PLACES,
    QUARANTINED_PASSAGES,
    READABLE_ITEMS,
    READABLE_PASSAGES,
    READERS,
    AnyRow,
    AnySelect,
    bound_to,
    pair_text,
)
from service.evidence.tables import EvidenceRow
from service.identity.model import Caller
from service.identity.unit import Unit
from service.policies.words import Authority, Trust

IN_LIST_MAX: Final = 500
"""Most values in one list: what one query answers stays bounded."""

Value = TypeVar("Value")


def in_parts(values: Sequence[Value]) -> Iterator[Sequence[Value]]:
    """Cut values into lists that one query may hold."""
    for start in range(0, len(values), IN_LIST_MAX):
        yield values[start : start + IN_LIST_MAX]


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
        """Answer those of the passages that the caller may read now: current and neither held back nor gone.

        Keys of other versions, other projects or other readers, and those of nothing, are simply absent.
        """
        wanted = set(keys)
        found: dict[PassageKey, EvidencePassage] = {}
        for part in in_parts(sorted(wanted)):
            headers: dict[str, Header | None] = {}
            lists = {
                "item_ids": sorted({key.item_id for key in part}),
                "pairs": [pair_text(key.item_id, key.ordinal) for key in part],
            }
            for row in self._rows(READABLE_PASSAGES, **lists, **bound_to(caller)):
                key = PassageKey(row.id, row.version, row.ordinal)
                if key in wanted and (passage := self._open(row, key, headers, now)):
                    found[key] = passage
        return found

    def quarantined_passages(
        self, item_ids: Sequence[str], *, caller: Caller, now: datetime
    ) -> Sequence[EvidencePassage]:
        """Answer how those of the items begin that the caller could read but for a quarantine, in order.

        What it answers is never shown: it tells whether they would have been.
        """
        found = []
        for part in in_parts(sorted(set(item_ids))):
            headers: dict[str, Header | None] = {}
            for row in self._rows(QUARANTINED_PASSAGES, item_ids=part, **bound_to(caller)):
                passage = self._open(row, PassageKey(row.id, row.version, row.ordinal), headers, now)
                if passage is not None:
                    found.append(passage)
        return sorted(found, key=lambda passage: passage.key)

    def readable_items(self, item_ids: Sequence[str], *, caller: Caller) -> Mapping[str, ReadableItem]:
        """Answer those of the items of which `passages` would answer something now, without any text."""
        found = {}
        for part in in_parts(sorted(set(item_ids))):
            for row in self._rows(READABLE_ITEMS, item_ids=part, **bound_to(caller)):
                if self._cipher.can_open(row.header):
                    found[row.id] = ReadableItem(
                        id=row.id,
                        version=row.version,
                        project_id=row.project_id,
                        kind=row.kind,
                        authority=Authority(row.authority),
                        observed_at=row.observed_at,
                        chunks=row.chunks,
                        group_key=row.group_key,
                        sequence=row.sequence,
                    )
        return found

    def neighbours(
        self, keys: Sequence[PassageKey], *, known: Mapping[str, ReadableItem] = MappingProxyType({})
    ) -> Mapping[PassageKey, tuple[PassageKey, ...]]:
        """Answer for each key the passages before and after it.

        Inside the item those at ordinal ± 1; at its ends the last or first passage of the item at sequence
        ± 1 of the same group. Keys of nothing current are absent. No caller is asked about: what is shown
        of the answer must pass `passages`. Items that are `known` are not read again.
        """
        unknown = sorted({key.item_id for key in keys} - known.keys())
        items: dict[str, Any] = {**known, **{row.id: row for row in self._places(unknown)}}
        wanted = {
            (row.group_key, row.sequence + step)
            for row in (items.get(item_id) for item_id in {key.item_id for key in keys})
            if row is not None and row.group_key is not None
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
            rows = self._rows(INDEXED_CHUNKS, item_ids=part)
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
        return {
            row.id: row.version
            for part in in_parts(sorted(set(item_ids)))
            for row in self._rows(LIVE_VERSIONS, item_ids=part)
            if self._cipher.can_open(row.header)
        }

    def list_live_ids(self, *, after: str = "", limit: int) -> Sequence[str]:
        """Answer ids of items that belong in the index, in order, after `after`: for rebuilding it."""
        query = (
            select(col(EvidenceRow.id))
            .where(
                col(EvidenceRow.tenant_id) == self._tenant_id,
                col(EvidenceRow.superseded_by).is_(None),
                col(EvidenceRow.quarantine_id).is_(None),
                col(EvidenceRow.id) > after,
            )
            .order_by(col(EvidenceRow.id))
            .limit(limit)
        )
        return [row.id for row in self._rows(query)]

    def _rows(self, query: AnySelect, **lists: Any) -> Sequence[AnyRow]:  # noqa: ANN401 - what the query binds
        # Columns, not objects: rows are written in bulk beside the session's own bookkeeping of objects.
        return self._session.connection().execute(query, {"tenant_id": self._tenant_id, **lists}).all()

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
            flags=header.flags,
        )

    def _readers_of(self, item_ids: Sequence[str]) -> Mapping[tuple[str, int], list[str]]:
        rows = self._rows(READERS, item_ids=item_ids)
        found = defaultdict(list)
        for row in rows:
            found[row.evidence_id, row.version].append(row.label)
        return found

    def _places(self, item_ids: Sequence[str]) -> Iterator[AnyRow]:
        for part in in_parts(item_ids):
            yield from self._rows(PLACES, item_ids=part)

    def _at_places(self, places: Sequence[tuple[str, int]]) -> Mapping[tuple[str | None, int], AnyRow]:
        found: dict[tuple[str | None, int], AnyRow] = {}
        for part in in_parts(places):
            lists = {
                "group_keys": sorted({group_key for group_key, _ in part}),
                "pairs": [pair_text(group_key, sequence) for group_key, sequence in part],
            }
            for row in self._rows(AT_PLACES, **lists):
                # Two items may claim one place; the older one is taken, so that the answer never wavers.
                found.setdefault((row.group_key, row.sequence), row)
        return found
