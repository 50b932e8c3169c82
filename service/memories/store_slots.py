"""Queries of one tenant's slots: what is active where, and the rows that a new memory writes."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import ColumnElement, and_, func
from sqlmodel import Session, col, select

from service.core.cipher import Cipher
from service.core.locks import lock_names
from service.identity.unit import Unit
from service.memories.model import Memory, MemoryStatus, Slot
from service.memories.sealing import hash_content, memory_place, seal_content
from service.memories.tables import MemoryRow, MemoryVersionRow


@dataclass(frozen=True, slots=True)
class Standing:
    """What is active in a slot: enough to decide what a new value does to it."""

    memory_id: str
    version: int
    content_hash: str
    observed_at: datetime | None


class SlotStore:
    """One tenant's slots, inside one transaction. No caller is asked about: verbs decide first."""

    def __init__(self, session: Session, tenant_id: str, cipher: Cipher) -> None:
        self._session = session
        self._tenant_id = tenant_id
        self._cipher = cipher

    @classmethod
    def of(cls, unit: Unit) -> "SlotStore":
        """Answer the store of a unit of work."""
        return cls(unit.session, unit.tenant_id, unit.cipher)

    def lock(self, slot: Slot) -> None:
        """Let one proposal for the same person (or project) and class follow another."""
        lock_names(self._session, self._tenant_id, [f"memories/{scope_key(slot)}/{slot.class_name}"])

    def standing(self, slot: Slot, *, now: datetime) -> Standing | None:
        """Answer what is active in the slot and has not expired."""
        same = and_(
            col(MemoryVersionRow.tenant_id) == col(MemoryRow.tenant_id),
            col(MemoryVersionRow.memory_id) == col(MemoryRow.id),
            col(MemoryVersionRow.version) == col(MemoryRow.version),
        )
        found = self._session.exec(
            select(MemoryRow, MemoryVersionRow)
            .join(MemoryVersionRow, same)
            .where(*self._slot(slot), MemoryRow.expires_at > now)
        ).first()
        if found is None:
            return None
        memory, version = found
        return Standing(memory.id, memory.version, version.content_hash, memory.observed_at)

    def count_active(self, slot: Slot, *, now: datetime) -> int:
        """Count active memories of the slot's class and person (or project)."""
        return self._session.exec(
            select(func.count())
            .select_from(MemoryRow)
            .where(
                MemoryRow.tenant_id == self._tenant_id,
                MemoryRow.scope_key == scope_key(slot),
                MemoryRow.class_name == slot.class_name,
                MemoryRow.status == MemoryStatus.ACTIVE,
                MemoryRow.expires_at > now,
            )
        ).one()

    def vacate(self, slot: Slot, *, now: datetime) -> Sequence[str]:
        """Put whatever is active in the slot out of it; answer the ids that leave."""
        rows = self._session.exec(select(MemoryRow).where(*self._slot(slot))).all()
        for row in rows:
            expired = row.expires_at <= now
            row.status = MemoryStatus.EXPIRED if expired else MemoryStatus.SUPERSEDED
            self._session.add(row)
        self._session.flush()
        return [row.id for row in rows]

    def add(
        self,
        memory: Memory,
        slot: Slot,
        *,
        observed_at: datetime | None,
        by: str,
    ) -> None:
        """Keep a new memory in its slot, which must be vacant."""
        self._session.add(
            MemoryRow(
                tenant_id=self._tenant_id,
                id=memory.id,
                project_id=memory.project_id,
                class_name=memory.class_name,
                scope_key=scope_key(slot),
                subject_hash=slot.subject_hash,
                key_hash=slot.key_hash,
                version=memory.version,
                status=memory.status,
                purpose=memory.purpose,
                trust=memory.trust,
                policy_version=memory.policy_version,
                observed_at=observed_at,
                created_at=memory.created_at,
                confirmed_at=memory.created_at,
                expires_at=memory.expires_at,
            )
        )
        self._session.flush()
        self._session.add(
            MemoryVersionRow(
                tenant_id=self._tenant_id,
                memory_id=memory.id,
                version=memory.version,
                content=seal_content(memory.content, cipher=self._cipher, place=memory_place(memory.id, 1)),
                content_hash=hash_content(memory.content, cipher=self._cipher),
                provenance=[dict(source) for source in memory.provenance],
                confidence=memory.confidence,
                tokens=memory.tokens,
                act="proposed",
                by=by,
                at=memory.created_at,
            )
        )
        self._session.flush()

    def list_about(self, subject: str) -> Sequence[str]:
        """Answer the ids of all memories about a person, whatever their state."""
        return self._session.exec(
            select(MemoryRow.id).where(
                MemoryRow.tenant_id == self._tenant_id,
                MemoryRow.subject_hash == self._cipher.keyed_hash(subject),
            )
        ).all()

    def remove(self, memory_id: str) -> int:
        """Remove a memory with all its versions; answer how many there were, none when another was first."""
        mine = and_(col(MemoryRow.tenant_id) == self._tenant_id, col(MemoryRow.id) == memory_id)
        if self._session.exec(select(MemoryRow.id).where(mine).with_for_update()).first() is None:
            return 0
        row = self._session.exec(select(MemoryRow).where(mine)).one()
        versions = self._session.exec(
            select(MemoryVersionRow).where(
                MemoryVersionRow.tenant_id == self._tenant_id, MemoryVersionRow.memory_id == memory_id
            )
        ).all()
        for version in versions:
            self._session.delete(version)
        self._session.flush()
        self._session.delete(row)
        self._session.flush()
        return len(versions)

    def count_versions(self, memory_id: str) -> int:
        """Count the versions of a memory that are there, whoever may read them: an erasure asks."""
        return self._session.exec(
            select(func.count())
            .select_from(MemoryVersionRow)
            .where(MemoryVersionRow.tenant_id == self._tenant_id, MemoryVersionRow.memory_id == memory_id)
        ).one()

    def _slot(self, slot: Slot) -> tuple[ColumnElement[bool], ...]:
        return (
            col(MemoryRow.tenant_id) == self._tenant_id,
            col(MemoryRow.scope_key) == scope_key(slot),
            col(MemoryRow.class_name) == slot.class_name,
            col(MemoryRow.key_hash) == slot.key_hash,
            col(MemoryRow.status) == MemoryStatus.ACTIVE,
        )


def scope_key(slot: Slot) -> str:
    """Answer whose slot it is: the person's keyed hash, or the project's id."""
    return slot.subject_hash or slot.project_id
