"""Queries of one tenant's legal holds."""

from datetime import datetime
from typing import Final

from sqlalchemy import ColumnElement, and_, or_, select
from sqlmodel import Session, col

from service.core.cipher import Cipher
from service.core.ids import is_id
from service.core.locks import lock_names
from service.core.paging import Page, PageRequest
from service.governance.model import Hold, HoldScope, Target
from service.governance.store_touched import Touched
from service.governance.stores.store_rows import reach_of
from service.governance.tables import HoldRow
from service.identity.unit import Unit

_LOCK: Final = "holds"


class HoldStore:
    """One tenant's holds, inside one transaction."""

    def __init__(self, session: Session, tenant_id: str, cipher: Cipher) -> None:
        self._session = session
        self._tenant_id = tenant_id
        self._cipher = cipher

    @classmethod
    def of(cls, unit: Unit) -> "HoldStore":
        """Answer the store of a unit of work."""
        return cls(unit.session, unit.tenant_id, unit.cipher)

    def lock(self) -> None:
        """Let no deletion pass while a hold is placed, and none be placed while a deletion looks."""
        lock_names(self._session, self._tenant_id, [_LOCK])

    def add(self, hold: Hold) -> None:
        """Keep a new hold, its basis sealed under the tenant's key."""
        self._session.add(
            HoldRow(
                tenant_id=self._tenant_id,
                id=hold.id,
                scope=hold.scope,
                ref=hold.ref,
                basis=self._cipher.seal(hold.basis, subjects=(), place=_place(hold.id)),
                until=hold.until,
                by=hold.by,
                created_at=hold.created_at,
            )
        )
        self._session.flush()

    def find(self, hold_id: str) -> Hold | None:
        """Answer a hold of the tenant, released or not, or `None`: as it is now, whatever was read before."""
        if not is_id(hold_id):
            return None
        row = self._session.get(HoldRow, (self._tenant_id, hold_id), populate_existing=True)
        return None if row is None else self._hold(row)

    def release(self, hold_id: str, *, at: datetime, by: str) -> None:
        """Write down that it holds no longer."""
        row = self._session.get_one(HoldRow, (self._tenant_id, hold_id))
        row.released_at, row.released_by = at, by
        self._session.add(row)
        self._session.flush()

    def page(self, request: PageRequest) -> Page[Hold]:
        """Answer holds, newest first."""
        query = select(HoldRow).where(col(HoldRow.tenant_id) == self._tenant_id)
        if request.after is not None:
            query = query.where(col(HoldRow.id) < str(request.after[0]))
        rows = self._session.scalars(query.order_by(col(HoldRow.id).desc()).limit(request.limit + 1)).all()
        return request.page([self._hold(row) for row in rows], [(row.id,) for row in rows])

    def list_live_ends(self, now: datetime) -> tuple[datetime | None, ...]:
        """Answer the ends of the holds that stand at `now`."""
        return tuple(self._session.scalars(select(col(HoldRow.until)).where(*self._standing(now))))

    def find_over(self, target: Target, unit: Unit) -> Hold | None:
        """Answer a hold that stands over anything that was gathered for the target, or `None`."""
        standing = self._standing(unit.now)
        if self._session.scalars(select(col(HoldRow.id)).where(*standing).limit(1)).first() is None:
            return None
        touched = Touched(reach_of(target, unit), self._session)
        over = or_(
            *(
                and_(col(HoldRow.scope) == scope, touched.names(scope, col(HoldRow.ref)))
                for scope in HoldScope
            )
        )
        row = self._session.scalars(
            select(HoldRow).where(*standing, over).order_by(col(HoldRow.id)).limit(1)
        ).first()
        return None if row is None else self._hold(row)

    def _standing(self, now: datetime) -> tuple[ColumnElement[bool], ...]:
        return (
            col(HoldRow.tenant_id) == self._tenant_id,
            col(HoldRow.released_at).is_(None),
            or_(col(HoldRow.until).is_(None), col(HoldRow.until) > now),
        )

    def _hold(self, row: HoldRow) -> Hold:
        return Hold(
            id=row.id,
            scope=HoldScope(row.scope),
            ref=row.ref,
            basis=self._cipher.open(row.basis, place=_place(row.id)),
            until=row.until,
            by=row.by,
            created_at=row.created_at,
            released_at=row.released_at,
        )


def _place(hold_id: str) -> str:
    return f"holds/{hold_id}/basis"
