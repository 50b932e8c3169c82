"""Queries of one tenant's erasures. A row names what was erased by its id and never by its words."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, and_, func, or_
from sqlmodel import Session, col, select

from service.core.cipher import Cipher
from service.core.ids import is_id
from service.governance.model import OPEN, TAKEN_BACK, Erasure, Kind, State, StoreReceipt
from service.governance.tables import ErasureRow
from service.identity.unit import Unit


class ErasureStore:
    """One tenant's erasures, inside one transaction."""

    def __init__(self, session: Session, tenant_id: str, cipher: Cipher) -> None:
        self._session = session
        self._tenant_id = tenant_id
        self._cipher = cipher

    @classmethod
    def of(cls, unit: Unit) -> "ErasureStore":
        """Answer the store of a unit of work."""
        return cls(unit.session, unit.tenant_id, unit.cipher)

    def add(self, erasure: Erasure) -> None:
        """Keep a new erasure; a person's name rests sealed until `update` says that it is complete."""
        sealed = None
        if erasure.subject is not None:
            # Under the tenant's key: the person's own dies before the job has ended.
            sealed = self._cipher.seal(erasure.subject, subjects=(), place=_place(erasure.id))
        self._session.add(
            ErasureRow(
                tenant_id=self._tenant_id,
                id=erasure.id,
                kind=erasure.kind,
                ref=erasure.ref,
                subject=sealed,
                closes_account=erasure.closes_account,
                requester=erasure.requester,
                status=erasure.state,
                stores=_rows(erasure),
                step=erasure.step,
                starts_at=erasure.starts_at,
                due_at=erasure.due_at,
                created_at=erasure.created_at,
                completed_at=erasure.completed_at,
            )
        )
        self._session.flush()

    def find(self, erasure_id: str, *, lock: bool = False) -> Erasure | None:
        """Answer an erasure of the tenant, or `None`: no caller is asked about.

        With `lock`, no other transaction works at it meanwhile.
        """
        if not is_id(erasure_id):
            return None
        query = select(ErasureRow).where(ErasureRow.tenant_id == self._tenant_id, ErasureRow.id == erasure_id)
        if lock:
            query = query.with_for_update().execution_options(populate_existing=True)
        row = self._session.exec(query).first()
        return None if row is None else self._erasure(row)

    def find_open(self, kind: Kind, ref: str) -> Erasure | None:
        """Answer the erasure of this that has not ended, or `None`."""
        row = self._session.exec(
            select(ErasureRow).where(
                ErasureRow.tenant_id == self._tenant_id,
                ErasureRow.kind == kind,
                ErasureRow.ref == ref,
                is_open(),
            )
        ).first()
        return None if row is None else self._erasure(row)

    def update(self, erasure: Erasure) -> None:
        """Write down how far it has come."""
        row = self._session.get_one(ErasureRow, (self._tenant_id, erasure.id))
        row.stores = _rows(erasure)
        row.status = erasure.state
        row.step = erasure.step
        row.failure = erasure.failure
        row.starts_at = erasure.starts_at
        row.completed_at = erasure.completed_at
        row.backups_expire_at = erasure.backups_expire_at
        if erasure.state is State.COMPLETED:
            row.subject = None
        self._session.add(row)
        self._session.flush()

    def count_overdue(self, now: datetime) -> int:
        """Count the erasures that should have been complete by now and are not."""
        return self._session.exec(
            select(func.count())
            .select_from(ErasureRow)
            .where(
                ErasureRow.tenant_id == self._tenant_id,
                is_open(),
                col(ErasureRow.due_at) < now,
            )
        ).one()

    def _erasure(self, row: ErasureRow) -> Erasure:
        subject = None
        if row.subject is not None:
            subject = self._cipher.open(row.subject, place=_place(row.id))
        return Erasure(
            id=row.id,
            kind=Kind(row.kind),
            ref=row.ref,
            requester=row.requester,
            state=State(row.status),
            stores=_stores(row.stores),
            created_at=row.created_at,
            completed_at=row.completed_at,
            subject=subject,
            closes_account=row.closes_account,
            step=row.step,
            failure=row.failure,
            starts_at=row.starts_at,
            backups_expire_at=row.backups_expire_at,
        )


def is_open() -> ColumnElement[bool]:
    """Hold for erasures that have not ended and were not taken back."""
    return and_(
        col(ErasureRow.status).in_(sorted(OPEN)),
        or_(col(ErasureRow.failure).is_(None), col(ErasureRow.failure) != TAKEN_BACK),
    )


def _stores(rows: Sequence[dict[str, Any]]) -> tuple[StoreReceipt, ...]:
    return tuple(
        StoreReceipt(store["store"], store["removed"], store["verified"], store["is_done"]) for store in rows
    )


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


def _place(erasure_id: str) -> str:
    return f"erasures/{erasure_id}/subject"
