"""What a record that was put back holds although it was erased: by the ledger, and by keys that are gone."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from itertools import islice
from typing import Any, Final

from sqlalchemy import select
from sqlmodel import col

from service.context.tables import PackageRow
from service.core.lineage import Node
from service.evidence.tables import EvidenceChunkRow, EvidenceRow, EvidenceVersionRow
from service.executions.conversation.tables import SummaryRow
from service.executions.ledger.tables import ObservationRow
from service.executions.tables import ExecutionRow
from service.governance.stores.store_people import ACCESS, DEEDS
from service.identity.unit import Unit
from service.memories.tables import MemoryRow, MemoryVersionRow, ProposalRow

_ROWS_AT_ONCE: Final = 1_000
_FOR: Final = ":for:"

_NAMED: Final = (
    ("memory", MemoryRow.id),
    ("evidence", EvidenceRow.id),
    ("execution", ExecutionRow.id),
    ("summary", SummaryRow.id),
    ("observation", ObservationRow.id),
    ("package", PackageRow.id),
    ("proposal", ProposalRow.id),
)
"""Things that the ledger knows by their ids."""

_SEALED: Final = (
    ("memory", MemoryVersionRow.memory_id, MemoryVersionRow.content),
    ("evidence", EvidenceVersionRow.evidence_id, EvidenceVersionRow.header),
    ("evidence", EvidenceChunkRow.evidence_id, EvidenceChunkRow.text),
    ("summary", SummaryRow.id, SummaryRow.text),
    ("package", PackageRow.id, PackageRow.request),
    ("proposal", ProposalRow.id, ProposalRow.content),
)
"""Texts that make a thing what it is: one that nobody can open any more is gone, and so is the thing."""


class BuriedStore:
    """Looks through one tenant's record for what must not be there, inside one transaction."""

    def __init__(self, unit: Unit) -> None:
        self._unit = unit

    def items(self) -> Iterator[Node]:
        """Answer everything that was erased, some of it twice."""
        for kind, column in _NAMED:
            for ids in self._pages(column):
                found = self._unit.ledger.buried(self._unit.tenant_id, kind, ids)
                yield from (Node(kind, item_id) for item_id in sorted(found))
        for kind, name, sealed in _SEALED:
            yield from self._unreadable(kind, name, sealed)

    def subjects(self, *, since: datetime) -> Iterator[tuple[str, bool]]:
        """Answer the persons who were erased since that moment, and whether their account was closed.

        Who was erased before may have come back: what the record holds of them is theirs again.
        """
        names = iter(sorted(self._names()))
        while some := list(islice(names, _ROWS_AT_ONCE)):
            by_hash = {self._unit.cipher.keyed_hash(name): name for name in some}
            tenant, ledger = self._unit.tenant_id, self._unit.ledger
            accounts = ledger.buried(tenant, "account", by_hash)
            for subject_hash, at in sorted(ledger.buried(tenant, "subject", by_hash).items()):
                if at >= since:
                    closed_at = accounts.get(subject_hash)
                    yield by_hash[subject_hash], closed_at is not None and closed_at >= since

    def _names(self) -> set[str]:
        """Answer every name that stands anywhere in the record: persons', and some that are nobody's."""
        found: set[str] = set()
        for column in (*DEEDS, *ACCESS):
            values = self._run(
                select(col(getattr(column.table, column.name)))
                .where(col(column.table.tenant_id) == self._unit.tenant_id)  # type: ignore[attr-defined]  # all have it
                .distinct()
            )
            for value in values.scalars():
                found |= _names_in(value) if value else set()
        return found

    def _unreadable(self, kind: str, name: Any, sealed: Any) -> Iterator[Node]:  # noqa: ANN401 - columns of any row
        rows = self._run(
            select(col(name), col(sealed))
            .where(col(name.class_.tenant_id) == self._unit.tenant_id, col(sealed).is_not(None))
            .order_by(col(name)),
            yield_per=_ROWS_AT_ONCE,
        )
        for item_id, content in rows:
            if content and not self._unit.cipher.can_open(content):
                yield Node(kind, item_id)

    def _pages(self, column: Any) -> Iterator[Sequence[str]]:  # noqa: ANN401 - an id of any row
        last = ""
        while True:
            ids = list(
                self._run(
                    select(col(column))
                    .where(col(column.class_.tenant_id) == self._unit.tenant_id, col(column) > last)
                    .order_by(col(column))
                    .limit(_ROWS_AT_ONCE)
                ).scalars()
            )
            if not ids:
                return
            yield ids
            last = ids[-1]

    def _run(self, statement: Any, **options: Any) -> Any:  # noqa: ANN401 - any query and its result
        return self._unit.session.connection().execute(statement, execution_options=options)


def _names_in(value: str) -> set[str]:
    """Answer the names in a subject, a principal (`agent:a:for:user-1`) or a reader label (`user:user-1`)."""
    head, _, person = value.partition(_FOR)
    return {value, person, head.partition(":")[2]} - {""}
