"""Queries that change one memory of a tenant: a new version, another state. Its slot is locked meanwhile."""

from dataclasses import dataclass
from datetime import datetime

from sqlmodel import Session, col, select
from sqlmodel.sql.expression import Select

from service.core.cipher import Cipher
from service.core.ids import is_id
from service.identity.unit import Unit
from service.memories.model import Memory, MemoryStatus, Slot, Standing
from service.memories.store_slots import SlotStore, standing_of, version_row
from service.memories.store_versions import same_version
from service.memories.tables import MemoryRow, MemoryVersionRow


@dataclass(frozen=True, slots=True)
class Locked:
    """A memory that nobody else changes until this transaction ends: its slot is locked."""

    slot: Slot
    status: MemoryStatus
    standing: Standing
    created_at: datetime
    expires_at: datetime
    last_used_at: datetime | None
    grace_until: datetime | None

    @property
    def id(self) -> str:
        """The memory's id."""
        return self.standing.memory_id

    @property
    def version(self) -> int:
        """The version that is current."""
        return self.standing.version


class ChangeStore:
    """One tenant's changes to memories, inside one transaction. Whether they are allowed, verbs decide."""

    def __init__(self, session: Session, tenant_id: str, cipher: Cipher) -> None:
        self._session = session
        self._tenant_id = tenant_id
        self._cipher = cipher

    @classmethod
    def of(cls, unit: Unit) -> "ChangeStore":
        """Answer the store of a unit of work."""
        return cls(unit.session, unit.tenant_id, unit.cipher)

    def lock(self, memory_id: str) -> Locked | None:
        """Lock a memory's slot and answer the memory as it stands then; `None` when it is gone."""
        row = self._session.get(MemoryRow, (self._tenant_id, memory_id)) if is_id(memory_id) else None
        if row is None:
            return None
        # What names the slot never changes, and so may be read before the lock.
        SlotStore(self._session, self._tenant_id, self._cipher).lock(_slot_of(row))
        query = self._current(memory_id).with_for_update().execution_options(populate_existing=True)
        return _locked(self._session.exec(query).first())

    def look(self, memory_id: str) -> Locked | None:
        """Answer what `lock` would, and lock nothing: for who only wants to know what would come of it."""
        return _locked(self._session.exec(self._current(memory_id)).first()) if is_id(memory_id) else None

    def _current(self, memory_id: str) -> Select[MemoryRow, MemoryVersionRow]:
        return (
            select(MemoryRow, MemoryVersionRow)
            .join(MemoryVersionRow, same_version())
            .where(MemoryRow.tenant_id == self._tenant_id, MemoryRow.id == memory_id)
        )

    def is_slot_taken(self, slot: Slot, *, now: datetime) -> bool:
        """Say whether the slot has an active value that has not run out."""
        return SlotStore(self._session, self._tenant_id, self._cipher).standing(slot, now=now) is not None

    def add_version(
        self, memory: Memory, *, observed_at: datetime | None, by: str, reason: str | None, at: datetime
    ) -> None:
        """Make `memory` the current version of itself; the one before stays as history."""
        self._session.add(
            version_row(memory, self._tenant_id, self._cipher, act="corrected", by=by, at=at, reason=reason)
        )
        row = self._row(memory.id)
        row.version, row.observed_at, row.confirmed_at = memory.version, observed_at, at
        row.trust, row.policy_version, row.lawful_basis = (
            memory.trust,
            memory.policy_version,
            memory.lawful_basis,
        )
        row.valid_from, row.valid_until = memory.validity.since, memory.validity.until
        row.expires_at = memory.expires_at
        self._session.add(row)
        self._session.flush()

    def set_status(self, memory_id: str, status: MemoryStatus, *, ended_at: datetime | None = None) -> None:
        """Put a memory into another state; `ended_at` is when it ended for good, if it has."""
        row = self._row(memory_id)
        row.status, row.ended_at, row.grace_until = status, ended_at, None
        self._session.add(row)
        self._session.flush()

    def _row(self, memory_id: str) -> MemoryRow:
        return self._session.exec(
            select(MemoryRow).where(MemoryRow.tenant_id == self._tenant_id, col(MemoryRow.id) == memory_id)
        ).one()


def _slot_of(row: MemoryRow) -> Slot:
    return Slot(row.project_id, row.class_name, row.subject_hash, row.key_hash)


def _locked(found: tuple[MemoryRow, MemoryVersionRow] | None) -> Locked | None:
    if found is None:
        return None
    memory, version = found
    return Locked(
        slot=_slot_of(memory),
        status=MemoryStatus(memory.status),
        standing=standing_of(memory, version),
        created_at=memory.created_at,
        expires_at=memory.expires_at,
        last_used_at=memory.last_used_at,
        grace_until=memory.grace_until,
    )
