"""Rights that ended after a backup was made, ended again in the record that was put back.

The ledger keeps keyed hashes: it cannot be read, only asked. So whatever may have ended is asked for: each
key, membership, consent and memory of the record, each source, and each of its persons with each class.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import islice
from typing import Any, Final

from sqlalchemy import Select, delete, select, update
from sqlalchemy.dialects import postgresql, sqlite
from sqlmodel import col

from service.core.lineage import Node
from service.core.tombstones import Right, right_ref
from service.evidence.tables import EvidenceRow
from service.executions.conversation.tables import SummaryRow, TurnRow
from service.executions.ledger.tables import ObservationRow
from service.executions.tables import ExecutionRow
from service.governance.quarantine import quarantine
from service.identity.tables import ApiKeyRow, MemberRow
from service.identity.unit import Unit
from service.memories.model import MemoryStatus
from service.memories.store_refusals import ANY_CLASS
from service.memories.tables import ConsentActRow, ConsentRow, MemoryRow, RefusalRow

_ASKED_AT_ONCE: Final = 1_000
_NOTE: Final = "restored"
"""What stands where a consent's text version stands, and as the reason of a quarantine."""
_SOURCES: Final[Mapping[str, Any]] = {
    "evidence": EvidenceRow.id,
    "observation": ObservationRow.id,
    "turn": TurnRow.id,
    "memory": MemoryRow.id,
    "summary": SummaryRow.id,
    "execution": ExecutionRow.id,
}

Query = Select[*tuple[Any, ...]]


