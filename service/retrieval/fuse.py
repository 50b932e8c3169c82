"""Making one order of two lists of scores: pure arithmetic, the recipe that measured best.

z-scores over the candidates, dense and sparse summed, and each one lent a share of its neighbours' sums.
Unlike reciprocal rank fusion it keeps *how much* better a hit is: a weak dense list cannot push strong term
matches down.
"""

import math
from collections import Counter
from collections.abc import Sequence
from typing import Final

from service.retrieval.model import SparseVector

NEIGHBOUR_SHARE: Final = 0.3
"""Measured on conversations: an answer often stands beside the words that the question repeats."""
_DEVIATION_MIN: Final = 1e-6
"""Below it a list's differences are rounding, and stretching them to unit deviation would order by noise."""


def fuse_scores(
    dense: Sequence[float | None], sparse: Sequence[float], neighbours: Sequence[Sequence[int]]
) -> Sequence[float]:
    """Answer one score for each candidate; all three sequences speak of the same candidates in one order.

    `dense` is `None` for a candidate that has no vector: it counts as the least similar of all, since nothing
    says that it is alike, and zero would be far outside the range of the others. `sparse` is 0 where no term
    is shared. `neighbours` names candidates by position; a neighbour that is no candidate lends nothing,
    which is what an average one would.
    """
    if not len(dense) == len(sparse) == len(neighbours):
        raise ValueError("dense, sparse and neighbours speak of the same candidates")
    known = [score for score in dense if score is not None]
    least = min(known, default=0.0)
    filled = [least if score is None else score for score in dense]
    sums = [one + other for one, other in zip(_standardise(filled), _standardise(sparse), strict=True)]
    return [
        own + NEIGHBOUR_SHARE * math.fsum(sums[place] for place in beside)
        for own, beside in zip(sums, neighbours, strict=True)
    ]


def score_terms(query: SparseVector, documents: Sequence[SparseVector]) -> Sequence[float]:
    """Answer the BM25 score of each document, with inverse document frequencies over these documents alone.

    The same sum as the index makes: weight in the query, times weight in the document, times
    ln(1 + (N - df + 0.5) / (df + 0.5)).
    """
    weights = [dict(zip(document.indices, document.values, strict=True)) for document in documents]
    frequencies = Counter(term for document in weights for term in document)
    total = len(documents)
    idf = {
        term: math.log(1 + (total - frequencies[term] + 0.5) / (frequencies[term] + 0.5))
        for term in query.indices
    }
    asked = list(zip(query.indices, query.values, strict=True))
    return [
        math.fsum(value * document.get(term, 0.0) * idf[term] for term, value in asked)
        for document in weights
    ]


def _standardise(scores: Sequence[float]) -> Sequence[float]:
    """Answer (score - mean) / deviation, or zeros for scores that do not differ."""
    if not scores:
        return []
    mean = math.fsum(scores) / len(scores)
    deviation = math.sqrt(math.fsum((score - mean) ** 2 for score in scores) / len(scores))
    if deviation < _DEVIATION_MIN:
        return [0.0] * len(scores)
    return [(score - mean) / deviation for score in scores]
