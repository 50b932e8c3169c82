"""How memories and their versions are joined and opened: the current ones, or those that were known once."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from sqlalchemy import ColumnElement, and_, func
from sqlalchemy.orm import aliased
from sqlmodel import col, select
from sqlmodel.sql.expression import Select

from service.core.cipher import Cipher, TextErased
from service.memories.model import Memory, MemoryStatus
from service.memories.sealing import memory_place, open_content
from service.memories.tables import MemoryRow, MemoryVersionRow
from service.memories.valid import Moment, Validity
from service.policies.words import Trust

Pair = tuple[MemoryRow, MemoryVersionRow]

RUNS_OUT: Final = frozenset({MemoryStatus.ACTIVE, MemoryStatus.PAUSED})
"""States in which a memory is expired as soon as its time has come."""


def select_versions(tenant_id: str, moment: Moment) -> Select[MemoryRow, MemoryVersionRow]:
    """Answer the query of a tenant's memories, each with the version that was current when asked about."""
    version = same_version() if moment.known_at is None else _newest_until(moment.known_at)
    return (
        select(MemoryRow, MemoryVersionRow)
        .join(MemoryVersionRow, version)
        .where(MemoryRow.tenant_id == tenant_id)
    )


def same_memory() -> ColumnElement[bool]:
    """Hold for a memory and any version of it."""
    return and_(
        col(MemoryVersionRow.tenant_id) == col(MemoryRow.tenant_id),
        col(MemoryVersionRow.memory_id) == col(MemoryRow.id),
    )


def same_version() -> ColumnElement[bool]:
    """Hold for a memory and its current version."""
    return and_(same_memory(), col(MemoryVersionRow.version) == col(MemoryRow.version))


def _newest_until(moment: datetime) -> ColumnElement[bool]:
    earlier = aliased(MemoryVersionRow)
    newest = (
        select(func.max(earlier.version))
        .where(
            col(earlier.tenant_id) == col(MemoryRow.tenant_id),
            col(earlier.memory_id) == col(MemoryRow.id),
            col(earlier.at) <= moment,
        )
        .correlate(MemoryRow)
        .scalar_subquery()
    )
    return and_(same_memory(), col(MemoryVersionRow.version) == newest)


def open_memories(pairs: Sequence[Pair], *, cipher: Cipher, now: datetime | None = None) -> Sequence[Memory]:
    """Open what can still be opened: of an erased person nothing is left to answer.

    With `now`, what has run out until then says so, whether or not anybody has swept.
    """
    found = []
    for memory, version in pairs:
        try:
            found.append(_open(memory, version, cipher, now))
        except TextErased:
            continue
    return found


def _open(memory: MemoryRow, version: MemoryVersionRow, cipher: Cipher, now: datetime | None) -> Memory:
    status = MemoryStatus(memory.status)
    if status in RUNS_OUT and now is not None and memory.expires_at <= now:
        status = MemoryStatus.EXPIRED
    return Memory(
        id=memory.id,
        version=version.version,
        project_id=memory.project_id,
        class_name=memory.class_name,
        status=status,
        content=open_content(version.content, cipher=cipher, place=memory_place(memory.id, version.version)),
        purpose=memory.purpose,
        confidence=version.confidence,
        trust=Trust(version.trust or memory.trust),
        policy_version=memory.policy_version,
        created_at=memory.created_at,
        expires_at=memory.expires_at,
        tokens=version.tokens,
        provenance=tuple(version.provenance),
        validity=Validity(version.valid_from, version.valid_until),
        lawful_basis=memory.lawful_basis,
        conflict_group=memory.conflict_group,
        confirmed_at=memory.confirmed_at,
        grace_until=memory.grace_until if status is MemoryStatus.GRACE else None,
    )
