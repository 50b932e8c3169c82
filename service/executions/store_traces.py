"""Which parts of a tenant's runs stem from which, by the runs' own rows: ids alone, whoever may read them."""

from collections.abc import Collection, Sequence
from typing import Any, Final

from sqlalchemy import and_, bindparam
from sqlmodel import Session, col, select

from service.core.any_of import is_any_of
from service.executions.conversation.tables import SummaryRow, TurnRow
from service.executions.ledger.tables import ObservationRow
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

    def _ids(self, query: Any, ids: Collection[str]) -> Sequence[str]:  # noqa: ANN401 - either query above
        known = {"tenant_id": self._tenant_id, "ids": sorted(ids)}
        return sorted(self._session.exec(query, params=known).all()) if ids else []
