"""Hybrid search: both lists from the index, existence and permission from the record, one fused order."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Generic, TypeVar

import numpy as np

from service.core.passages import PassageKey
from service.core.text import cut_at_grapheme
from service.retrieval.fuse import fuse_scores, score_terms
from service.retrieval.model import Hit, SearchScope, SparseVector
from service.retrieval.ports import Embedder, SparseEncoder, VectorIndex
from service.retrieval.rerank.ports import Reranker

QUERY_CHARACTERS_MAX: Final = 8_192
"""Of a longer query the head is searched with: its cost is bounded, and what is asked stands first."""
DEPTH_MAX: Final = 1_000
RANKED_TEXTS_MAX: Final = 5_000
UNRELATED_COSINE: Final = 0.1
"""Below it, and without a shared word, a text has nothing to do with the query."""
_REFILL_FACTOR: Final = 2
"""A list is filled up again when fewer than this many times `limit` of its hits are living: enough to choose
from, and a filter that lets one in a hundred through does not make each search read ten thousand passages."""
_REFILL_DEPTH_MAX: Final = 4_000

Item = TypeVar("Item")
Reread = Callable[[Sequence[PassageKey]], Mapping[PassageKey, Item]]
"""Answers, from the record, those of the passages that exist now and that the caller may read."""
Neighbours = Callable[[Sequence[PassageKey]], Mapping[PassageKey, tuple[PassageKey, ...]]]
"""Answers, from the record, the passages that stand beside each one."""
_Ask = Callable[[int], Sequence[Hit]]
_Scores = dict[PassageKey, float]


@dataclass(frozen=True, slots=True)
class Ranked(Generic[Item]):
    """One passage that was found, with every score that placed it.

    `score` is the fused one. `scores` holds `fused`, `sparse` (BM25, 0 where no term is shared) and, where
    both query and passage have a direction, `dense` (cosine).
    """

    key: PassageKey
    item: Item
    score: float
    scores: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class TextScores:
    """How relevant one text in hand is: fused, by terms (0 where none is shared), by direction (cosine)."""

    fused: float
    sparse: float
    dense: float | None

    @property
    def by_name(self) -> Mapping[str, float]:
        """The scores as `Ranked` shows them."""
        scores = {"fused": self.fused, "sparse": self.sparse}
        return scores if self.dense is None else {**scores, "dense": self.dense}

    @property
    def is_related(self) -> bool:
        """Whether it shares a word with the query, or points the same way."""
        return self.sparse > 0 or (self.dense is not None and self.dense >= UNRELATED_COSINE)


@dataclass(slots=True)
class _Candidates(Generic[Item]):
    """What the record was asked about. The index is never believed: only what is in `held` takes part."""

    reread: Reread[Item]
    held: dict[PassageKey, Item] = field(default_factory=dict)
    asked: set[PassageKey] = field(default_factory=set)

    def admit(self, keys: Iterable[PassageKey]) -> None:
        """Ask the record once about each key that it has not been asked about."""
        new = [key for key in dict.fromkeys(keys) if key not in self.asked]
        if new:
            self.asked.update(new)
            found = self.reread(new)
            self.held.update((key, found[key]) for key in new if key in found)

    def living(self, hits: Sequence[Hit]) -> Sequence[Hit]:
        """Answer the hits that the record still holds."""
        return [hit for hit in hits if hit.key in self.held]


@dataclass(frozen=True, slots=True)
class _Query:
    """A query in both forms, put to the index. A form that it lacks finds nothing."""

    index: VectorIndex
    scope: SearchScope
    vector: Sequence[float] | None
    terms: SparseVector

    def dense(self, count: int, within: Sequence[PassageKey] | None = None) -> Sequence[Hit]:
        """Answer the nearest passages."""
        if self.vector is None:
            return ()
        return self.index.search_dense(self.scope, self.vector, count, within=within)

    def sparse(self, count: int, within: Sequence[PassageKey] | None = None) -> Sequence[Hit]:
        """Answer the passages that share the most telling terms."""
        if not self.terms.indices:
            return ()
        return self.index.search_sparse(self.scope, self.terms, count, within=within)


class Retriever:
    """Finds passages for a query. Knows neither what they are nor who asks: both are handed in.

    `reranker` is for those who read the texts of what was found: it is theirs to ask.
    """

    def __init__(
        self,
        embedder: Embedder,
        sparse: SparseEncoder,
        index: VectorIndex,
        reranker: Reranker | None = None,
    ) -> None:
        self.reranker = reranker
        self._embedder = embedder
        self._sparse = sparse
        self._index = index

    def search(
        self,
        query: str,
        scope: SearchScope,
        *,
        reread: Reread[Item],
        neighbours: Neighbours,
        limit: int,
        depth: int = 100,
    ) -> Sequence[Ranked[Item]]:
        """Answer at most `limit` passages, best first, ties by key.

        Both lists are taken `depth` deep. Hits that `reread` does not answer are dropped before anything is
        fused, and a list that they leave short is filled up again, so that what is gone or forbidden neither
        takes a place nor moves a fused score. Only the first `QUERY_CHARACTERS_MAX` characters of the query
        count; one without any word or direction finds nothing. Raises `core.errors.Unavailable` when the
        index does not answer.
        """
        if limit < 1 or not 1 <= depth <= DEPTH_MAX:
            raise ValueError(f"limit is at least 1, depth 1 to {DEPTH_MAX}")
        head = _head(query)
        vector, terms = self._encoded(head)
        asked = _Query(self._index, scope, vector, terms)
        candidates = _Candidates(reread)
        dense, sparse = _first_stage(asked, candidates, limit=limit, depth=depth)
        found = list(dict.fromkeys((*dense, *sparse)))
        if not found:
            return ()
        beside = dict(neighbours(found))
        near = [key for keys in beside.values() for key in keys]
        candidates.admit(near)
        universe = list(dict.fromkeys((*found, *(key for key in near if key in candidates.held))))
        if len(universe) > len(found):
            beside.update(neighbours(universe[len(found) :]))
        _second_stage(asked, universe, dense, sparse)
        return _ranked(universe, candidates.held, dense, sparse, beside)[:limit]

    def _encoded(self, head: str) -> tuple[Sequence[float] | None, SparseVector]:
        """Answer both forms of a query."""
        # Nothing is kept: words of one tenant would outlive their erasure, and tell another by their speed.
        (vector,) = self._embedder.embed([head])
        return vector, self._sparse.encode_query(head)

    def rank_texts(self, query: str, texts: Sequence[str], *, in_order: bool = True) -> Sequence[TextScores]:
        """Answer the scores of each text in hand, in the order given: a higher fused one is more relevant.

        The same fusion as `search`, with term statistics over these texts alone. Where the texts stand in
        their own order (turns of a conversation), each one's neighbours are those before and after it. At
        most `RANKED_TEXTS_MAX`; of a long query, and of each long text, the head counts.
        """
        if len(texts) > RANKED_TEXTS_MAX:
            raise ValueError(f"at most {RANKED_TEXTS_MAX} texts are ranked at once")
        if not texts:
            return []
        heads = [_head(text) for text in (query, *texts)]
        vector, *vectors = self._embedder.embed(heads)
        sparse = score_terms(self._sparse.encode_query(heads[0]), self._sparse.encode_documents(heads[1:]))
        dense = [
            None if vector is None or other is None else float(np.dot(vector, other)) for other in vectors
        ]
        last = len(texts) - 1
        near = (-1, 1) if in_order else ()
        beside = [[own + step for step in near if 0 <= own + step <= last] for own in range(len(texts))]
        fused = fuse_scores(dense, sparse, beside)
        return [TextScores(*scores) for scores in zip(fused, sparse, dense, strict=True)]


def _first_stage(
    query: _Query, candidates: _Candidates[Item], *, limit: int, depth: int
) -> tuple[_Scores, _Scores]:
    """Answer each list's own living hits with their scores, dense and sparse."""
    lists = [(ask, ask(depth)) for ask in (query.dense, query.sparse)]
    # Both together, so that in the usual case the record is asked once.
    candidates.admit(hit.key for _, hits in lists for hit in hits)
    enough = min(depth, _REFILL_FACTOR * limit)
    dense, sparse = (
        {hit.key: hit.score for hit in _refilled(ask, hits, candidates, enough=enough, depth=depth)}
        for ask, hits in lists
    )
    return dense, sparse


