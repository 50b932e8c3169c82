"""What has been kept for as long as it may be: runs whose time is over, and rows that go by their age."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import ColumnElement, CursorResult, Select, and_, delete, false, or_, select, tuple_, update
from sqlmodel import SQLModel, col

from service.context.tables import PackageRow
from service.core.idempotency import IdempotencyRow
from service.executions.model import STATE_SCHEMA_VERSION
from service.executions.rules import ENDED
from service.executions.tables import ExecutionRow
from service.governance.model import HoldScope, State
from service.governance.retention import DENIED_DAYS, RECEIPT_DAYS
from service.governance.tables import ErasureRow, HoldRow
from service.identity.unit import Unit
from service.memories.tables import ProposalRow
from service.policies.verdict import Outcome


class RetentionStore:
    """One tenant's rows by their age, inside one transaction."""

    def __init__(self, unit: Unit) -> None:
        self._unit = unit

    def runs_over(self, cutoffs: Mapping[str, datetime], *, after: str, limit: int) -> Sequence[str]:
        """Answer ids of up to `limit` ended runs whose content is still there and should not be, ascending.

        `cutoffs` is, by retention class, the time before which a run must have ended; of a class that is
        not among them nothing goes. A run of a newer release is left to a process of that release.
        """
        query = self._over(cutoffs).where(col(ExecutionRow.id) > after)
        return list(self._run(query.order_by(col(ExecutionRow.id)).limit(limit)).scalars())

    def is_over(self, execution_id: str, cutoffs: Mapping[str, datetime]) -> bool:
        """Say whether `runs_over` would answer this run."""
        query = self._over(cutoffs).where(col(ExecutionRow.id) == execution_id)
        return self._run(query).first() is not None

    def empty_packages(self, before: datetime, *, after: str, limit: int) -> tuple[int, str | None]:
        """Empty the requests of packages without a run, made before then, but for those under a hold.

        Looks at up to `limit`; answers how many it emptied, and after which id to go on, `None` at the end.
        """
        rows = self._run(
            select(col(PackageRow.id), col(PackageRow.project_id), col(PackageRow.acting_user))
            .where(
                col(PackageRow.tenant_id) == self._unit.tenant_id,
                col(PackageRow.id) > after,
                col(PackageRow.execution_id).is_(None),
                col(PackageRow.created_at) <= before,
                col(PackageRow.request) != b"",
            )
            .order_by(col(PackageRow.id))
            .limit(limit)
        ).all()
        held = self._held()
        free = [row.id for row in rows if not held & self._scopes_of(row.project_id, row.acting_user)]
        emptied = self._run(
            update(PackageRow)
            .where(col(PackageRow.tenant_id) == self._unit.tenant_id, col(PackageRow.id).in_(free))
            .values(request=b"")
        ).rowcount
        return emptied, rows[-1].id if len(rows) == limit else None

    def drop_answers(self, now: datetime, *, limit: int) -> int:
        """Remove up to `limit` kept answers whose day is over; answer how many."""
        return self._drop(IdempotencyRow, col(IdempotencyRow.expires_at) <= now, limit)

    def drop_denied(self, now: datetime, *, limit: int) -> int:
        """Remove up to `limit` denied proposals that are old enough: class, codes and hash, no words."""
        before = now - timedelta(days=DENIED_DAYS)
        denied = and_(
            col(ProposalRow.outcome) == Outcome.DENIED,
            or_(
                col(ProposalRow.decided_at) <= before,
                col(ProposalRow.decided_at).is_(None) & (col(ProposalRow.created_at) <= before),
            ),
        )
        return self._drop(ProposalRow, denied, limit)

    def drop_receipts(self, now: datetime, *, limit: int) -> int:
        """Remove up to `limit` receipts of old erasures and holds that were released long ago."""
        before = now - timedelta(days=RECEIPT_DAYS)
        done = and_(col(ErasureRow.status) == State.COMPLETED, col(ErasureRow.completed_at) <= before)
        dropped = self._drop(ErasureRow, done, limit)
        return dropped + self._drop(HoldRow, col(HoldRow.released_at) <= before, limit)

    def _over(self, cutoffs: Mapping[str, datetime]) -> Select[str]:
        named = [
            and_(col(ExecutionRow.retention_class) == name, col(ExecutionRow.updated_at) <= cutoff)
            for name, cutoff in cutoffs.items()
        ]
        return select(col(ExecutionRow.id)).where(
            col(ExecutionRow.tenant_id) == self._unit.tenant_id,
            col(ExecutionRow.content_erased_at).is_(None),
            col(ExecutionRow.status).in_(sorted(ENDED)),
            col(ExecutionRow.schema_version) <= STATE_SCHEMA_VERSION,
            or_(false(), *named),
        )

    def _held(self) -> frozenset[tuple[str, str]]:
        """Answer scope and ref of the holds that stand over all of a person or a project."""
        rows = self._run(
            select(col(HoldRow.scope), col(HoldRow.ref)).where(
                col(HoldRow.tenant_id) == self._unit.tenant_id,
                col(HoldRow.released_at).is_(None),
                or_(col(HoldRow.until).is_(None), col(HoldRow.until) > self._unit.now),
                col(HoldRow.scope).in_([HoldScope.PROJECT, HoldScope.SUBJECT]),
            )
        ).all()
        return frozenset((row.scope, row.ref) for row in rows)

    def _scopes_of(self, project_id: str, acting_user: str) -> frozenset[tuple[str, str]]:
        person = self._unit.cipher.keyed_hash(acting_user)
        return frozenset({(HoldScope.PROJECT.value, project_id), (HoldScope.SUBJECT.value, person)})

    def _drop(self, row: type[SQLModel], over: ColumnElement[bool], limit: int) -> int:
        table = row.__table__  # type: ignore[attr-defined]  # SQLModel adds it to table models
        key = tuple_(*table.primary_key.columns)
        found: Select[Any] = (
            select(*table.primary_key.columns)
            .where(table.c.tenant_id == self._unit.tenant_id, over)
            .order_by(*table.primary_key.columns)
            .limit(limit)
        )
        return int(self._run(delete(table).where(key.in_(found))).rowcount)

    def _run(self, statement: Any) -> CursorResult[*tuple[Any, ...]]:  # noqa: ANN401 - any statement
        self._unit.session.flush()
        return self._unit.session.connection().execute(statement)
