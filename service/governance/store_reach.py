"""What an erasure reaches: its target, and for some kinds all that was made from it, as rows of ids.

Gathered anew at each step, so that what arrives while the job runs is caught. The ids outlive the rows they
name: by them the index, the ledger and the kept answers are found, and the record is asked again at the end.
"""

from collections.abc import Callable, Sequence
from typing import Any, Final

from sqlalchemy import CursorResult, Select, and_, delete, func, insert, literal, or_, select, update
from sqlalchemy.dialects import postgresql, sqlite
from sqlmodel import col

from service.context.tables import PackageRow
from service.core.cipher import TextErased
from service.core.lineage import DerivationRow, Node
from service.evidence.tables import EvidenceLineageRow, EvidenceSubjectRow
from service.executions.conversation.tables import SummaryRow, TurnRow
from service.executions.ledger.tables import ObservationRow
from service.executions.tables import ExecutionRow
from service.governance.model import CLOSED_OVER, Kind, Target
from service.governance.stores.store_rows import Reach, reach_of
from service.governance.tables import ErasureItemRow
from service.identity.unit import Unit
from service.memories.sealing import open_content
from service.memories.tables import MemoryRow, ProposalRow
from service.policies.verdict import Outcome

DEPTH_MAX: Final = 100
"""Longest chain of things made from each other that is followed."""
_PROPOSALS_AT_ONCE: Final = 500

Query = Select[*tuple[Any, ...]]


