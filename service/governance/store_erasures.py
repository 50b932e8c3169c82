"""Queries of one tenant's erasures. A row names what was erased by its id and never by its words."""

from typing import Any

from sqlmodel import Session

from service.core.ids import is_id
from service.governance.model import Erasure, StoreReceipt
from service.governance.tables import ErasureRow
from service.identity.unit import Unit


class ErasureStore:
    """One tenant's erasures, inside one transaction."""

    def __init__(self, session: Session, tenant_id: str) -> None:
        self._session = session
        self._tenant_id = tenant_id

    @classmethod
    def of(cls, unit: Unit) -> "ErasureStore":
        """Answer the store of a unit of work."""
        return cls(unit.session, unit.tenant_id)

    def add(self, erasure: Erasure) -> None:
        """Keep a new erasure."""
        self._session.add(
            ErasureRow(
                tenant_id=self._tenant_id,
                id=erasure.id,
                kind=erasure.kind,
                ref=erasure.ref,
                requester=erasure.requester,
                status="running",
                stores=_rows(erasure),
                created_at=erasure.created_at,
                completed_at=erasure.completed_at,
            )
        )

    def find(self, erasure_id: str) -> Erasure | None:
        """Answer an erasure of the tenant, or `None`: no caller is asked about."""
        row = self._session.get(ErasureRow, (self._tenant_id, erasure_id)) if is_id(erasure_id) else None
        if row is None:
            return None
        return Erasure(
            id=row.id,
            kind=row.kind,
            ref=row.ref,
            requester=row.requester,
            stores=tuple(
                StoreReceipt(store["store"], store["removed"], store["verified"], store["is_done"])
                for store in row.stores
            ),
            created_at=row.created_at,
            completed_at=row.completed_at,
        )

    def update(self, erasure: Erasure) -> None:
        """Write down how far it has come."""
        row = self._session.get_one(ErasureRow, (self._tenant_id, erasure.id))
        row.stores = _rows(erasure)
        row.completed_at = erasure.completed_at
        row.status = "running" if erasure.completed_at is None else "completed"
        self._session.add(row)


def _rows(erasure: Erasure) -> list[dict[str, Any]]:
    return [
        {
            "store": store.store,
            "removed": store.removed,
            "verified": store.verified,
            "is_done": store.is_done,
        }
        for store in erasure.stores
    ]
