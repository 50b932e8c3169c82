"""The models that both kinds of features are made with."""

from dataclasses import dataclass

from service.retrieval.ports import SparseEncoder
from service.retrieval.rerank.ports import WordVectors


@dataclass(frozen=True, slots=True)
class Models:
    """What turns words into terms and vectors."""

    sparse: SparseEncoder
    vectors: WordVectors
