"""The words of the pieces that were found, counted over these pieces alone.

The statistics are those of what was found, not of the whole project. On five conversations, alone and four
times as much text around them, that made no difference beyond half a point (decision 0017), it keeps no
words anywhere, and it can tell a caller nothing of what the caller may not read.
"""

import re
from collections import Counter, defaultdict
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
    def of(cls, texts: Sequence[str], *, characters_max: int = _CHARACTERS_MAX) -> "Words":
        """Split the texts at what is neither letter, mark nor digit.

        `characters_max` is for all together: longer ones are looked at as far as their share of it reaches.
        """
        share = characters_max // max(1, len(texts))
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

    def counts_of(self, chosen: Sequence[int]) -> Numbers:
        """Answer how often each piece says any of the words with these numbers."""
        said = self.owners[np.isin(self.places, chosen)]
        return np.bincount(said, minlength=self.pieces).astype(np.float64)

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
    return {
        term: words.owners_of(numbers)
        for term, numbers in spellings_of_terms(terms, query, words, sparse).items()
    }


def spellings_of_terms(
    terms: frozenset[int], query: str, words: Words, sparse: SparseEncoder
) -> Mapping[int, Sequence[int]]:
    """Answer for each of the query's terms the numbers of the words that are it."""
    starts = {word[:_SHARED_START].casefold() for word in _split(query)}
    spelled: dict[int, list[int]] = {term: [] for term in terms}
    for number, word in enumerate(words.distinct):
        # Other scripts are cut into words by the encoder: what is one here may hold several there.
        if not word.isascii() or word[:_SHARED_START].casefold() in starts:
            for term in sparse.encode_query(word).indices:
                if term in spelled:
                    spelled[term].append(number)
    return spelled


def alikeness(query: str, words: Words, vectors: WordVectors) -> Numbers:
    """Answer the cosine of each piece with the query."""
    own, asked = directions_of(words, (query,), vectors)
    alike: Numbers = own @ asked[0]
    return alike


def directions_of(words: Words, questions: Sequence[str], vectors: WordVectors) -> tuple[Numbers, Numbers]:
    """Answer a direction for each piece and for each question: zeros for what has no known word.

    Of word vectors weighted by rarity among the pieces, less their mean: static vectors pooled so find twice
    as much as their plain mean does.
    """
    known = {word: number for number, word in enumerate(words.distinct)}
    weights = rarity(words.holding(), words.pieces)
    unseen = float(rarity(np.zeros(1), words.pieces)[0])
    # Summed in double precision, read in single: half the memory to go through, which is what takes the time.
    table = (vectors.embed_words(words.distinct) * weights[:, None]).astype(np.float32)
    pooled = _unit(sum_runs(table, words.places, words.lengths))
    mean = pooled.mean(axis=0)
    asked = np.zeros((len(questions), table.shape[1]))
    for place, question in enumerate(questions):
        split = _split(question)
        if split:
            own = np.array([weights[known[word]] if word in known else unseen for word in split])
            total = (vectors.embed_words(split) * own[:, None]).sum(axis=0, keepdims=True)
            asked[place] = _unit(_unit(total) - mean)[0]
    return _unit(pooled - mean), asked


def titled(query: str, titles: Sequence[str], sparse: SparseEncoder) -> Numbers:
    """Answer how much of each title the query says: each term by its rarity among the distinct titles."""
    terms = terms_of(query, sparse)
    known = {title: terms_of(title, sparse) for title in dict.fromkeys(titles)}
    held = Counter(term for found in known.values() for term in found)
    weight = {term: float(rarity(np.array([held[term]]), len(known))[0]) for term in held}
    said = {
        title: sum(weight[term] for term in sorted(found & terms))
        / (sum(weight[term] for term in sorted(found)) or 1.0)
        for title, found in known.items()
    }
    return np.array([said[title] for title in titles], dtype=np.float64)


def _unit(vectors: Numbers) -> Numbers:
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    directions: Numbers = vectors / np.where(lengths == 0, 1.0, lengths)
    return directions
