"""The features of whole documents, for a query that may say many things. Pure but for the models handed in.

A person's request of a page names what it is about in a few of its sentences, so that these are looked at one
by one; and documents come in families, told by how their titles begin and by what their addresses share.
Nothing here is read in one language only.
"""

import re
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import regex

from service.retrieval.rerank.model import Numbers, Piece, standardise
from service.retrieval.rerank.models import Models
from service.retrieval.rerank.words import Words, directions_of, rarity, spellings_of_terms, titled

DOCUMENTS_MAX: Final = 120
"""So many documents are looked at, those of which the first stage thinks most. More do not help."""
WHOLE_PIECES_MAX: Final = 5
"""A document of more pieces, which are about 1,024 tokens, is ranked passage by passage."""
SENTENCES_MAX: Final = 64
"""So many sentences of a query are looked at; the rest counts as a whole only."""
_LEADING: Final = 8
_BEST: Final = 3
"""A document answers a few sentences of a request: how well, is told by the best of them."""
_SENTENCE_END: Final = regex.compile(r"(?<=\p{STerm})\s+|\n+|(?<=[\p{STerm}--[.!?]])", regex.V1)
"""What ends a sentence in any script. Only those of scripts without spaces end one without a space."""
_SENTENCE_CHARACTERS_MIN: Final = 6
_CHARACTERS_MAX: Final = 192_000
_SATURATION: Final = 1.2
_LENGTH_WEIGHT: Final = 0.75
_NUMBER_AT_THE_END: Final = re.compile(r"[\W_]*\d+$")


@dataclass(frozen=True, slots=True)
class Unit:
    """One document, or a passage of a long one: what was found of its text, and a part's best scores."""

    text: str
    title: str
    address: str
    fused: float
    dense: float


def document_features(query: str, units: Sequence[Unit], models: Models) -> Mapping[str, Numbers]:
    """Answer each feature as one standardised value for each document, in their order."""
    sentences = split_sentences(query)
    fused = np.array([unit.fused for unit in units])
    texts = [f"{unit.title}\n{unit.text}" for unit in units]
    words = Words.of(texts, characters_max=_CHARACTERS_MAX)
    by_terms = _terms(query, sentences, words, models)
    by_meaning, whole, central = _meanings(query, sentences, words, fused, models)
    columns = {
        "fused": fused,
        "direction": np.array([unit.dense for unit in units]),
        "alike": whole,
        "central": central,
        "titled": titled(query, [unit.title for unit in units], models.sparse),
        "terms_sum": by_terms.sum(axis=1),
        "terms_best": _best(by_terms),
        "alike_best": _best(by_meaning),
        "length": np.log1p(np.array([len(text) for text in texts], dtype=np.float64)),
    }
    found = standardise(columns)
    worth = found["fused"] + found["terms_best"] + found["alike_best"]
    families = {
        "title": [unit.title.partition(":")[0].strip().casefold() for unit in units],
        "address": [_NUMBER_AT_THE_END.sub("", unit.address) for unit in units],
    }
    related: dict[str, Numbers] = {}
    for name, keys in families.items():
        related[f"{name}_best"], related[f"{name}_size"] = _of_family(keys, worth)
    return {**found, **standardise(related)}


def unit_name(piece: Piece) -> str:
    """Answer by what a piece is ranked: by its document or, in a long one, by itself."""
    return piece.item if piece.item_pieces <= WHOLE_PIECES_MAX else f"{piece.item}/{piece.ordinal}"


def units_of(pieces: Sequence[Piece]) -> tuple[Sequence[str], Sequence[Unit]]:
    """Answer what pieces are ranked by, each once with its name; the likeliest first."""
    found: dict[str, list[Piece]] = {}
    for piece in pieces:
        found.setdefault(unit_name(piece), []).append(piece)
    units = {}
    for item, parts in found.items():
        first = parts[0]
        text = "".join(part.text for part in sorted(parts, key=lambda part: part.ordinal))
        fused, dense = max(part.fused for part in parts), max(part.dense for part in parts)
        units[item] = Unit(text, first.group_title, first.address, fused, dense)
    names = sorted(units, key=lambda item: (-units[item].fused, item))
    return names, [units[name] for name in names]


def split_sentences(query: str) -> Sequence[str]:
    """Answer the sentences of a query, the first ones of many; the query itself where it has no other."""
    parts = [part.strip() for part in _SENTENCE_END.split(query) if part]
    found = [part for part in parts if len(part) >= _SENTENCE_CHARACTERS_MIN][:SENTENCES_MAX]
    return found or [query]


def _terms(query: str, sentences: Sequence[str], words: Words, models: Models) -> Numbers:
    """Answer the BM25 score of each document for each sentence, with statistics of these documents."""
    asked = [models.sparse.encode_query(sentence) for sentence in sentences]
    terms = sorted({term for one in asked for term in one.indices})
    spelled = spellings_of_terms(frozenset(terms), query, words, models.sparse)
    numbers = {term: place for place, term in enumerate(terms)}
    counts = (
        np.stack([words.counts_of(spelled[term]) for term in terms], axis=1)
        if terms
        else np.zeros((words.pieces, 0))
    )
    lengths = words.lengths.astype(np.float64)
    norm = 1 - _LENGTH_WEIGHT + _LENGTH_WEIGHT * lengths / max(float(lengths.mean()), 1.0)
    held = counts * (_SATURATION + 1) / (counts + _SATURATION * norm[:, None])
    wanted = np.zeros((len(numbers), len(sentences)))
    for column, one in enumerate(asked):
        for term, value in zip(one.indices, one.values, strict=True):
            wanted[numbers[term], column] = value
    weights = rarity((held > 0).sum(axis=0).astype(np.float64), words.pieces)
    scores: Numbers = (held * weights) @ wanted
    return scores


def _meanings(
    query: str, sentences: Sequence[str], words: Words, fused: Numbers, models: Models
) -> tuple[Numbers, Numbers, Numbers]:
    """Answer cosines: of each text with each sentence, with the query, and with the middle of the best."""
    own, asked = directions_of(words, (query, *sentences), models.vectors)
    leading = np.argsort(-fused, kind="stable")[:_LEADING]
    middle = own[leading].mean(axis=0)
    cosines = own @ asked.T
    return cosines[:, 1:], cosines[:, 0], own @ middle


def _best(scores: Numbers) -> Numbers:
    best: Numbers = np.sort(scores, axis=1)[:, -_BEST:].mean(axis=1)
    return best


def _of_family(keys: Sequence[Hashable], worth: Numbers) -> tuple[Numbers, Numbers]:
    """Answer the best worth in each document's family, and how many of it were found."""
    best: dict[Hashable, float] = {}
    size: dict[Hashable, int] = {}
    for key, value in zip(keys, worth.tolist(), strict=True):
        best[key] = max(best.get(key, value), value)
        size[key] = size.get(key, 0) + 1
    return np.array([best[key] for key in keys]), np.array([float(size[key]) for key in keys])
