"""Queries of one tenant's slots: what is active where, and the rows that a new memory writes."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from sqlalchemy import ColumnElement, func
from sqlmodel import Session, col, select

from service.core.cipher import Cipher
from service.core.locks import lock_names
from service.identity.unit import Unit
from service.memories.model import OWN_ACT, Memory, MemoryStatus, Slot, Standing
from service.memories.sealing import hash_content, memory_place, reason_place, seal_content
from service.memories.store_versions import same_version
from service.memories.tables import MemoryRow, MemoryVersionRow
from service.memories.valid import Validity

_COUNTED: Final = (MemoryStatus.ACTIVE, MemoryStatus.PAUSED, MemoryStatus.QUARANTINED)


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
        self.lock_all([slot])

    def lock_all(self, slots: Sequence[Slot]) -> None:
        """Do as `lock` for each of them, so that two that lock the same ones never wait for each other."""
        names = [f"memories/{scope_key(slot)}/{slot.class_name}" for slot in slots]
        lock_names(self._session, self._tenant_id, names)

    def standing(self, slot: Slot, *, now: datetime) -> Standing | None:
        """Answer what is active in the slot and has not expired."""
        found = self._session.exec(
            select(MemoryRow, MemoryVersionRow)
            .join(MemoryVersionRow, same_version())
            .where(*self._slot(slot), MemoryRow.status == MemoryStatus.ACTIVE, MemoryRow.expires_at > now)
        ).first()
        return None if found is None else standing_of(*found)

    def pauses(self, slot: Slot, content_hash: str, *, now: datetime) -> bool:
        """Say whether a value of these words is paused in the slot: kept, and not to be learnt again."""
        query = (
            select(MemoryRow.id)
            .join(MemoryVersionRow, same_version())
            .where(
                *self._slot(slot),
                MemoryRow.status == MemoryStatus.PAUSED,
                MemoryRow.expires_at > now,
                MemoryVersionRow.content_hash == content_hash,
            )
        )
        return self._session.exec(query.limit(1)).first() is not None

    def count_active(self, slot: Slot, *, now: datetime) -> int:
        """Count memories of the slot's class and person (or project) that are active or may be so again.

        What is paused or under quarantine counts: it takes its place again without asking anybody.
        """
        return self._session.exec(
            select(func.count())
            .select_from(MemoryRow)
            .where(
                MemoryRow.tenant_id == self._tenant_id,
                MemoryRow.scope_key == scope_key(slot),
                MemoryRow.class_name == slot.class_name,
                col(MemoryRow.status).in_(_COUNTED),
                MemoryRow.expires_at > now,
            )
        ).one()

    def vacate(self, slot: Slot, *, now: datetime, conflict_group: str | None) -> Sequence[str]:
        """Put whatever is active in the slot out of it; answer the ids that leave.

        What had run out before has expired then; what had not is superseded, in the `conflict_group`.
        """
        rows = self._session.exec(
            select(MemoryRow)
            .where(*self._slot(slot), MemoryRow.status == MemoryStatus.ACTIVE)
            # An erasure of their person hides memories without the slot's lock: what it hid stays hidden.
            .with_for_update()
            .execution_options(populate_existing=True)
        ).all()
        for row in rows:
            if row.expires_at <= now:
                row.status, row.ended_at = MemoryStatus.EXPIRED, row.expires_at
            else:
                row.status, row.ended_at, row.conflict_group = MemoryStatus.SUPERSEDED, now, conflict_group
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
                lawful_basis=memory.lawful_basis,
                conflict_group=memory.conflict_group,
                valid_from=memory.validity.since,
                valid_until=memory.validity.until,
                observed_at=observed_at,
                created_at=memory.created_at,
                confirmed_at=memory.created_at,
                expires_at=memory.expires_at,
            )
        )
        self._session.flush()
        self._session.add(
            version_row(memory, self._tenant_id, self._cipher, act="proposed", by=by, at=memory.created_at)
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

    def _slot(self, slot: Slot) -> tuple[ColumnElement[bool], ...]:
        return (
            col(MemoryRow.tenant_id) == self._tenant_id,
            col(MemoryRow.scope_key) == scope_key(slot),
            col(MemoryRow.class_name) == slot.class_name,
            col(MemoryRow.key_hash) == slot.key_hash,
        )


def scope_key(slot: Slot) -> str:
    """Answer whose slot it is: the person's keyed hash, or the project's id."""
    return slot.subject_hash or slot.project_id


def standing_of(memory: MemoryRow, version: MemoryVersionRow) -> Standing:
    """Answer what a memory's current version is compared with."""
    return Standing(
        memory_id=memory.id,
        version=memory.version,
        content_hash=version.content_hash,
        observed_at=memory.observed_at,
        validity=Validity(version.valid_from, version.valid_until),
        conflict_group=memory.conflict_group,
        by=version.by,
        is_own_act=any(source.get("kind") == OWN_ACT for source in version.provenance),
    )


def version_row(
    memory: Memory,
    tenant_id: str,
    cipher: Cipher,
    *,
    act: str,
    by: str,
    at: datetime,
    reason: str | None = None,
) -> MemoryVersionRow:
    """Answer the row of a memory's version, its words sealed under the person's key."""
    content = memory.content
    subjects = () if content.subject is None else (content.subject,)
    place = reason_place(memory.id, memory.version)
    return MemoryVersionRow(
        tenant_id=tenant_id,
        memory_id=memory.id,
        version=memory.version,
        content=seal_content(content, cipher=cipher, place=memory_place(memory.id, memory.version)),
        content_hash=hash_content(content, cipher=cipher),
        provenance=[dict(source) for source in memory.provenance],
        confidence=memory.confidence,
        trust=memory.trust,
        tokens=memory.tokens,
        act=act,
        by=by,
        reason=None if reason is None else cipher.seal(reason, subjects=subjects, place=place),
        valid_from=memory.validity.since,
        valid_until=memory.validity.until,
        at=at,
    )
