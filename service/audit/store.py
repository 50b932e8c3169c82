"""The queries of one tenant's audit trail."""

from collections.abc import Iterator, Sequence
from typing import Final

from sqlalchemy import update
from sqlalchemy.dialects import postgresql, sqlite
from sqlmodel import Session, col, select

from service.audit.model import GENESIS_HASH, Event, Head, Link
from service.audit.tables import AuditEventRow, AuditHeadRow

_ROWS_PER_FETCH: Final = 1_000


class AuditStore:
    """One tenant's trail, inside one transaction."""

    def __init__(self, session: Session, tenant_id: str) -> None:
        self._session = session
        self._tenant_id = tenant_id

    def lock_head(self) -> Head:
        """Answer the end of the chain and keep other writers of this tenant waiting until we commit.

        (SQLite's writing transactions exclude each other anyway.)
        """
        first = {"tenant_id": self._tenant_id, "sequence": 0, "hash": GENESIS_HASH, "seal": ""}
        insert = postgresql.insert if self._session.get_bind().dialect.name == "postgresql" else sqlite.insert
        connection = self._session.connection()
        connection.execute(insert(AuditHeadRow).values(first).on_conflict_do_nothing())
        row = connection.execute(
            select(AuditHeadRow.sequence, AuditHeadRow.hash, AuditHeadRow.seal)
            .where(col(AuditHeadRow.tenant_id) == self._tenant_id)
            .with_for_update()
        ).one()
        return Head(row.sequence, row.hash, row.seal)

    def find_head(self) -> Head | None:
        """Answer the end of the chain as it is written down, or `None` when it never began."""
        row = self._session.get(AuditHeadRow, self._tenant_id)
        return None if row is None else Head(row.sequence, row.hash, row.seal)

    def append(self, links: Sequence[Link], head: Head) -> None:
        """Add links to the chain and move its end. The caller holds the lock of `lock_head`."""
        for link in links:
            self._session.add(_row_of(link, self._tenant_id))
        self._session.connection().execute(
            update(AuditHeadRow)
            .where(col(AuditHeadRow.tenant_id) == self._tenant_id)
            .values(sequence=head.sequence, hash=head.hash, seal=head.seal)
        )

    def links_of(self, kind: str, ref: str, *, after: int, limit: int) -> Sequence[Link]:
        """Answer up to `limit` links about one thing that stand after a place in the chain, oldest first."""
        rows = self._session.exec(
            select(AuditEventRow)
            .where(
                col(AuditEventRow.tenant_id) == self._tenant_id,
                col(AuditEventRow.kind) == kind,
                col(AuditEventRow.ref) == ref,
                col(AuditEventRow.sequence) > after,
            )
            .order_by(col(AuditEventRow.sequence))
            .limit(limit)
        ).all()
        return [_link_of(row) for row in rows]

    def links(self) -> Iterator[Link]:
        """Answer the whole chain in order, a thousand rows in memory at a time."""
        last = -1
        while True:
            rows = self._session.exec(
                select(AuditEventRow)
                .where(col(AuditEventRow.tenant_id) == self._tenant_id, col(AuditEventRow.sequence) > last)
                .order_by(col(AuditEventRow.sequence))
                .limit(_ROWS_PER_FETCH)
            ).all()
            yield from map(_link_of, rows)
            if len(rows) < _ROWS_PER_FETCH:
                return
            last = rows[-1].sequence


def _row_of(link: Link, tenant_id: str) -> AuditEventRow:
    event = link.event
    return AuditEventRow(
        tenant_id=tenant_id,
        sequence=link.sequence,
        at=event.at,
        principal=event.principal,
        credential_id=event.credential_id,
        request_id=event.request_id,
        action=event.action,
        kind=event.kind,
        ref=event.ref,
        details=dict(event.details),
        previous_hash=link.previous_hash,
        hash=link.hash,
    )


def _link_of(row: AuditEventRow) -> Link:
    event = Event(
        at=row.at,
        principal=row.principal,
        credential_id=row.credential_id,
        request_id=row.request_id,
        action=row.action,
        kind=row.kind,
        ref=row.ref,
        details=row.details,
    )
    return Link(row.sequence, row.previous_hash, row.hash, event)
