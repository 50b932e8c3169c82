"""The words of the pieces that were found, counted over these pieces alone.

The statistics are those of what was found, not of the whole project. On five conversations, alone and four
times as much text around them, that made no difference beyond half a point (decision 0017), it keeps no
words anywhere, and it can tell a caller nothing of what the caller may not read.
"""

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt
import regex

from service.retrieval.ports import SparseEncoder
from service.retrieval.rerank.model import Numbers
from service.retrieval.rerank.pooling import sum_runs
from service.retrieval.rerank.ports import WordVectors

_WORD: Final = regex.compile(r"[\p{L}\p{N}\p{M}]{1,40}")
_ASCII_WORD: Final = re.compile(r"[A-Za-z0-9]{1,40}")
"""The same of plain text, in half the time."""
_CHARACTERS_MAX: Final = 64_000
"""Of all pieces together: longer ones are looked at as far as their share of it reaches."""
_SHARED_START: Final = 2
"""So many first letters of an English word are left by every ending that the stemmer takes off."""


@dataclass(frozen=True, slots=True)
class Words:
    """The words of the pieces, each distinct one once, as they are written.

    `places` and `owners` speak of the same occurrences: which word, and whose. `lengths` counts each piece's.
    """

    distinct: tuple[str, ...]
    places: npt.NDArray[np.intp]
    owners: npt.NDArray[np.intp]
    lengths: npt.NDArray[np.intp]

    @classmethod
    def of(cls, texts: Sequence[str]) -> "Words":
        """Split the texts at what is neither letter, mark nor digit."""
        share = _CHARACTERS_MAX // max(1, len(texts))
        split = [_split(text[:share]) for text in texts]
        numbers: defaultdict[str, int] = defaultdict()
        numbers.default_factory = numbers.__len__
        places = np.array([numbers[word] for words in split for word in words], dtype=np.intp)
        lengths = np.array([len(words) for words in split], dtype=np.intp)
        return cls(tuple(numbers), places, np.repeat(np.arange(len(texts)), lengths), lengths)

    @property
    def pieces(self) -> int:
        """How many pieces there are."""
        return len(self.lengths)

    def holding(self) -> Numbers:
        """Answer how many pieces hold each word."""
        pairs = np.unique(self.places * self.pieces + self.owners)
        return np.bincount(pairs // self.pieces, minlength=len(self.distinct)).astype(np.float64)

    def owners_of(self, chosen: Sequence[int]) -> Numbers:
        """Answer 1 for each piece that holds any of the words with these numbers, else 0."""
        held = np.zeros(self.pieces)
        held[self.owners[np.isin(self.places, chosen)]] = 1.0
        return held


def _split(text: str) -> list[str]:
    return _ASCII_WORD.findall(text) if text.isascii() else _WORD.findall(text)


def rarity(held: Numbers, total: int) -> Numbers:
    """Answer ln(1 + (N - df + 0.5) / (df + 0.5)) for each number of holders."""
    weights: Numbers = np.log(1 + (total - held + 0.5) / (held + 0.5))
    return weights


def terms_of(text: str, sparse: SparseEncoder) -> frozenset[int]:
    """Answer the terms of a text as the index has them."""
    return frozenset(sparse.encode_query(text).indices)


def holders_of_terms(
    terms: frozenset[int], query: str, words: Words, sparse: SparseEncoder
) -> Mapping[int, Numbers]:
    """Answer for each of the query's terms which pieces hold it: 1 or 0."""
    starts = {word[:_SHARED_START].casefold() for word in _split(query)}
    spelled: dict[int, list[int]] = {term: [] for term in terms}
    for number, word in enumerate(words.distinct):
        # Other scripts are cut into words by the encoder: what is one here may hold several there.
        if not word.isascii() or word[:_SHARED_START].casefold() in starts:
            for term in sparse.encode_query(word).indices:
                if term in spelled:
                    spelled[term].append(number)
    return {term: words.owners_of(numbers) for term, numbers in spelled.items()}


def alikeness(query: str, words: Words, vectors: WordVectors) -> Numbers:
    """Answer the cosine of each piece and the query: word vectors weighted by rarity, less their mean.

    Static vectors pooled so find twice as much as their plain mean does.
    """
    asked = _split(query)
    if not asked:
        return np.zeros(words.pieces)
    known = {word: number for number, word in enumerate(words.distinct)}
    weights = rarity(words.holding(), words.pieces)
    unseen = float(rarity(np.zeros(1), words.pieces)[0])
    table = vectors.embed_words(words.distinct) * weights[:, None]
    pooled = _unit(sum_runs(table, words.places, words.lengths))
    mean = pooled.mean(axis=0)
    own = np.array([weights[known[word]] if word in known else unseen for word in asked])
    wanted = _unit((vectors.embed_words(asked) * own[:, None]).sum(axis=0, keepdims=True))
    alike: Numbers = _unit(pooled - mean) @ _unit(wanted - mean)[0]
    return alike


def _unit(vectors: Numbers) -> Numbers:
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    directions: Numbers = vectors / np.where(lengths == 0, 1.0, lengths)
    return directions
