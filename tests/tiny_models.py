"""A small embedder and a small sparse encoder: real implementations of both ports, quick and predictable."""

import hashlib
import math
import re
from collections import Counter
from collections.abc import Sequence

from service.retrieval.model import SparseVector


def _number(word: str) -> int:
    return int.from_bytes(hashlib.blake2b(word.encode(), digest_size=4).digest(), "big")


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())


class TinyEmbedder:
    """Sums one pseudo-random direction for each word; a text without words has no direction."""

    def __init__(self, name: str = "tiny", dimension: int = 32) -> None:
        self.name = name
        self.dimension = dimension
        self.batches: list[int] = []

    def embed(self, texts: Sequence[str]) -> Sequence[Sequence[float] | None]:
        self.batches.append(len(texts))
        return [self._embed(text) for text in texts]

    def _embed(self, text: str) -> Sequence[float] | None:
        total = [0.0] * self.dimension
        for word in _words(text):
            for place in range(self.dimension):
                total[place] += _number(f"{word}/{place}") / 2**31 - 1
        norm = math.sqrt(sum(value * value for value in total))
        return [value / norm for value in total] if norm else None


class TinyEncoder:
    """Term counts, saturated as BM25 does."""

    name = "tiny-bm25"

    def encode_documents(self, texts: Sequence[str]) -> Sequence[SparseVector]:
        return [self._encode(text) for text in texts]

    def encode_query(self, text: str) -> SparseVector:
        indices = tuple(sorted({_number(word) for word in _words(text)}))
        return SparseVector(indices, (1.0,) * len(indices))

    def _encode(self, text: str) -> SparseVector:
        counts = sorted(Counter(_number(word) for word in _words(text)).items())
        return SparseVector(
            tuple(index for index, _ in counts),
            tuple(count * 2.2 / (count + 1.2) for _, count in counts),
        )
