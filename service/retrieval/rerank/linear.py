"""The built-in reranker: a linear model over features, without a language model."""

from collections.abc import Sequence
from typing import Final

from service.retrieval.ports import SparseEncoder
from service.retrieval.rerank.features import Models, features_of
from service.retrieval.rerank.fitted import FITTED, VERSION
from service.retrieval.rerank.model import Piece, Weights, score
from service.retrieval.rerank.ports import WordVectors

PIECES_MAX: Final = 500
"""So many pieces are looked at together."""


class LinearReranker:
    """Implements `retrieval.rerank.ports.Reranker`: about 20 ms for 400 turns. Thread safe."""

    def __init__(self, sparse: SparseEncoder, vectors: WordVectors, weights: Weights = FITTED) -> None:
        self.models = Models(sparse, vectors)
        self._weights = weights

    @property
    def name(self) -> str:
        """Which weights these are, for the manifest."""
        return VERSION

    def rank(self, query: str, pieces: Sequence[Piece]) -> Sequence[float]:
        """Answer one score for each piece: a higher one is more relevant; only differences mean something."""
        if not pieces:
            return []
        features = features_of(query, pieces, self.models)
        return score([piece.kind for piece in pieces], features, self._weights)
