"""Queries that move the ends of one tenant's memories."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import bindparam, update
from sqlmodel import Session, col, select

from service.identity.unit import Unit
from service.memories.store_versions import RUNS_OUT
from service.memories.tables import MemoryRow


@dataclass(frozen=True, slots=True)
class Ending:
    """What the end of a memory hangs on, and when it is."""

    class_name: str
    created_at: datetime
    confirmed_at: datetime
    last_used_at: datetime | None
    expires_at: datetime


class RealignStore:
    """One tenant's memories that live, inside one transaction."""

    def __init__(self, session: Session, tenant_id: str) -> None:
        self._session = session
        self._tenant_id = tenant_id

    @classmethod
    def of(cls, unit: Unit) -> "RealignStore":
        """Answer the store of a unit of work."""
        return cls(unit.session, unit.tenant_id)

    def lock_next(self, *, after: str, limit: int, now: datetime) -> Mapping[str, Ending]:
        """Answer the next memories that live, by id and in order; nobody moves their ends until this ends."""
        row = MemoryRow
        query = (
            select(
                row.id,
                row.class_name,
                row.created_at,
                row.confirmed_at,
                row.last_used_at,
                row.expires_at,
            )  # type: ignore[call-overload]  # the overloads end at four columns
            .where(
                row.tenant_id == self._tenant_id,
                row.id > after,
                col(row.status).in_(RUNS_OUT),
                col(row.expires_at) > now,
            )
            .order_by(col(row.id))
            .limit(limit)
            .with_for_update()
        )
        return {found[0]: Ending(*found[1:]) for found in self._session.exec(query).all()}

    def move(self, ends: Mapping[str, datetime]) -> None:
        """Give memories other ends."""
        if ends:
            statement = (
                update(MemoryRow)
                .where(
                    col(MemoryRow.tenant_id) == self._tenant_id,
                    col(MemoryRow.id) == bindparam("memory_id"),
                )
                .values(expires_at=bindparam("end"))
            )
            moved = [{"memory_id": memory_id, "end": end} for memory_id, end in ends.items()]
            self._session.connection().execute(statement, moved)
