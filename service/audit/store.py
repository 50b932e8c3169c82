"""The queries of one tenant's audit trail."""

from collections.abc import Collection, Iterator, Sequence
from typing import Final

from sqlalchemy import bindparam, insert, update
from sqlalchemy.dialects import postgresql, sqlite
from sqlmodel import Session, col, select

from service.audit.model import GENESIS_HASH, Event, Head, Link
from service.audit.tables import AuditEventRow, AuditHeadRow

_ROWS_PER_FETCH: Final = 1_000

# Every request that changes anything ends with these, and so they are built once.
_HEAD: Final = (
    select(AuditHeadRow.sequence, AuditHeadRow.hash, AuditHeadRow.seal)
    .where(col(AuditHeadRow.tenant_id) == bindparam("tenant"))
    .with_for_update()
)
_MOVE_HEAD: Final = (
    update(AuditHeadRow)
    .where(col(AuditHeadRow.tenant_id) == bindparam("tenant"))
    .values(sequence=bindparam("last"), hash=bindparam("last_hash"), seal=bindparam("new_seal"))
)
_ADD_EVENTS: Final = insert(AuditEventRow)


class AuditStore:
    """One tenant's trail, inside one transaction."""

    def __init__(self, session: Session, tenant_id: str) -> None:
        self._session = session
        self._tenant_id = tenant_id

    def lock_head(self) -> Head:
        """Answer the end of the chain and keep other writers of this tenant waiting until we commit.

        (SQLite's writing transactions exclude each other anyway.)
        """
        connection = self._session.connection()
        row = connection.execute(_HEAD, {"tenant": self._tenant_id}).first()
        if row is None:
            self._begin_chain()
            row = connection.execute(_HEAD, {"tenant": self._tenant_id}).one()
        return Head(row.sequence, row.hash, row.seal)

    def find_head(self) -> Head | None:
        """Answer the end of the chain as it is written down, or `None` when it never began."""
        row = self._session.get(AuditHeadRow, self._tenant_id)
        return None if row is None else Head(row.sequence, row.hash, row.seal)

    def hash_at(self, sequence: int) -> str | None:
        """Answer the hash of the event in that place, `None` when there is none."""
        row = self._session.get(AuditEventRow, (self._tenant_id, sequence))
        return None if row is None else row.hash

    def append(self, links: Sequence[Link], head: Head) -> None:
        """Add links to the chain and move its end. The caller holds the lock of `lock_head`."""
        connection = self._session.connection()
        connection.execute(_ADD_EVENTS, [_row_of(link, self._tenant_id) for link in links])
        connection.execute(
            _MOVE_HEAD,
            {
                "tenant": self._tenant_id,
                "last": head.sequence,
                "last_hash": head.hash,
                "new_seal": head.seal,
            },
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
        return [link_of(row) for row in rows]

    def links_about(self, kind: str, refs: Collection[str], *, limit: int) -> Sequence[Link]:
        """Answer up to `limit` links about any of some things of one kind, oldest first."""
        if not refs:
            return []
        rows = self._session.exec(
            select(AuditEventRow)
            .where(
                col(AuditEventRow.tenant_id) == self._tenant_id,
                col(AuditEventRow.kind) == kind,
                col(AuditEventRow.ref).in_(sorted(refs)),
            )
            .order_by(col(AuditEventRow.sequence))
            .limit(limit)
        ).all()
        return [link_of(row) for row in rows]

    def links_from(self, sequence: int, *, limit: int) -> Sequence[Link]:
        """Answer up to `limit` links of the chain from a place on, in order."""
        rows = self._session.exec(
            select(AuditEventRow)
            .where(col(AuditEventRow.tenant_id) == self._tenant_id, col(AuditEventRow.sequence) >= sequence)
            .order_by(col(AuditEventRow.sequence))
            .limit(limit)
        ).all()
        return [link_of(row) for row in rows]

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
            yield from map(link_of, rows)
            if len(rows) < _ROWS_PER_FETCH:
                return
            last = rows[-1].sequence

    def _begin_chain(self) -> None:
        first = {"tenant_id": self._tenant_id, "sequence": 0, "hash": GENESIS_HASH, "seal": ""}
        on_postgresql = self._session.get_bind().dialect.name == "postgresql"
        insert_once = postgresql.insert if on_postgresql else sqlite.insert
        # Of two that begin it at once the second waits here, does nothing, and goes on from the first's end.
        self._session.connection().execute(insert_once(AuditHeadRow).values(first).on_conflict_do_nothing())


def _row_of(link: Link, tenant_id: str) -> dict[str, object]:
    event = link.event
    return {
        "tenant_id": tenant_id,
        "sequence": link.sequence,
        "at": event.at,
        "principal": event.principal,
        "credential_id": event.credential_id,
        "request_id": event.request_id,
        "action": event.action,
        "kind": event.kind,
        "ref": event.ref,
        "details": dict(event.details),
        "previous_hash": link.previous_hash,
        "hash": link.hash,
    }


def link_of(row: AuditEventRow) -> Link:
    """Answer a row as the link of the chain that it is."""
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
