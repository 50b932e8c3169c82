"""Which sentences a summary keeps. Pure, deterministic, bounded."""

import heapq
import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import Final

from service.executions.compaction.sentences import is_courtesy, split_sentences, terms_of

Count = Callable[[str], int]
"""Answers the exact number of tokens of a text."""

PASSAGE_CHARACTERS_MAX: Final = 12_000
"""Of a longer passage the head and the tail are read: a log ends in its error."""
CHARACTERS_MAX: Final = 4_000_000
"""So much is read for one summary; many passages share it."""
_HEAD_SHARE: Final = 2 / 3
_SENTENCES_MAX: Final = 20_000
_MISSES_MAX: Final = 50
"""After so many sentences that did not fit, the rest of the budget is left."""
_LENGTH_WEIGHT: Final = 0.6
"""How much a sentence's length counts against it: 0 not at all, 1 in full, which prefers the shortest."""
_NUMBER_WEIGHT: Final = 1.5
"""Figures, dates and identifiers are what a later reader cannot guess."""


class Voice(StrEnum):
    """Who speaks in a passage."""

    PERSON = "person"
    ASSISTANT = "assistant"
    TOOL = "tool"
    EARLIER = "earlier"
    """An earlier summary, where the turns under it are not read again."""


_WEIGHTS: Final[Mapping[Voice, float]] = MappingProxyType(
    {Voice.PERSON: 1.5, Voice.ASSISTANT: 1.0, Voice.TOOL: 0.8, Voice.EARLIER: 1.2}
)
assert _WEIGHTS.keys() == set(Voice)


@dataclass(frozen=True, slots=True)
class Passage:
    """One text to choose from, under the label that its sentences keep. Passages stand in their order."""

    label: str
    text: str
    voice: Voice


@dataclass(frozen=True, slots=True)
class _Sentence:
    passage: int
    place: int
    text: str
    voice: Voice
    terms: frozenset[str]


def head_and_tail(text: str, characters_max: int) -> str:
    """Answer the text, or the head and the tail of one that is longer."""
    if len(text) <= characters_max:
        return text
    head = int(characters_max * _HEAD_SHARE)
    return f"{text[:head]}\n{text[len(text) - (characters_max - head) :]}"


def choose_sentences(passages: Sequence[Passage], *, tokens_max: int, count: Count) -> Sequence[str]:
    """Answer lines of the most telling sentences, `label: sentence …`, in the order of their passages.

    The count of all lines as a list, each with a dash and a line break, is at most `tokens_max`. Greedy
    coverage with scaled cost (Lin and Bilmes 2011, "A Class of Submodular Functions for Document
    Summarization"): a sentence counts for the terms that no chosen one has, so that what is said twice is
    kept once. Courtesies are never kept.
    """
    sentences = _sentences(passages)
    weights = _term_weights(sentences)
    covered: set[str] = set()
    lines = _Lines(passages, count)

    def gain(sentence: _Sentence) -> float:
        # Rounded once, so that the order in which a set is read makes no difference.
        told = math.fsum(weights[term] for term in sentence.terms - covered)
        return _WEIGHTS[sentence.voice] * told / math.pow(len(sentence.text) + 20, _LENGTH_WEIGHT)

    # What a sentence adds only falls as others are chosen: one that still leads when it is looked at again
    # leads them all.
    waiting = [(-gain(sentence), number) for number, sentence in enumerate(sentences)]
    heapq.heapify(waiting)
    misses = 0
    while waiting and misses < _MISSES_MAX:
        _, number = heapq.heappop(waiting)
        sentence = sentences[number]
        now = gain(sentence)
        if now <= 0:
            continue
        if waiting and -now > waiting[0][0]:
            heapq.heappush(waiting, (-now, number))
            continue
        if lines.add(sentence, tokens_max):
            covered |= sentence.terms
        else:
            misses += 1
    return lines.text()


class _Lines:
    """What was chosen, as lines, with their exact count."""

    def __init__(self, passages: Sequence[Passage], count: Count) -> None:
        self._passages = passages
        self._count = count
        self._chosen: dict[int, dict[int, str]] = {}
        self._tokens: dict[int, int] = {}
        self._used = 0

    def add(self, sentence: _Sentence, tokens_max: int) -> bool:
        """Take a sentence if its line still fits."""
        held = self._chosen.get(sentence.passage, {})
        longer = {**held, sentence.place: sentence.text}
        tokens = self._count(f"- {self._line(sentence.passage, longer)}\n")
        used = self._used - self._tokens.get(sentence.passage, 0) + tokens
        if used > tokens_max:
            return False
        self._chosen[sentence.passage] = longer
        self._tokens[sentence.passage] = tokens
        self._used = used
        return True

    def text(self) -> Sequence[str]:
        """Answer the lines in the order of their passages."""
        return [self._line(passage, self._chosen[passage]) for passage in sorted(self._chosen)]

    def _line(self, passage: int, chosen: dict[int, str]) -> str:
        return f"{self._passages[passage].label}: {' '.join(chosen[place] for place in sorted(chosen))}"


def _sentences(passages: Sequence[Passage]) -> list[_Sentence]:
    share = min(PASSAGE_CHARACTERS_MAX, CHARACTERS_MAX // max(1, len(passages)))
    found: list[_Sentence] = []
    # The newest first: where there are too many, the oldest passages are left to what must survive.
    for number in reversed(range(len(passages))):
        passage = passages[number]
        for place, text in enumerate(split_sentences(head_and_tail(passage.text, share))):
            if not is_courtesy(text):
                found.append(_Sentence(number, place, text, passage.voice, terms_of(text)))
        if len(found) >= _SENTENCES_MAX:
            break
    return found[:_SENTENCES_MAX]


def _term_weights(sentences: Sequence[_Sentence]) -> dict[str, float]:
    """Answer how much each term tells: most what returns and is not everywhere."""
    held = Counter(term for sentence in sentences for term in sentence.terms)
    return {
        term: math.log(1 + len(sentences) / number)
        * math.log(1 + number)
        * (_NUMBER_WEIGHT if any(map(str.isdigit, term)) else 1.0)
        for term, number in held.items()
    }
