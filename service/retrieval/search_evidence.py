"""Searching evidence: hybrid search whose every hit is read again from the record before it is answered."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from service.core.passages import PassageKey
from service.evidence.model import EvidencePassage, ReadableItem
from service.evidence.store import EvidenceStore
from service.identity.model import Caller
from service.identity.unit import Unit
from service.policies.words import Authority
from service.retrieval.model import ItemKind, SearchScope
from service.retrieval.rerank.model import Piece, PieceKind
from service.retrieval.rerank.people import speakers
from service.retrieval.rerank.ports import Reranker
from service.retrieval.search import Ranked, Retriever

POOL_MAX: Final = 300
"""So many passages are looked at together where the second stage orders them."""
_KINDS: Final = {
    Authority.CONVERSATION: PieceKind.CONVERSATION,
    Authority.TOOL_RESULT: PieceKind.TOOL_RESULT,
}
_NO_DIRECTION: Final = 0.0


@dataclass(frozen=True, slots=True)
class EvidenceFilter:
    """What found passages must be; `None` asks for nothing."""

    authorities: frozenset[Authority] | None = None
    source_kinds: frozenset[str] | None = None
    observed_after: datetime | None = None

    def takes(self, item: ReadableItem) -> bool:
        """Say whether passages of an item may be answered."""
        return (
            (self.authorities is None or item.authority in self.authorities)
            and (self.source_kinds is None or item.kind in self.source_kinds)
            and (self.observed_after is None or item.observed_at > self.observed_after)
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
    candidates = _Candidates(store, unit.caller, project_id, only or EvidenceFilter())
    reranker = retriever.reranker
    ranked = retriever.search(
        query,
        evidence_scope(unit, project_id),
        reread=candidates.reread,
        neighbours=candidates.neighbours,
        limit=limit if reranker is None else max(limit, POOL_MAX),
    )
    # Text is read and opened for what takes part alone, and asked about once more on the way.
    passages = store.passages([one.key for one in ranked], caller=unit.caller, now=unit.now)
    found = [
        Ranked(one.key, passages[one.key], one.score, one.scores) for one in ranked if one.key in passages
    ]
    return found if reranker is None else _reranked(query, found, candidates.pieces_of, reranker)[:limit]


def _reranked(
    query: str,
    found: Sequence[Ranked[EvidencePassage]],
    pieces_of: Callable[[str], int],
    reranker: Reranker,
) -> Sequence[Ranked[EvidencePassage]]:
    """Order what was found by the second stage; its score is shown as `weighted`, ties go by key."""
    scores = reranker.rank(query, _pieces(found, pieces_of))
    again = [
        replace(one, score=score, scores={**one.scores, "weighted": score})
        for one, score in zip(found, scores, strict=True)
    ]
    return sorted(again, key=lambda one: (-one.score, one.key))


def _pieces(found: Sequence[Ranked[EvidencePassage]], pieces_of: Callable[[str], int]) -> Sequence[Piece]:
    names = speakers([one.item.text for one in found])
    return [
        _piece(one, pieces_of(one.item.evidence_id), is_spoken=name is not None)
        for one, name in zip(found, names, strict=True)
    ]


def _piece(one: Ranked[EvidencePassage], item_pieces: int, *, is_spoken: bool) -> Piece:
    passage, group = one.item, one.item.group
    kind = _KINDS.get(passage.authority, PieceKind.DOCUMENT)
    return Piece(
        text=passage.text,
        # What is kept as a document may be what people said all the same: minutes, a chat that was exported.
        kind=PieceKind.CONVERSATION if is_spoken and group is not None else kind,
        item=passage.evidence_id,
        item_pieces=item_pieces,
        address=passage.source.uri,
        group=passage.evidence_id if group is None else group.id,
        group_title=passage.title if group is None else group.title,
        sequence=0 if group is None else group.sequence,
        ordinal=passage.ordinal,
        observed_at=passage.source.observed_at,
        fused=one.score,
        sparse=one.scores["sparse"],
        dense=one.scores.get("dense", _NO_DIRECTION),
    )


class _Candidates:
    """What one search asks the record about, by item: each is asked about once, and none of its text."""

    def __init__(self, store: EvidenceStore, caller: Caller, project_id: str, only: EvidenceFilter) -> None:
        self._store = store
        self._caller = caller
        self._project_id = project_id
        self._only = only
        self._asked: set[str] = set()
        self._readable: dict[str, ReadableItem] = {}

    def reread(self, keys: Sequence[PassageKey]) -> Mapping[PassageKey, ReadableItem]:
        """Answer those of the passages that the caller may read now and that the filter takes."""
        new = {key.item_id for key in keys} - self._asked
        if new:
            self._asked |= new
            self._readable.update(self._store.readable_items(sorted(new), caller=self._caller))
        found = ((key, self._readable.get(key.item_id)) for key in keys)
        return {
            key: item
            for key, item in found
            if item is not None
            and item.holds(key)
            and item.project_id == self._project_id
            and self._only.takes(item)
        }

    def pieces_of(self, item_id: str) -> int:
        """Answer into how many pieces an item is cut that a search found."""
        return self._readable[item_id].chunks

    def neighbours(self, keys: Sequence[PassageKey]) -> Mapping[PassageKey, tuple[PassageKey, ...]]:
        """Answer what stands beside each of the passages."""
        return self._store.neighbours(keys, known=self._readable)


def evidence_scope(unit: Unit, project_id: str) -> SearchScope:
    """Answer where the caller's search for evidence of one project may look."""
    readers = tuple(sorted(unit.cipher.keyed_hash(label) for label in unit.caller.reader_labels))
    return SearchScope(unit.tenant_id, ItemKind.EVIDENCE, (f"project:{project_id}",), readers)
