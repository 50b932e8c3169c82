"""The features of each piece that was found, for one query. Pure but for the models that are handed in.

Those about speakers, questions and sessions belong to conversations: zero where the structure is absent.
Answer types and dates are read in English; in other languages they are zero, and the rest carries.
"""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Final

import numpy as np

from service.retrieval.rerank.layout import Layout
from service.retrieval.rerank.model import Numbers, Piece, standardise
from service.retrieval.rerank.models import Models
from service.retrieval.rerank.people import named_in, speakers, without_names
from service.retrieval.rerank.times import date_of, match_dates
from service.retrieval.rerank.words import Words, alikeness, holders_of_terms, rarity, terms_of

_SATURATION: Final = 1.2
_LENGTH_WEIGHT: Final = 0.75
_NAMES_MAX: Final = 3
_ASKS_WHEN: Final = re.compile(
    r"\bwhen\b|\bwhat (?:date|day|month|year|time)\b|\bhow (?:long|often)\b", re.IGNORECASE
)
_ASKS_NUMBER: Final = re.compile(r"\bhow (?:many|much|old|often)\b", re.IGNORECASE)
_ASKS_NAME: Final = re.compile(r"\b(?:who|where|which|whose|what (?:is|was|are) the name)\b", re.IGNORECASE)
_TIMES: Final = frozenset(
    """
    yesterday today tonight tomorrow last next ago week weeks weekend month months year years morning since
    recently monday tuesday wednesday thursday friday saturday sunday january february march april may june
    july august september october november december summer winter spring fall autumn just soon
    """.split()  # noqa: SIM905 - one word a line would hide the list
)
_NUMBERS: Final = frozenset(
    """
    one two three four five six seven eight nine ten dozen couple few several once twice first second third
    """.split()  # noqa: SIM905 - as above
)
_YEAR_DIGITS: Final = 4
_NAME: Final = re.compile(r"(?<=[a-z,;:'\"] )[A-Z][a-z]+")
_ENDS_ASKING: Final = re.compile(r"\?\s*(?:[\[(][^\])]*[\])]\s*)?$")


def features_of(query: str, pieces: Sequence[Piece], models: Models) -> Mapping[str, Numbers]:
    """Answer each feature as one standardised value for each piece, in their order."""
    texts = [piece.text for piece in pieces]
    layout, words = Layout.of(pieces), Words.of(texts)
    names = speakers(texts)
    topic = without_names(query, names)
    columns = {
        **_first_stage(pieces),
        **_shared(topic, pieces, words, layout, models),
        **_speaking(query, names),
        **_answer_type(query, texts, words),
        "length": np.log1p(np.array([len(text) for text in texts], dtype=np.float64)),
    }
    asking = np.array([float(bool(_ENDS_ASKING.search(text))) for text in texts])
    columns["asking"] = asking
    columns["answering"] = layout.shifted(asking, -1)
    columns["answering_alike"] = layout.shifted(asking * columns["alike"], -1)
    return standardise(columns)


def _first_stage(pieces: Sequence[Piece]) -> dict[str, Numbers]:
    return {
        "fused": np.array([piece.fused for piece in pieces], dtype=np.float64),
        "terms": np.array([piece.sparse for piece in pieces], dtype=np.float64),
        "direction": np.array([piece.dense for piece in pieces], dtype=np.float64),
    }


def _shared(
    topic: str, pieces: Sequence[Piece], words: Words, layout: Layout, models: Models
) -> dict[str, Numbers]:
    """Answer what shares words or meaning with the query, here, close by and in the same group."""
    told = {(piece.group_title, piece.observed_at) for piece in pieces}
    known = {one: date_of(*one) for one in told}
    dates = [known[piece.group_title, piece.observed_at] for piece in pieces]
    terms = terms_of(topic, models.sparse)
    holders = holders_of_terms(terms, topic, words, models.sparse)
    dated = {one: terms_of(one.strftime("%B %Y %d"), models.sparse) for one in set(dates)}
    lengths = words.lengths.astype(np.float64)
    covered, in_group = np.zeros(len(pieces)), np.zeros(len(pieces))
    for term in sorted(terms):
        held = holders[term]
        weight = float(rarity(np.array([held.sum()]), len(pieces))[0])
        on_date = np.array([float(term in dated[one]) for one in dates])
        covered += weight * np.maximum(layout.nearest(held), on_date)
        in_group += _group_score(held, lengths, layout)
    alike = alikeness(topic, words, models.vectors)
    direction = np.array([piece.dense for piece in pieces], dtype=np.float64)
    return {
        "covered": covered,
        "group": in_group,
        "alike": alike,
        "alike_around": layout.around(alike),
        "direction_around": layout.around(direction),
        "on_date": np.array(match_dates(topic, dates)),
    }


def _group_score(held: Numbers, lengths: Numbers, layout: Layout) -> Numbers:
    """Answer for each piece one term's BM25 score of its whole group, among the groups found."""
    counts = np.bincount(layout.groups, weights=held)
    sizes = np.bincount(layout.groups, weights=lengths)
    weight = math.log(1 + (len(counts) - (counts > 0).sum() + 0.5) / ((counts > 0).sum() + 0.5))
    norm = 1 - _LENGTH_WEIGHT + _LENGTH_WEIGHT * sizes / max(sizes.mean(), 1.0)
    scores: Numbers = weight * counts * (_SATURATION + 1) / (counts + _SATURATION * norm)
    return scores[layout.groups]


def _speaking(query: str, names: Sequence[str | None]) -> dict[str, Numbers]:
    """Answer whether the speaker is the only one whom the query names."""
    named = named_in(query, names)
    only = next(iter(named)) if len(named) == 1 else None
    return {"speaker": np.array([float(only is not None and name == only) for name in names])}


def _answer_type(query: str, texts: Sequence[str], words: Words) -> dict[str, Numbers]:
    """Answer what looks like an answer to this kind of question."""
    names = np.array([float(min(_NAMES_MAX, len(_NAME.findall(text)))) for text in texts])
    nothing = np.zeros(len(texts))

    def holding(is_one: Callable[[str], bool]) -> Numbers:
        return words.owners_of([number for number, word in enumerate(words.distinct) if is_one(word)])

    return {
        "names": names,
        "says_when": holding(_is_time) if _ASKS_WHEN.search(query) else nothing,
        "says_number": holding(_is_number) if _ASKS_NUMBER.search(query) else nothing,
        "says_name": names if _ASKS_NAME.search(query) else nothing,
    }


def _is_time(word: str) -> bool:
    return word.casefold() in _TIMES or (len(word) == _YEAR_DIGITS and word.isdigit())


def _is_number(word: str) -> bool:
    return word.isdigit() or word.casefold() in _NUMBERS
