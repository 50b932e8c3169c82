"""Queries of what is about one person, for other queries to be limited by."""

from sqlalchemy import Select
from sqlmodel import col, select

from service.identity.unit import Unit
from service.memories.tables import MemoryRow


def own_memory_ids(person: str, *, unit: Unit) -> Select[str]:
    """Answer the query of the ids of all memories that are about the person, whatever their state."""
    return select(MemoryRow.id).where(
        col(MemoryRow.tenant_id) == unit.tenant_id,
        col(MemoryRow.subject_hash) == unit.cipher.keyed_hash(person),
    )
