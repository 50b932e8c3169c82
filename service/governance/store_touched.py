"""What a deletion touches beyond what it names: the runs, persons and projects that its items are part of."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import ColumnElement, Select, and_, or_, select, union
from sqlmodel import Session, col

from service.core.lineage import DerivationRow
from service.evidence.tables import EvidenceRow, EvidenceSubjectRow
from service.executions.conversation.tables import SummaryRow
from service.executions.ledger.tables import ObservationRow
from service.executions.tables import ExecutionRow
from service.governance.model import HoldScope
from service.governance.stores.store_rows import Reach
from service.memories.tables import MemoryRow, ProposalRow


class Touched:
    """What was gathered for one target, as conditions on what a hold names."""

    def __init__(self, reach: Reach, session: Session) -> None:
        self._reach = reach
        self._session = session

    def names(self, scope: HoldScope, ref: Any) -> ColumnElement[bool]:  # noqa: ANN401 - a column of any table
        """Hold where `ref`, as holds of the scope write it, names something that is touched."""
        match scope:
            case HoldScope.MEMORY | HoldScope.EVIDENCE:
                return self._is_in(ref, self._reach.items(scope.value))
            case HoldScope.EXECUTION:
                return self._is_in(ref, self._runs())
            case HoldScope.PROJECT:
                return or_(*(self._is_in(ref, query) for query in self._projects()))
            case HoldScope.SUBJECT:
                return or_(
                    ref == self._reach.target.ref,
                    ref.in_(self._persons_of_runs()),
                    *(self._is_in(ref, query) for query in self._subjects()),
                )

    def _is_in(self, ref: Any, query: Any) -> ColumnElement[bool]:  # noqa: ANN401 - any query of one column
        condition: ColumnElement[bool] = ref.in_(query)
        return condition

    def _runs(self) -> Any:  # noqa: ANN401 - a query of ids
        """Answer the runs that are reached, and those of which a summary or an observation is."""
        reach, tenant = self._reach, self._reach.tenant_id
        # A large result rests as evidence: by their lineage both are found from either side.
        kept = select(col(DerivationRow.item_id)).where(
            col(DerivationRow.tenant_id) == tenant,
            col(DerivationRow.kind) == "observation",
            col(DerivationRow.source_kind) == "evidence",
            col(DerivationRow.source_id).in_(reach.items("evidence")),
        )
        observed = or_(
            col(ObservationRow.id).in_(reach.items("observation")), col(ObservationRow.id).in_(kept)
        )
        summed_up = col(SummaryRow.id).in_(reach.items("summary"))
        return union(
            reach.items("execution"),
            select(col(ObservationRow.execution_id)).where(col(ObservationRow.tenant_id) == tenant, observed),
            select(col(SummaryRow.execution_id)).where(col(SummaryRow.tenant_id) == tenant, summed_up),
        )

    def _persons_of_runs(self) -> Sequence[str]:
        persons = self._session.scalars(
            select(col(ExecutionRow.acting_user))
            .where(
                col(ExecutionRow.tenant_id) == self._reach.tenant_id,
                self._is_in(col(ExecutionRow.id), self._runs()),
            )
            .distinct()
        )
        return [self._reach.cipher.keyed_hash(person) for person in persons]

    def _subjects(self) -> Sequence[Select[Any]]:
        return [
            select(col(table.subject_hash)).where(self._gathered(table, name, kind))
            for table, name, kind in (
                (MemoryRow, MemoryRow.id, "memory"),
                (ProposalRow, ProposalRow.id, "proposal"),
                (EvidenceSubjectRow, EvidenceSubjectRow.evidence_id, "evidence"),
            )
        ]

    def _projects(self) -> Sequence[Select[Any]]:
        tables: tuple[tuple[Any, str], ...] = (
            (MemoryRow, "memory"),
            (EvidenceRow, "evidence"),
            (ProposalRow, "proposal"),
        )
        of_runs = select(col(ExecutionRow.project_id)).where(
            col(ExecutionRow.tenant_id) == self._reach.tenant_id,
            self._is_in(col(ExecutionRow.id), self._runs()),
        )
        of_items = [
            select(col(table.project_id)).where(self._gathered(table, table.id, kind))
            for table, kind in tables
        ]
        return [of_runs, *of_items]

    def _gathered(self, table: Any, column: Any, kind: str) -> ColumnElement[bool]:  # noqa: ANN401 - any row class
        return and_(col(table.tenant_id) == self._reach.tenant_id, col(column).in_(self._reach.items(kind)))
