"""Searching evidence: hybrid search whose every hit is read again from the record before it is answered."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from service.core.passages import PassageKey
from service.evidence.model import EvidencePassage
from service.evidence.store import EvidenceStore
from service.identity.unit import Unit
from service.policies.words import Authority
from service.retrieval.model import ItemKind, SearchScope
from service.retrieval.search import Ranked, Retriever


@dataclass(frozen=True, slots=True)
class EvidenceFilter:
    """What found passages must be; `None` asks for nothing."""

    authorities: frozenset[Authority] | None = None
    source_kinds: frozenset[str] | None = None
    observed_after: datetime | None = None

    def takes(self, passage: EvidencePassage) -> bool:
        """Say whether a passage may be answered."""
        return (
            (self.authorities is None or passage.authority in self.authorities)
            and (self.source_kinds is None or passage.source.kind in self.source_kinds)
            and (self.observed_after is None or passage.source.observed_at > self.observed_after)
        )


def search_evidence(
    query: str,
    *,
    project: str,
    limit: int,
    unit: Unit,
    retriever: Retriever,
    only: EvidenceFilter | None = None,
) -> Sequence[Ranked[EvidencePassage]]:
    """Answer up to `limit` passages of the project that the caller may read now, the best first.

    Stale ones are among them and say so. Raises `NotFound` for a project that the caller may not enter and
    `Unavailable` when the index does not answer.
    """
    project_id = unit.project(project).id
    store = EvidenceStore.of(unit)
    wanted = only or EvidenceFilter()

    def reread(keys: Sequence[PassageKey]) -> Mapping[PassageKey, EvidencePassage]:
        found = store.passages(keys, caller=unit.caller, now=unit.now)
        return {
            key: passage
            for key, passage in found.items()
            if passage.project_id == project_id and wanted.takes(passage)
        }

    return retriever.search(
        query,
        evidence_scope(unit, project_id),
        reread=reread,
        neighbours=store.neighbours,
        limit=limit,
    )


def evidence_scope(unit: Unit, project_id: str) -> SearchScope:
    """Answer where the caller's search for evidence of one project may look."""
    readers = tuple(sorted(unit.cipher.keyed_hash(label) for label in unit.caller.reader_labels))
    return SearchScope(unit.tenant_id, ItemKind.EVIDENCE, (f"project:{project_id}",), readers)
