"""Queries that note when one tenant's memories were last used."""

from collections.abc import Mapping
from datetime import datetime

from sqlmodel import Session, col, select

from service.identity.unit import Unit
from service.memories.store_rights import is_live
from service.memories.tables import MemoryRow
from service.policies.classes import Expiry


class UseStore:
    """One tenant's uses of memories, inside one transaction."""

    def __init__(self, session: Session, tenant_id: str) -> None:
        self._session = session
        self._tenant_id = tenant_id

    @classmethod
    def of(cls, unit: Unit) -> "UseStore":
        """Answer the store of a unit of work."""
        return cls(unit.session, unit.tenant_id)

    def note(self, versions: Mapping[str, int], expiries: Mapping[str, Expiry], *, now: datetime) -> None:
        """Move the end of those of the memories that are live, of one of the classes, and in that version."""
        rows = self._session.exec(
            select(MemoryRow)
            .where(
                MemoryRow.tenant_id == self._tenant_id,
                col(MemoryRow.id).in_(versions),
                col(MemoryRow.class_name).in_(expiries),
                is_live(now),
            )
            # In one order for all: two packages that show the same memories wait for each other, once.
            .order_by(col(MemoryRow.id))
            .with_for_update()
            .execution_options(populate_existing=True)
        ).all()
        for row in rows:
            if versions[row.id] != row.version:
                continue
            row.last_used_at = now
            end = expiries[row.class_name].expires_at(
                created_at=row.created_at, confirmed_at=row.confirmed_at, used_at=now
            )
            # A use ends nothing sooner: a shorter time that was decided since has an effective date.
            row.expires_at = max(row.expires_at, end)
            self._session.add(row)
        self._session.flush()
