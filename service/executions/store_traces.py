"""Which parts of a tenant's runs stem from which, by the runs' own rows: ids alone, whoever may read them."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final

from sqlalchemy import and_, bindparam, update
from sqlmodel import Session, col, select

from service.core.any_of import is_any_of
from service.executions.conversation.tables import SummaryRow, TurnRow
from service.executions.ledger.tables import ObservationRow
from service.executions.tables import ExecutionRow
from service.identity.unit import Unit

_OF_RUNS: Final = {
    row: select(row.id).where(
        col(row.tenant_id) == bindparam("tenant_id"), is_any_of(col(row.execution_id), "ids")
    )
    for row in (TurnRow, ObservationRow, SummaryRow)
}
_SUMMARIES_OVER: Final = (
    select(SummaryRow.id)
    .join(
        TurnRow,
        and_(
            col(TurnRow.tenant_id) == col(SummaryRow.tenant_id),
            col(TurnRow.execution_id) == col(SummaryRow.execution_id),
            col(TurnRow.sequence).between(col(SummaryRow.from_sequence), col(SummaryRow.to_sequence)),
        ),
    )
    .where(col(TurnRow.tenant_id) == bindparam("tenant_id"), is_any_of(col(TurnRow.id), "ids"))
    .distinct()
)

_PROJECTS_OF_RUNS: Final = select(ExecutionRow.id, ExecutionRow.project_id).where(
    col(ExecutionRow.tenant_id) == bindparam("tenant_id"), is_any_of(col(ExecutionRow.id), "ids")
)


def _projects_of(row: type[TurnRow | ObservationRow | SummaryRow]) -> Any:  # noqa: ANN401 - pairs of ids
    same_run = and_(
        col(ExecutionRow.tenant_id) == col(row.tenant_id), col(ExecutionRow.id) == col(row.execution_id)
    )
    of_tenant = col(row.tenant_id) == bindparam("tenant_id")
    query = select(row.id, ExecutionRow.project_id).join(ExecutionRow, same_run)
    return query.where(of_tenant, is_any_of(col(row.id), "ids"))


_PROJECTS_OF_PARTS: Final = {
    "turn": _projects_of(TurnRow),
    "observation": _projects_of(ObservationRow),
    "summary": _projects_of(SummaryRow),
}


class TraceStore:
    """One tenant's runs as a lineage, inside one transaction. No caller is asked about."""

    def __init__(self, session: Session, tenant_id: str) -> None:
        self._session = session
        self._tenant_id = tenant_id

    @classmethod
    def of(cls, unit: Unit) -> "TraceStore":
        """Answer the store of a unit of work."""
        return cls(unit.session, unit.tenant_id)

    def turns_of(self, execution_ids: Collection[str]) -> Sequence[str]:
        """Answer the turns that were said in these runs."""
        return self._ids(_OF_RUNS[TurnRow], execution_ids)

    def observations_of(self, execution_ids: Collection[str]) -> Sequence[str]:
        """Answer the observations that these runs made."""
        return self._ids(_OF_RUNS[ObservationRow], execution_ids)

    def summaries_of(self, execution_ids: Collection[str]) -> Sequence[str]:
        """Answer the summaries of these runs."""
        return self._ids(_OF_RUNS[SummaryRow], execution_ids)

    def summaries_over(self, turn_ids: Collection[str]) -> Sequence[str]:
        """Answer the summaries whose range holds one of these turns."""
        return self._ids(_SUMMARIES_OVER, turn_ids)

    def projects_of(self, kind: str, ids: Collection[str]) -> Mapping[str, str]:
        """Answer the project of each of these runs, or parts of runs, that are there.

        `kind` is `execution`, `turn`, `observation` or `summary`.
        """
        if not ids:
            return {}
        query: Any = _PROJECTS_OF_RUNS if kind == "execution" else _PROJECTS_OF_PARTS[kind]
        known = {"tenant_id": self._tenant_id, "ids": sorted(ids)}
        return dict(self._session.exec(query, params=known).all())

    def mark_summaries(self, ids: Collection[str], quarantine_id: str | None) -> None:
        """Say which quarantine holds the summaries; `None`: none does."""
        self._session.exec(
            update(SummaryRow)
            .where(col(SummaryRow.tenant_id) == self._tenant_id, col(SummaryRow.id).in_(ids))
            .values(quarantine_id=quarantine_id)
        )

    def lock_run(self, execution_id: str) -> None:
        """Let no verb write to the run until this transaction ends; what only refers to it may be kept."""
        self._session.exec(
            select(ExecutionRow.id)
            .where(ExecutionRow.tenant_id == self._tenant_id, ExecutionRow.id == execution_id)
            .with_for_update(key_share=True)
        ).first()

    def _ids(self, query: Any, ids: Collection[str]) -> Sequence[str]:  # noqa: ANN401 - either query above
        known = {"tenant_id": self._tenant_id, "ids": sorted(ids)}
        return sorted(self._session.exec(query, params=known).all()) if ids else []
