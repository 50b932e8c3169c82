"""Queries of one tenant's legal holds."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final

from sqlalchemy import ColumnElement, Select, and_, or_, select
from sqlmodel import Session, col

from service.core.cipher import Cipher
from service.core.ids import is_id
from service.core.locks import lock_names
from service.core.paging import Page, PageRequest
from service.evidence.tables import EvidenceRow, EvidenceSubjectRow
from service.executions.tables import ExecutionRow
from service.governance.model import Hold, HoldScope, Target
from service.governance.stores.store_rows import Reach, reach_of
from service.governance.tables import HoldRow
from service.identity.unit import Unit
from service.memories.tables import MemoryRow, ProposalRow

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
        """Answer a hold of the tenant, released or not, or `None`."""
        row = self._session.get(HoldRow, (self._tenant_id, hold_id)) if is_id(hold_id) else None
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

    def find_over(self, target: Target, unit: Unit) -> Hold | None:
        """Answer a hold that stands over anything that was gathered for the target, or `None`."""
        standing = self._session.scalars(
            select(HoldRow)
            .where(
                col(HoldRow.tenant_id) == self._tenant_id,
                col(HoldRow.released_at).is_(None),
                or_(col(HoldRow.until).is_(None), col(HoldRow.until) > unit.now),
            )
            .order_by(col(HoldRow.id))
        ).all()
        if not standing:
            return None
        reached = _Reached(reach_of(target, unit), self._session)
        return next((self._hold(row) for row in standing if reached.by(HoldScope(row.scope), row.ref)), None)

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


class _Reached:
    """Whether what was gathered lies under a hold of one scope and ref."""

    def __init__(self, reach: Reach, session: Session) -> None:
        self._reach = reach
        self._session = session

    def by(self, scope: HoldScope, ref: str) -> bool:
        """Say whether a hold of that scope and ref touches anything that was gathered."""
        match scope:
            case HoldScope.SUBJECT:
                return ref == self._reach.target.ref or self._about(ref) or self._acts_for(ref)
            case HoldScope.PROJECT:
                return any(self._any(query) for query in self._in_project(ref))
            case _:
                gathered = self._reach.items(scope.value).subquery()
                return self._any(select(gathered.c.item_id).where(gathered.c.item_id == ref))

    def _about(self, subject_hash: str) -> bool:
        queries = [
            select(col(MemoryRow.id)).where(
                self._gathered(MemoryRow, MemoryRow.id, "memory"),
                col(MemoryRow.subject_hash) == subject_hash,
            ),
            select(col(ProposalRow.id)).where(
                self._gathered(ProposalRow, ProposalRow.id, "proposal"),
                col(ProposalRow.subject_hash) == subject_hash,
            ),
            select(col(EvidenceSubjectRow.evidence_id)).where(
                self._gathered(EvidenceSubjectRow, EvidenceSubjectRow.evidence_id, "evidence"),
                col(EvidenceSubjectRow.subject_hash) == subject_hash,
            ),
        ]
        return any(self._any(query) for query in queries)

    def _acts_for(self, subject_hash: str) -> bool:
        persons = self._session.scalars(
            select(col(ExecutionRow.acting_user))
            .where(self._gathered(ExecutionRow, ExecutionRow.id, "execution"))
            .distinct()
        )
        return any(self._reach.cipher.keyed_hash(person) == subject_hash for person in persons)

    def _in_project(self, project_id: str) -> Sequence[Select[Any]]:
        tables: tuple[tuple[Any, str], ...] = (
            (MemoryRow, "memory"),
            (EvidenceRow, "evidence"),
            (ExecutionRow, "execution"),
            (ProposalRow, "proposal"),
        )
        return [
            select(col(table.id)).where(
                self._gathered(table, table.id, kind), col(table.project_id) == project_id
            )
            for table, kind in tables
        ]

    def _gathered(self, table: Any, column: Any, kind: str) -> ColumnElement[bool]:  # noqa: ANN401 - any row class
        return and_(col(table.tenant_id) == self._reach.tenant_id, col(column).in_(self._reach.items(kind)))

    def _any(self, query: Select[Any]) -> bool:
        return self._session.execute(query.limit(1)).first() is not None


def _place(hold_id: str) -> str:
    return f"holds/{hold_id}/basis"