def _refilled(
    ask: _Ask, hits: Sequence[Hit], candidates: _Candidates[Item], *, enough: int, depth: int
) -> Sequence[Hit]:
    """Look deeper while fewer than `enough` of a full list are living, until the list or the bound ends."""
    asked = depth
    while len(candidates.living(hits)) < enough and len(hits) == asked and asked < _REFILL_DEPTH_MAX:
        asked = min(2 * asked, _REFILL_DEPTH_MAX)
        hits = ask(asked)
        candidates.admit(hit.key for hit in hits)
    return candidates.living(hits)[:depth]


def _second_stage(query: _Query, universe: Sequence[PassageKey], dense: _Scores, sparse: _Scores) -> None:
    """Fetch the scores that one list has and the other lacks; without them the gain of fusing is lost."""
    for ask, scores in ((query.dense, dense), (query.sparse, sparse)):
        missing = [key for key in universe if key not in scores]
        if missing:
            scores.update((hit.key, hit.score) for hit in ask(len(missing), missing))


def _ranked(
    universe: Sequence[PassageKey],
    held: Mapping[PassageKey, Item],
    dense: Mapping[PassageKey, float],
    sparse: Mapping[PassageKey, float],
    beside: Mapping[PassageKey, tuple[PassageKey, ...]],
) -> Sequence[Ranked[Item]]:
    places = {key: place for place, key in enumerate(universe)}
    fused = fuse_scores(
        [dense.get(key) for key in universe],
        [sparse.get(key, 0.0) for key in universe],
        [[places[other] for other in beside.get(key, ()) if other in places] for key in universe],
    )
    ranked = []
    for key, score in zip(universe, fused, strict=True):
        scores = {"fused": score, "sparse": sparse.get(key, 0.0)}
        if key in dense:
            scores["dense"] = dense[key]
        ranked.append(Ranked(key, held[key], score, scores))
    return sorted(ranked, key=_order)


def _order(found: Ranked[Item]) -> tuple[float, str, int, int]:
    return (-found.score, found.key.item_id, found.key.version, found.key.ordinal)


def _head(text: str) -> str:
    return text[: cut_at_grapheme(text, QUERY_CHARACTERS_MAX)]
