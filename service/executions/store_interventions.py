"""The queries of one tenant's interventions."""

from collections.abc import Sequence

from sqlmodel import Session, col, select

from service.executions.interventions import Intervention, InterventionKind
from service.executions.model import Execution
from service.executions.sealed import SealedText
from service.executions.tables import InterventionRow
from service.identity.unit import Unit


class InterventionStore:
    """Reads and adds; visibility is decided by `ExecutionStore`, which hands out what stands here."""

    def __init__(self, session: Session, tenant_id: str, text: SealedText) -> None:
        self._session = session
        self._tenant_id = tenant_id
        self._text = text

    def add(
        self,
        execution: Execution,
        action: InterventionKind,
        *,
        reason: str | None,
        unit: Unit,
        operation_id: str | None = None,
    ) -> Intervention:
        """Keep what the unit's caller does to the run now, and answer it. The reason is sealed."""
        intervention = Intervention(
            id=unit.ids(),
            execution_id=execution.id,
            action=action,
            operation_id=operation_id,
            reason=reason,
            by=unit.caller.principal,
            at=unit.now,
        )
        self._session.add(
            InterventionRow(
                tenant_id=self._tenant_id,
                id=intervention.id,
                execution_id=execution.id,
                action=action,
                operation_id=operation_id,
                reason=self._text.seal(reason, person=execution.person, place=_place(intervention.id)),
                by=intervention.by,
                created_at=intervention.at,
            )
        )
        self._session.flush()
        return intervention

    def newest(self, execution_id: str, *, last: int) -> Sequence[Intervention]:
        """Answer up to `last` newest interventions in the run, in their order."""
        rows = self._session.exec(
            select(InterventionRow)
            .where(
                InterventionRow.tenant_id == self._tenant_id,
                InterventionRow.execution_id == execution_id,
            )
            .order_by(col(InterventionRow.id).desc())
            .limit(last)
        ).all()
        return [self._intervention(row) for row in reversed(rows)]

    def _intervention(self, row: InterventionRow) -> Intervention:
        return Intervention(
            id=row.id,
            execution_id=row.execution_id,
            action=InterventionKind(row.action),
            operation_id=row.operation_id,
            reason=self._text.open(row.reason, place=_place(row.id)),
            by=row.by,
            at=row.created_at,
        )


def _place(intervention_id: str) -> str:
    return f"interventions/{intervention_id}/reason"