class ReachStore:
    """Gathers what one target reaches, inside one transaction."""

    def __init__(self, target: Target, unit: Unit) -> None:
        self._target = target
        self._unit = unit
        self._reach: Reach = reach_of(target, unit)

    def gather(self) -> int:
        """Add what is reached now and was not before; answer how many those are."""
        seeds: dict[Kind, Callable[[], Sequence[Query]]] = {
            Kind.MEMORY: lambda: [_fixed("memory", self._target.ref)],
            Kind.EVIDENCE: lambda: [_fixed("evidence", self._target.ref)],
            Kind.SOURCE: lambda: [_fixed("evidence", self._target.ref)],
            Kind.EXECUTION: lambda: [_fixed("execution", self._target.ref)],
            Kind.SUBJECT: self._about_subject,
            # What a copy brought back is told by the ledger, and added before.
            Kind.RESTORE: list,
            Kind.RETENTION: self._own_of_run,
        }
        found = sum(self._add(query) for query in seeds[self._target.kind]())
        if self._target.kind in CLOSED_OVER:
            found += self._follow()
            found += self._add_waiting_proposals()
        return found + sum(self._add(query) for query in self._beside())

    def add_buried(self, nodes: Sequence[Node]) -> None:
        """Add what the ledger holds already."""
        rows = [
            {
                "tenant_id": self._unit.tenant_id,
                "erasure_id": self._target.erasure_id,
                "kind": node.kind,
                "item_id": node.id,
                "buried": True,
            }
            for node in nodes
        ]
        if rows:
            self._unit.session.flush()
            self._unit.session.connection().execute(insert(ErasureItemRow), rows)

    def ids(self, *kinds: str) -> Sequence[str]:
        """Answer the ids that were gathered of these kinds, in order."""
        query = self._reach.items(*kinds).order_by(col(ErasureItemRow.item_id))
        return list(self._run(query).scalars())

    def unburied(self, limit: int) -> Sequence[Node]:
        """Answer up to `limit` of what the ledger of the gone does not hold yet."""
        query = (
            select(col(ErasureItemRow.kind), col(ErasureItemRow.item_id))
            .where(*self._mine(), col(ErasureItemRow.buried).is_(False))
            .limit(limit)
        )
        return [Node(kind, item_id) for kind, item_id in self._run(query)]

    def mark_buried(self, nodes: Sequence[Node]) -> None:
        """Say that the ledger holds these."""
        for kind in {node.kind for node in nodes}:
            ids = [node.id for node in nodes if node.kind == kind]
            of_kind = (col(ErasureItemRow.kind) == kind, col(ErasureItemRow.item_id).in_(ids))
            self._run(update(ErasureItemRow).where(*self._mine(), *of_kind).values(buried=True))

    def count(self) -> int:
        """Count what was gathered."""
        return int(
            self._run(select(func.count()).select_from(ErasureItemRow).where(*self._mine())).scalar_one()
        )

    def clear(self) -> None:
        """Drop what was gathered: the erasure is complete, and nothing is to lead to what it took."""
        self._run(delete(ErasureItemRow).where(*self._mine()))

    def _own_of_run(self) -> Sequence[Query]:
        # What a run observed and was too large for it is its own; the query finds the run added before.
        return [_fixed("execution", self._target.ref), self._kept_of_observations()]

    def _about_subject(self) -> Sequence[Query]:
        tenant, subject, subject_hash = self._unit.tenant_id, self._reach.subject, self._target.ref
        return [
            _of(MemoryRow, "memory", MemoryRow.id, tenant).where(col(MemoryRow.subject_hash) == subject_hash),
            _of(EvidenceSubjectRow, "evidence", EvidenceSubjectRow.evidence_id, tenant).where(
                col(EvidenceSubjectRow.subject_hash) == subject_hash
            ),
            _of(ExecutionRow, "execution", ExecutionRow.id, tenant).where(
                or_(col(ExecutionRow.acting_user) == subject, col(ExecutionRow.person) == subject)
            ),
            _of(PackageRow, "package", PackageRow.id, tenant).where(col(PackageRow.acting_user) == subject),
            _of(ProposalRow, "proposal", ProposalRow.id, tenant).where(
                col(ProposalRow.subject_hash) == subject_hash
            ),
        ]

    def _beside(self) -> Sequence[Query]:
        """Answer what hangs on what was gathered: packages of runs, proposals that memories came from."""
        tenant = self._unit.tenant_id
        return [
            _of(PackageRow, "package", PackageRow.id, tenant).where(
                col(PackageRow.execution_id).in_(self._reach.items("execution"))
            ),
            _of(ProposalRow, "proposal", ProposalRow.id, tenant).where(
                col(ProposalRow.memory_id).in_(self._reach.items("memory"))
            ),
        ]

    def _follow(self) -> int:
        """Add what was made from what was gathered, step after step."""
        found = sum(self._add(query) for query in self._parts_of_runs())
        for _ in range(DEPTH_MAX):
            fresh = sum(self._add(query) for query in self._made_from_items())
            if not fresh:
                return found
            found += fresh
        return found

    def _parts_of_runs(self) -> Sequence[Query]:
        """Answer what was made from the turns, observations and summaries of the runs, and what they kept."""
        tenant, runs = self._unit.tenant_id, self._reach.items("execution")
        queries: list[Query] = []
        for kind, table in (("turn", TurnRow), ("observation", ObservationRow), ("summary", SummaryRow)):
            parts = select(col(table.id)).where(
                col(table.tenant_id) == tenant, col(table.execution_id).in_(runs)
            )
            queries += [
                _derived(tenant).where(
                    col(DerivationRow.source_kind) == kind, col(DerivationRow.source_id).in_(parts)
                ),
                _of(EvidenceLineageRow, "evidence", EvidenceLineageRow.evidence_id, tenant).where(
                    col(EvidenceLineageRow.ref_kind) == kind, col(EvidenceLineageRow.ref_id).in_(parts)
                ),
            ]
        return [*queries, self._kept_of_observations()]

    def _kept_of_observations(self) -> Query:
        """Answer the evidence that holds what the runs observed, where no other run observed it too."""
        tenant, runs = self._unit.tenant_id, self._reach.items("execution")
        others = select(col(ObservationRow.evidence_id)).where(
            col(ObservationRow.tenant_id) == tenant,
            col(ObservationRow.evidence_id).is_not(None),
            col(ObservationRow.execution_id).not_in(runs),
        )
        return _of(ObservationRow, "evidence", ObservationRow.evidence_id, tenant).where(
            col(ObservationRow.execution_id).in_(runs),
            col(ObservationRow.evidence_id).is_not(None),
            col(ObservationRow.evidence_id).not_in(others),
        )

    def _made_from_items(self) -> Sequence[Query]:
        tenant, item = self._unit.tenant_id, ErasureItemRow
        made = (
            _derived(tenant)
            .join(
                item,
                and_(
                    col(item.kind) == col(DerivationRow.source_kind),
                    col(item.item_id) == col(DerivationRow.source_id),
                ),
            )
            .where(*self._mine())
        )
        cited = (
            _of(EvidenceLineageRow, "evidence", EvidenceLineageRow.evidence_id, tenant)
            .join(
                item,
                and_(
                    col(item.kind) == col(EvidenceLineageRow.ref_kind),
                    col(item.item_id) == col(EvidenceLineageRow.ref_id),
                ),
            )
            .where(*self._mine())
        )
        return [made, cited]

    def _add_waiting_proposals(self) -> int:
        """Add proposals that wait for a decision and cite what is reached: only their own words say so."""
        if self._target.kind is Kind.SUBJECT and not self.ids("execution", "evidence"):
            return 0
        cited, after, found = self._citable(), "", 0
        while True:
            rows = self._run(
                select(col(ProposalRow.id), col(ProposalRow.content))
                .where(
                    col(ProposalRow.tenant_id) == self._unit.tenant_id,
                    col(ProposalRow.outcome) == Outcome.PENDING_REVIEW,
                    col(ProposalRow.content).is_not(None),
                    col(ProposalRow.id) > after,
                )
                .order_by(col(ProposalRow.id))
                .limit(_PROPOSALS_AT_ONCE)
            ).all()
            for proposal_id, content in rows:
                if self._cites(proposal_id, content, cited):
                    found += self._add(_fixed("proposal", proposal_id))
            if len(rows) < _PROPOSALS_AT_ONCE:
                return found
            after = rows[-1][0]

    def _cites(self, proposal_id: str, content: bytes, cited: frozenset[tuple[str, str]]) -> bool:
        place = f"memory_proposals/{proposal_id}/content"
        try:
            words = open_content(content, cipher=self._unit.cipher, place=place)
        except TextErased:
            return False
        return any((citation.kind.value, citation.id) in cited for citation in words.citations)

    def _citable(self) -> frozenset[tuple[str, str]]:
        tenant, runs = self._unit.tenant_id, self._reach.items("execution")
        found = {("evidence", name) for name in self.ids("evidence")}
        for kind, table in (("turn", TurnRow), ("observation", ObservationRow)):
            parts = select(col(table.id)).where(
                col(table.tenant_id) == tenant, col(table.execution_id).in_(runs)
            )
            found |= {(kind, name) for name in self._run(parts).scalars()}
        return frozenset(found)

    def _add(self, query: Query) -> int:
        """Add the ids that a query answers as kind and id, each once; answer how many are new."""
        found = query.add_columns(
            literal(self._unit.tenant_id), literal(self._target.erasure_id), literal(value=False)
        ).distinct()
        columns = ["kind", "item_id", "tenant_id", "erasure_id", "buried"]
        on_sqlite = self._unit.session.get_bind().dialect.name == "sqlite"
        insert_once = sqlite.insert if on_sqlite else postgresql.insert
        return self._run(
            insert_once(ErasureItemRow).from_select(columns, found).on_conflict_do_nothing()
        ).rowcount

    def _mine(self) -> tuple[Any, ...]:
        return (
            col(ErasureItemRow.tenant_id) == self._unit.tenant_id,
            col(ErasureItemRow.erasure_id) == self._target.erasure_id,
        )

    def _run(self, statement: Any) -> CursorResult[*tuple[Any, ...]]:  # noqa: ANN401 - any statement
        self._unit.session.flush()
        return self._unit.session.connection().execute(statement)


def _fixed(kind: str, item_id: str) -> Query:
    # With a condition: without one SQLite reads ON CONFLICT as part of a join.
    return select(literal(kind), literal(item_id)).where(literal(1) == literal(1))


def _of(table: Any, kind: str, column: Any, tenant_id: str) -> Query:  # noqa: ANN401 - any row class
    return select(literal(kind), col(column)).where(col(table.tenant_id) == tenant_id)


def _derived(tenant_id: str) -> Query:
    """Answer what was made and is destroyed with its source: a run that relies on it only looks again."""
    return select(col(DerivationRow.kind), col(DerivationRow.item_id)).where(
        col(DerivationRow.tenant_id) == tenant_id,
        col(DerivationRow.kind).in_(["memory", "summary", "evidence", "observation"]),
    )