class RightsStore:
    """One tenant's rights in a record that shows the moment `at`, inside one transaction."""

    def __init__(self, unit: Unit, *, at: datetime, classes: Collection[str]) -> None:
        self._unit = unit
        self._at = at
        self._classes = classes

    def end_again(self) -> int:
        """End every right that the ledger says has ended since; answer how many those were."""
        steps: Sequence[Callable[[], int]] = (
            self._end_keys,
            self._end_memberships,
            self._withdraw_consents,
            self._refuse,
            self._pause,
            self._quarantine,
        )
        return sum(step() for step in steps)

    def _end_keys(self) -> int:
        ended = list(self._ended(Right.KEY, self._ids(ApiKeyRow, ApiKeyRow.id)))
        for key_id in ended:
            self._run(
                update(ApiKeyRow)
                .where(
                    *self._mine(ApiKeyRow), col(ApiKeyRow.id) == key_id, col(ApiKeyRow.revoked_at).is_(None)
                )
                .values(revoked_at=self._unit.now)
            )
        return len(ended)

    def _end_memberships(self) -> int:
        query = select(col(MemberRow.project_id), col(MemberRow.subject)).where(*self._mine(MemberRow))
        ended = list(self._ended(Right.MEMBER, (right_ref(*row) for row in self._run(query))))
        for ref in ended:
            project_id, _, subject = ref.partition("/")
            self._run(
                delete(MemberRow).where(
                    *self._mine(MemberRow),
                    col(MemberRow.project_id) == project_id,
                    col(MemberRow.subject) == subject,
                )
            )
        return len(ended)

    def _withdraw_consents(self) -> int:
        query = select(col(ConsentRow.subject_hash), col(ConsentRow.purpose)).where(
            *self._mine(ConsentRow), col(ConsentRow.granted).is_(True)
        )
        ended = list(self._ended(Right.CONSENT, (right_ref(*row) for row in self._run(query))))
        for ref in ended:
            subject_hash, _, purpose = ref.partition("/")
            row = self._unit.session.get_one(ConsentRow, (self._unit.tenant_id, subject_hash, purpose))
            row.granted, row.revision = False, row.revision + 1
            self._unit.session.add(row)
            self._unit.session.add(
                ConsentActRow(
                    tenant_id=self._unit.tenant_id,
                    subject_hash=subject_hash,
                    purpose=purpose,
                    revision=row.revision,
                    granted=False,
                    text_version=_NOTE,
                    at=self._unit.now,
                    by=self._unit.caller.principal,
                )
            )
        return len(ended)

    def _refuse(self) -> int:
        classes = {
            *self._classes,
            ANY_CLASS,
            *self._run(self._ids(MemoryRow, MemoryRow.class_name)).scalars(),
        }
        asked = (right_ref(person, name) for person in self._persons() for name in sorted(classes))
        ended = list(self._ended(Right.SILENCE, asked))
        rows = [
            {
                "tenant_id": self._unit.tenant_id,
                "subject_hash": ref.partition("/")[0],
                "class_name": ref.partition("/")[2],
                "created_at": self._unit.now,
            }
            for ref in ended
        ]
        if rows:
            on_sqlite = self._unit.session.get_bind().dialect.name == "sqlite"
            insert_once = sqlite.insert if on_sqlite else postgresql.insert
            connection = self._unit.session.connection()
            connection.execute(insert_once(RefusalRow).on_conflict_do_nothing(), rows)
        return len(ended)

    def _pause(self) -> int:
        active = self._ids(MemoryRow, MemoryRow.id).where(col(MemoryRow.status) == MemoryStatus.ACTIVE)
        ended = list(self._ended(Right.USE, active))
        for memory_id in ended:
            self._run(
                update(MemoryRow)
                .where(*self._mine(MemoryRow), col(MemoryRow.id) == memory_id)
                .values(status=MemoryStatus.PAUSED)
            )
        return len(ended)

    def _quarantine(self) -> int:
        begun = 0
        for kind, column in _SOURCES.items():
            found = self._run(self._ids(column.class_, column)).scalars()
            for ref in list(self._ended(Right.TRUST, (str(Node(kind, item_id)) for item_id in found))):
                source = Node.parse(ref)
                assert source is not None
                begun += quarantine(source, _NOTE, unit=self._unit)[1]
        return begun

    def _persons(self) -> Sequence[str]:
        """Answer the keyed hashes of all persons whom the record knows."""
        names: set[str] = set()
        named: Sequence[tuple[Any, Any]] = (
            (MemberRow, MemberRow.subject),
            (ApiKeyRow, ApiKeyRow.subject),
            (ApiKeyRow, ApiKeyRow.on_behalf_of),
        )
        for table, column in named:
            names |= {name for name in self._run(self._ids(table, column)).scalars() if name is not None}
        hashes = {self._unit.cipher.keyed_hash(name) for name in names}
        hashed: Sequence[tuple[Any, Any]] = (
            (MemoryRow, MemoryRow.subject_hash),
            (ConsentRow, ConsentRow.subject_hash),
            (RefusalRow, RefusalRow.subject_hash),
        )
        for table, column in hashed:
            hashes |= {found for found in self._run(self._ids(table, column)).scalars() if found is not None}
        return sorted(hashes)

    def _ended(self, right: Right, refs: Query | Iterator[str]) -> Iterator[str]:
        """Answer those that ended since the moment that the record shows."""
        asked = iter(self._run(refs).scalars()) if isinstance(refs, Select) else refs
        while some := list(islice(asked, _ASKED_AT_ONCE)):
            found = self._unit.ledger.buried(self._unit.tenant_id, right.value, some)
            yield from sorted(ref for ref, when in found.items() if when >= self._at)

    def _ids(self, table: Any, column: Any) -> Query:  # noqa: ANN401 - a column of any of the row classes
        return select(col(column)).where(*self._mine(table)).distinct().order_by(col(column))

    def _mine(self, table: Any) -> tuple[Any, ...]:  # noqa: ANN401 - any of the row classes
        return (col(table.tenant_id) == self._unit.tenant_id,)

    def _run(self, statement: Any) -> Any:  # noqa: ANN401 - any statement and its result
        self._unit.session.flush()
        return self._unit.session.connection().execute(statement)
