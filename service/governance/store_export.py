"""Ids of what is a person's own, in order: runs that acted for them, evidence about them, their erasures."""

from collections.abc import Iterator
from typing import Any, Final

from sqlalchemy import or_, select
from sqlmodel import col

from service.evidence.tables import EvidenceSubjectRow
from service.executions.conversation.tables import SummaryRow
from service.executions.tables import ExecutionRow
from service.governance.erase import requester_of
from service.governance.tables import ErasureRow
from service.identity.unit import Unit

_IDS_AT_ONCE: Final = 500


class OwnStore:
    """One person's own, inside one transaction."""

    def __init__(self, person: str, unit: Unit) -> None:
        self._person = person
        self._unit = unit

    def execution_ids(self) -> Iterator[str]:
        """Answer the runs that act or acted for the person."""
        row = ExecutionRow
        mine = or_(col(row.acting_user) == self._person, col(row.person) == self._person)
        return self._ids(row.id, col(row.tenant_id) == self._unit.tenant_id, mine)

    def summary_ids(self, execution_id: str) -> Iterator[str]:
        """Answer the summaries of a run, superseded ones too."""
        row = SummaryRow
        mine = col(row.execution_id) == execution_id
        return self._ids(row.id, col(row.tenant_id) == self._unit.tenant_id, mine)

    def evidence_ids(self) -> Iterator[str]:
        """Answer the evidence that is about the person, in whatever version."""
        row = EvidenceSubjectRow
        mine = col(row.subject_hash) == self._unit.cipher.keyed_hash(self._person)
        return self._ids(row.evidence_id, col(row.tenant_id) == self._unit.tenant_id, mine)

    def erasure_ids(self) -> Iterator[str]:
        """Answer the erasures that the person asked for."""
        row = ErasureRow
        mine = col(row.requester) == requester_of(self._unit)
        return self._ids(row.id, col(row.tenant_id) == self._unit.tenant_id, mine)

    def _ids(self, column: Any, *conditions: Any) -> Iterator[str]:  # noqa: ANN401 - an id of any row, and its conditions
        last = ""
        while True:
            query = (
                select(col(column)).where(*conditions, col(column) > last).distinct().order_by(col(column))
            )
            found = list(self._unit.session.connection().execute(query.limit(_IDS_AT_ONCE)).scalars())
            yield from found
            if len(found) < _IDS_AT_ONCE:
                return
            last = found[-1]
