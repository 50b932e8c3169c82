"""Queries of one tenant's quarantines and of what each has put aside."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime

from sqlalchemy import and_, delete, func, insert, or_
from sqlmodel import Session, col, select

from service.core.cipher import Cipher
from service.core.ids import is_id
from service.core.lineage import Node
from service.core.paging import Page, PageRequest
from service.core.quarantined import QuarantineItemRow
from service.governance.model_quarantines import Quarantine
from service.governance.tables import QuarantineRow
from service.identity.unit import Unit


class QuarantineStore:
    """One tenant's quarantines, inside one transaction. No caller is asked about: verbs decide first."""

    def __init__(self, session: Session, tenant_id: str, cipher: Cipher) -> None:
        self._session = session
        self._tenant_id = tenant_id
        self._cipher = cipher

    @classmethod
    def of(cls, unit: Unit) -> "QuarantineStore":
        """Answer the store of a unit of work."""
        return cls(unit.session, unit.tenant_id, unit.cipher)

    def add(self, quarantine: Quarantine) -> None:
        """Keep a new quarantine, its reason sealed."""
        self._session.add(
            QuarantineRow(
                tenant_id=self._tenant_id,
                id=quarantine.id,
                source_kind=quarantine.source.kind,
                source_id=quarantine.source.id,
                reason=self._cipher.seal(quarantine.reason, subjects=(), place=_place(quarantine.id)),
                affected=dict(quarantine.affected),
                by=quarantine.by,
                created_at=quarantine.created_at,
            )
        )
        self._session.flush()

    def find(self, quarantine_id: str) -> Quarantine | None:
        """Answer a quarantine of the tenant, or `None`."""
        row = (
            self._session.get(QuarantineRow, (self._tenant_id, quarantine_id), populate_existing=True)
            if is_id(quarantine_id)
            else None
        )
        return None if row is None else self._quarantine(row)

    def find_standing(self, source: Node) -> Quarantine | None:
        """Answer the quarantine that stands with this source, or `None`."""
        row = self._session.exec(
            select(QuarantineRow).where(
                QuarantineRow.tenant_id == self._tenant_id,
                QuarantineRow.source_kind == source.kind,
                QuarantineRow.source_id == source.id,
                col(QuarantineRow.released_at).is_(None),
            )
        ).first()
        return None if row is None else self._quarantine(row)

    def list_newest(self, page: PageRequest, *, standing: bool | None) -> Sequence[Quarantine]:
        """Answer one more than a page, newest first; `standing` keeps those that stand, or do not."""
        query = select(QuarantineRow).where(QuarantineRow.tenant_id == self._tenant_id)
        if standing is not None:
            released = col(QuarantineRow.released_at)
            query = query.where(released.is_(None) if standing else released.is_not(None))
        if page.after is not None:
            query = query.where(col(QuarantineRow.id) < str(page.after[0]))
        rows = self._session.exec(query.order_by(col(QuarantineRow.id).desc()).limit(page.limit + 1)).all()
        return [self._quarantine(row) for row in rows]

    def count(self, quarantine_id: str, affected: Mapping[str, int]) -> None:
        """Write down how much was put aside."""
        row = self._session.get_one(QuarantineRow, (self._tenant_id, quarantine_id))
        row.affected = dict(affected)
        self._session.add(row)
        self._session.flush()

    def release(self, quarantine_id: str, *, at: datetime, by: str) -> None:
        """Write down that it was released."""
        row = self._session.get_one(QuarantineRow, (self._tenant_id, quarantine_id))
        row.released_at, row.released_by = at, by
        self._session.add(row)
        self._session.flush()

    def add_items(
        self, quarantine_id: str, kind: str, ids: Collection[str], statuses: Mapping[str, str]
    ) -> None:
        """Say that it holds these things; `statuses` are those to go back to."""
        rows = [
            {
                "tenant_id": self._tenant_id,
                "quarantine_id": quarantine_id,
                "kind": kind,
                "item_id": item_id,
                "status": statuses.get(item_id),
            }
            for item_id in sorted(ids)
        ]
        if rows:
            self._session.connection().execute(insert(QuarantineItemRow), rows)

    def page_items(self, quarantine_id: str, page: PageRequest) -> Page[Node]:
        """Answer a page of what it holds, by kind and id."""
        row = QuarantineItemRow
        query = select(row.kind, row.item_id).where(
            row.tenant_id == self._tenant_id, row.quarantine_id == quarantine_id
        )
        if page.after is not None:
            kind, item_id = (str(part) for part in page.after)
            query = query.where(
                or_(col(row.kind) > kind, and_(col(row.kind) == kind, col(row.item_id) > item_id))
            )
        found = self._session.exec(query.order_by(row.kind, row.item_id).limit(page.limit + 1)).all()
        return page.page([Node(*pair) for pair in found], [tuple(pair) for pair in found])

    def first_items(self, quarantine_id: str, kind: str, *, count: int) -> Mapping[str, str | None]:
        """Answer up to `count` things of a kind that it holds, in order, with the status to go back to."""
        row = QuarantineItemRow
        return dict(
            self._session.exec(
                select(row.item_id, row.status)
                .where(row.tenant_id == self._tenant_id, row.quarantine_id == quarantine_id, row.kind == kind)
                .order_by(row.item_id)
                .limit(count)
            ).all()
        )

    def drop_items(self, quarantine_id: str, kind: str, ids: Collection[str]) -> None:
        """Say that it holds these things no longer."""
        row = QuarantineItemRow
        self._session.exec(
            delete(row).where(
                col(row.tenant_id) == self._tenant_id,
                col(row.quarantine_id) == quarantine_id,
                col(row.kind) == kind,
                col(row.item_id).in_(ids),
            )
        )

    def holders(self, kind: str, ids: Collection[str]) -> Mapping[str, str]:
        """Answer a quarantine that holds each of these things, where one does."""
        row = QuarantineItemRow
        return dict(
            self._session.exec(
                select(row.item_id, func.min(row.quarantine_id))
                .where(row.tenant_id == self._tenant_id, row.kind == kind, col(row.item_id).in_(ids))
                .group_by(row.item_id)
            ).all()
        )

    def former_statuses(self, ids: Collection[str]) -> Mapping[str, str]:
        """Answer what other quarantines know about the statuses that these memories had."""
        row = QuarantineItemRow
        found = self._session.exec(
            select(row.item_id, row.status).where(
                row.tenant_id == self._tenant_id,
                row.kind == "memory",
                col(row.item_id).in_(ids),
                col(row.status).is_not(None),
            )
        ).all()
        return {item_id: status for item_id, status in found if status is not None}

    def count_items(self, quarantine_id: str) -> Mapping[str, int]:
        """Count what it holds, by kind."""
        row = QuarantineItemRow
        return dict(
            self._session.exec(
                select(row.kind, func.count())
                .where(row.tenant_id == self._tenant_id, row.quarantine_id == quarantine_id)
                .group_by(row.kind)
            ).all()
        )

    def _quarantine(self, row: QuarantineRow) -> Quarantine:
        return Quarantine(
            id=row.id,
            source=Node(row.source_kind, row.source_id),
            # Empty once the source was erased.
            reason=self._cipher.open(row.reason, place=_place(row.id)) if row.reason else "",
            affected=dict(row.affected),
            by=row.by,
            created_at=row.created_at,
            released_at=row.released_at,
            released_by=row.released_by,
        )


def _place(quarantine_id: str) -> str:
    return f"quarantines/{quarantine_id}/reason"
