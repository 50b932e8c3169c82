"""What a simulation reads: columns of one tenant, in chunks by their keys, so that memory is bounded."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import islice
from typing import Any, Final

from sqlalchemy import ColumnElement, Row, and_, func, select
from sqlmodel import SQLModel, col

from service.authoring.fates import KeptMemory
from service.context.tables import PackageRow
from service.executions.approvals.tables import ApprovalRow
from service.executions.rules import ENDED
from service.executions.tables import ExecutionRow
from service.identity.unit import Unit
from service.memories.store_rights import is_held
from service.memories.store_versions import RUNS_OUT
from service.memories.tables import MemoryRow, ProposalRow

ROWS_AT_ONCE: Final = 1_000
PACKAGES_AT_ONCE: Final = 100
"""A manifest may be long."""

# In the order of `KeptMemory`, whether one is held at the end.
_MEMORY: Final[Sequence[Any]] = (
    MemoryRow.id, MemoryRow.class_name, MemoryRow.project_id, MemoryRow.subject_hash, MemoryRow.purpose,
    MemoryRow.created_at, MemoryRow.confirmed_at, MemoryRow.last_used_at, MemoryRow.expires_at,
)  # fmt: skip
_PROPOSAL: Final[Sequence[Any]] = (
    ProposalRow.id, ProposalRow.class_name, ProposalRow.project_id, ProposalRow.subject_hash,
    ProposalRow.facts, ProposalRow.policy_version, ProposalRow.created_at,
)  # fmt: skip
_PACKAGE: Final[Sequence[Any]] = (
    PackageRow.id, PackageRow.project_id, PackageRow.purpose, PackageRow.manifest, PackageRow.created_at,
)  # fmt: skip


class SimulationStore:
    """Reads one tenant's rows, inside one transaction. No caller is asked about, and no word is read."""

    def __init__(self, unit: Unit) -> None:
        self._unit = unit

    def count(self, since: datetime) -> int:
        """Answer how many rows a simulation looks at, for its progress."""
        counted = (
            (MemoryRow, self._lives()),
            (ProposalRow, col(ProposalRow.created_at) >= since),
            (PackageRow, col(PackageRow.created_at) >= since),
        )
        return sum(self._count(row, condition) for row, condition in counted)

    def memories(self) -> Iterator[KeptMemory]:
        """Answer every memory that lives."""
        for row in self._rows(MemoryRow, self._memory_columns(), self._lives()):
            yield KeptMemory._make(row)

    def memories_of(self, ids: Collection[str]) -> Mapping[str, KeptMemory]:
        """Answer those of the memories that live, by id."""
        living: dict[str, KeptMemory] = {}
        waiting = iter(ids)
        while some := list(islice(waiting, ROWS_AT_ONCE)):
            query = select(*self._memory_columns()).where(
                self._own(MemoryRow), self._lives(), col(MemoryRow.id).in_(some)
            )
            living |= {row.id: KeptMemory._make(row) for row in self._run(query)}
        return living

    def proposals(self, since: datetime, before: datetime | None = None) -> Iterator[Row[Any]]:
        """Answer proposals that were made since then, and before that moment where one is given."""
        return self._rows(ProposalRow, _PROPOSAL, _within(ProposalRow, since, before))

    def packages(self, since: datetime, before: datetime | None = None) -> Iterator[Sequence[Row[Any]]]:
        """Answer packages that were built in that time, some at a time."""
        return self._chunks(PackageRow, _PACKAGE, _within(PackageRow, since, before), PACKAGES_AT_ONCE)

    def stale_approvals(self, version: str) -> int:
        """Count approvals that wait and were asked for under another version."""
        waits = and_(col(ApprovalRow.status) == "pending", col(ApprovalRow.policy_version) != version)
        return self._count(ApprovalRow, waits)

    def ended_runs(self) -> Mapping[str, int]:
        """Count ended runs whose content is still there, by their retention class."""
        name = col(ExecutionRow.retention_class)
        query: Any = (
            select(name, func.count())
            .where(
                self._own(ExecutionRow),
                col(ExecutionRow.content_erased_at).is_(None),
                col(ExecutionRow.status).in_(sorted(ENDED)),
            )
            .group_by(name)
        )
        return dict(tuple(row) for row in self._run(query))

    def _memory_columns(self) -> Sequence[Any]:
        return (*_MEMORY, is_held(self._unit.tenant_id, self._unit.now).label("held"))

    def _lives(self) -> ColumnElement[bool]:
        running = col(MemoryRow.status).in_(sorted(RUNS_OUT))
        return and_(running, col(MemoryRow.expires_at) > self._unit.now)

    def _own(self, table: Any) -> ColumnElement[bool]:  # noqa: ANN401 - any row class
        return col(table.tenant_id) == self._unit.tenant_id

    def _count(self, table: type[SQLModel], condition: ColumnElement[bool]) -> int:
        query = select(func.count()).select_from(table).where(self._own(table), condition)
        return int(self._unit.session.connection().execute(query).scalar_one())

    def _rows(
        self,
        table: Any,  # noqa: ANN401 - any row class
        columns: Sequence[Any],
        condition: ColumnElement[bool],
    ) -> Iterator[Row[Any]]:
        for found in self._chunks(table, columns, condition, ROWS_AT_ONCE):
            yield from found

    def _chunks(
        self,
        table: Any,  # noqa: ANN401 - any row class
        columns: Sequence[Any],
        condition: ColumnElement[bool],
        limit: int,
    ) -> Iterator[Sequence[Row[Any]]]:
        last = ""
        while True:
            query = select(*columns).where(self._own(table), condition, col(table.id) > last)
            found = self._run(query.order_by(col(table.id)).limit(limit))
            yield found
            if len(found) < limit:
                return
            last = found[-1].id

    def _run(self, query: Any) -> Sequence[Row[Any]]:  # noqa: ANN401 - a query of any columns
        return self._unit.session.connection().execute(query).all()


def _within(table: Any, since: datetime, before: datetime | None) -> ColumnElement[bool]:  # noqa: ANN401 - a row class
    made = col(table.created_at)
    return made >= since if before is None else and_(made >= since, made < before)
