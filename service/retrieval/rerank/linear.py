"""The built-in reranker: a linear model over features, without a language model."""

from collections.abc import Sequence
from typing import Final

from service.retrieval.ports import SparseEncoder
from service.retrieval.rerank.documents import DOCUMENTS_MAX, document_features, unit_name, units_of
from service.retrieval.rerank.features import features_of
from service.retrieval.rerank.fitted import FITTED, VERSION
from service.retrieval.rerank.model import Piece, PieceKind, Weights, score
from service.retrieval.rerank.models import Models
from service.retrieval.rerank.ports import WordVectors

PIECES_MAX: Final = 500
"""So many pieces are looked at together."""
_STEP_DOWN: Final = 0.001


class LinearReranker:
    """Implements `retrieval.rerank.ports.Reranker`: about 15 ms for 300 turns. Thread safe."""

    def __init__(self, sparse: SparseEncoder, vectors: WordVectors, weights: Weights = FITTED) -> None:
        self.models = Models(sparse, vectors)
        self._weights = weights

    @property
    def name(self) -> str:
        """Which weights these are, for the manifest."""
        return VERSION

    def rank(self, query: str, pieces: Sequence[Piece]) -> Sequence[float]:
        """Answer one score for each piece: a higher one is more relevant; only differences mean something.

        Documents of a few pieces are ranked as wholes: all pieces of one have the same score. Each kind is
        ranked by weights of its own, whose scores say nothing beside another kind's: where there are
        several, each keeps its order and takes the first stage's scores, by which all can be compared.
        """
        answers = [0.0] * len(pieces)
        kinds = sorted({piece.kind for piece in pieces})
        for kind in kinds:
            places = [place for place, piece in enumerate(pieces) if piece.kind is kind]
            own = [pieces[place] for place in places]
            scores = (self._rank_documents if kind is PieceKind.DOCUMENT else self._rank_pieces)(query, own)
            if len(kinds) > 1:
                scores = fused_in_order(own, scores)
            for place, found in zip(places, scores, strict=True):
                answers[place] = found
        return answers

    def _rank_pieces(self, query: str, pieces: Sequence[Piece]) -> Sequence[float]:
        features = features_of(query, pieces, self.models)
        return score([piece.kind for piece in pieces], features, self._weights)

    def _rank_documents(self, query: str, pieces: Sequence[Piece]) -> Sequence[float]:
        names, units = units_of(pieces)
        looked_at = units[:DOCUMENTS_MAX]
        features = document_features(query, looked_at, self.models)
        scores = score([PieceKind.DOCUMENT] * len(looked_at), features, self._weights)
        known = dict(zip(names, scores, strict=False))
        # What the first stage thinks little of comes after all that was looked at, in its order.
        least = min(scores)
        for place, name in enumerate(names[len(looked_at) :], start=1):
            known[name] = least - place * _STEP_DOWN
        return [known[unit_name(piece)] for piece in pieces]


def fused_in_order(pieces: Sequence[Piece], scores: Sequence[float]) -> Sequence[float]:
    """Answer the first stage's scores in the order of `scores`: the best of them for the best, and so on.

    Pieces of one item with equal scores are one, whose own is the best of theirs.
    """
    ones: dict[tuple[float, str], float] = {}
    keys = [(score, piece.item) for piece, score in zip(pieces, scores, strict=True)]
    for key, piece in zip(keys, pieces, strict=True):
        ones[key] = max(ones.get(key, piece.fused), piece.fused)
    ranked = sorted(ones, key=lambda key: (-key[0], key[1]))
    known = dict(zip(ranked, sorted(ones.values(), reverse=True), strict=True))
    return [known[key] for key in keys]
