"""Putting one tenant's memories aside and bringing them back, whoever may read them."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime

from sqlalchemy import tuple_
from sqlmodel import Session, col, select

from service.core.locks import lock_names
from service.identity.unit import Unit
from service.memories.model import MemoryStatus
from service.memories.tables import MemoryRow

_STAYS = frozenset({MemoryStatus.QUARANTINED, MemoryStatus.GRACE})
"""A deletion that can be taken back keeps running while something is put aside."""
_SlotKey = tuple[str, str, str]


class MemoriesAside:
    """One tenant's memories under quarantine, inside one transaction. Lists are some hundred long at most."""

    def __init__(self, session: Session, tenant_id: str) -> None:
        self._session = session
        self._tenant_id = tenant_id

    @classmethod
    def of(cls, unit: Unit) -> "MemoriesAside":
        """Answer the store of a unit of work."""
        return cls(unit.session, unit.tenant_id)

    def projects_of(self, ids: Collection[str]) -> Mapping[str, str]:
        """Answer the project of each of the memories that are there."""
        query = select(MemoryRow.id, MemoryRow.project_id)
        return dict(
            self._session.exec(
                query.where(MemoryRow.tenant_id == self._tenant_id, col(MemoryRow.id).in_(ids))
            ).all()
        )

    def put_aside(self, ids: Collection[str]) -> Mapping[str, MemoryStatus]:
        """Take the memories out of use; answer what the status of each was that has another now."""
        former = {}
        for row in self._locked(ids):
            status = MemoryStatus(row.status)
            if status not in _STAYS:
                former[row.id] = status
                row.status = MemoryStatus.QUARANTINED
                self._session.add(row)
        self._session.flush()
        return former

    def bring_back(self, former: Mapping[str, MemoryStatus], *, now: datetime) -> Mapping[str, MemoryStatus]:
        """Give the memories the status that they had; answer the one that each has now.

        A time that ran out meanwhile has run out. Whose slot was filled meanwhile is superseded, and of
        several for one slot the newest has it. What is not put aside any more is left alone.
        """
        # Newest first: of two for one slot that one is to find it free.
        rows = sorted(self._locked(former), key=lambda row: row.id, reverse=True)
        taken = self._taken({_slot(row) for row in rows})
        restored = {}
        for row in rows:
            if row.status != MemoryStatus.QUARANTINED:
                continue
            status = former[row.id]
            if status is MemoryStatus.ACTIVE:
                status = _standing(row, taken, now)
            if status is MemoryStatus.ACTIVE:
                taken.add(_slot(row))
            elif former[row.id] is MemoryStatus.ACTIVE:
                row.ended_at = min(now, row.expires_at)
            row.status = restored[row.id] = status
            self._session.add(row)
        self._session.flush()
        return restored

    def _locked(self, ids: Collection[str]) -> Sequence[MemoryRow]:
        """Read the memories, none of which another transaction changes from here on."""
        wanted = (MemoryRow.tenant_id == self._tenant_id, col(MemoryRow.id).in_(ids))
        slots = self._session.exec(select(MemoryRow.scope_key, MemoryRow.class_name).where(*wanted)).all()
        # As `SlotStore.lock` does: a value is not to take a slot while it is given back to another.
        names = {f"memories/{scope_key}/{class_name}" for scope_key, class_name in slots}
        lock_names(self._session, self._tenant_id, sorted(names))
        query = select(MemoryRow).where(*wanted).order_by(MemoryRow.id).with_for_update()
        return self._session.exec(query.execution_options(populate_existing=True)).all()

    def _taken(self, slots: Collection[_SlotKey]) -> set[_SlotKey]:
        row = MemoryRow
        query = select(row.scope_key, row.class_name, row.key_hash).where(
            row.tenant_id == self._tenant_id,
            row.status == MemoryStatus.ACTIVE,
            tuple_(col(row.scope_key), col(row.class_name), col(row.key_hash)).in_(slots),
        )
        return set(self._session.exec(query).all())


def _slot(row: MemoryRow) -> _SlotKey:
    return (row.scope_key, row.class_name, row.key_hash)


def _standing(row: MemoryRow, taken: Collection[_SlotKey], now: datetime) -> MemoryStatus:
    if row.expires_at <= now:
        return MemoryStatus.EXPIRED
    return MemoryStatus.SUPERSEDED if _slot(row) in taken else MemoryStatus.ACTIVE
