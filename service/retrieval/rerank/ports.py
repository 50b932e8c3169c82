"""What the second stage needs from outside, and what it is to those who search."""

from collections.abc import Sequence
from typing import Protocol

import numpy as np
import numpy.typing as npt

from service.retrieval.rerank.model import Piece


class WordVectors(Protocol):
    """Makes vectors of single words, to be weighted and pooled by whoever asks."""

    @property
    def dimension(self) -> int:
        """Length of every vector."""
        ...

    def embed_words(self, words: Sequence[str]) -> npt.NDArray[np.float64]:
        """Answer one row for each word, of the length that the model gives it; zeros for an unknown one."""
        ...


class Reranker(Protocol):
    """Orders what was found by looking at the texts together."""

    @property
    def name(self) -> str:
        """Model and version, for the manifest."""
        ...

    def rank(self, query: str, pieces: Sequence[Piece]) -> Sequence[float]:
        """Answer one score for each piece, in their order: a higher one is more relevant."""
        ...
