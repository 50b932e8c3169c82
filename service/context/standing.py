"""What counts more stands above what counts less and is about the same thing, however well it was found.

Business evidence goes before what somebody said in a conversation, and both go before what a model summed up.
What says otherwise than what stands above it is marked as contested. Sentences are compared by their words:
only what is said in much the same ones is known to be about the same thing. Pure.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from service.context.model import Candidate, Part
from service.policies.words import Authority

CONTESTED: Final = "contested"
"""The flag, and the label in the text, of what something of higher standing contradicts."""
_STANDINGS: Final = {Authority.CONVERSATION: 1, Authority.MODEL_SUMMARY: 2}
"""All other evidence is business evidence: 0."""
_SHARE_MIN: Final = 0.6
"""So much of a sentence's telling words stand in one that is about the same thing."""
_WORDS_MIN: Final = 3
_CHARACTERS_MAX: Final = 8_000
_WORD: Final = re.compile(r"[^\W_]+")
_SENTENCE_END: Final = re.compile(r"(?<=[.!?])\s+|\n+|(?<=[\u3002\uff01\uff1f])")
_SPEAKER: Final = re.compile(r"^[^:\n]{1,60}:\s")
_LETTERS_MIN: Final = 4
"""Shorter words say what holds a sentence together."""
_DENIALS: Final = frozenset({"not", "no", "never", "none", "without", "nicht", "kein", "keine", "nie"})


@dataclass(frozen=True, slots=True)
class _Sentence:
    """What a sentence is about, which numbers it names and whether it denies."""

    words: frozenset[str]
    numbers: frozenset[str]
    denies: bool

    def agrees(self, higher: "_Sentence") -> bool:
        """Say whether it names no other number, and denies where the other one does."""
        return self.numbers <= higher.numbers and self.denies == higher.denies


@dataclass(frozen=True, slots=True)
class _Said:
    """The sentences of a text, and the words of all of them."""

    sentences: tuple[_Sentence, ...]
    words: frozenset[str]


def put_standing_first(candidates: Sequence[Candidate]) -> Sequence[Candidate]:
    """Answer the candidates, the best first, with none below one of lower standing on the same thing.

    What moves up goes right above the first that it outranks; all others keep their order. One that says
    another number than what outranks it, or denies what that does not, is `contested`: flag and label.
    """
    standings = [_standing(one) for one in candidates]
    if len(set(standings)) < 2:  # noqa: PLR2004 - one standing has nothing above it
        return candidates
    said = [_read(one, standing) for one, standing in zip(candidates, standings, strict=True)]
    lesser = [place for place, standing in enumerate(standings) if standing]
    same = {
        place: {
            other: pairs
            for other in range(len(candidates))
            if standings[other] < standings[place] and (pairs := _same_thing(said[place], said[other]))
        }
        for place in lesser
    }
    order: list[int] = []
    for place in range(len(candidates)):
        _append(place, same, order)
    contested = {
        place
        for place, others in same.items()
        if any(not any(one.agrees(other) for one, other in pairs) for pairs in others.values())
    }
    return [_contested(candidates[place]) if place in contested else candidates[place] for place in order]


def _append(place: int, same: Mapping[int, Iterable[int]], order: list[int]) -> None:
    """Add a place after all that outranks it: that is of higher standing, so no chain of them closes."""
    if place in order:
        return
    for other in same.get(place, ()):
        _append(other, same, order)
    order.append(place)


def _standing(candidate: Candidate) -> int:
    return 0 if candidate.authority is None else _STANDINGS.get(Authority(candidate.authority), 0)


def _read(candidate: Candidate, standing: int) -> _Said:
    text = candidate.text[:_CHARACTERS_MAX]
    # Who speaks is no part of what is said.
    parts = _SENTENCE_END.split(_SPEAKER.sub("", text) if standing else text)
    sentences = tuple(_sentence(part) for part in parts)
    return _Said(sentences, frozenset().union(*(one.words for one in sentences)))


def _sentence(text: str) -> _Sentence:
    words = _WORD.findall(text.casefold())
    return _Sentence(
        frozenset(word for word in words if len(word) >= _LETTERS_MIN or not word.isascii()),
        frozenset(word for word in words if word.isdigit()),
        denies=not _DENIALS.isdisjoint(words),
    )


def _same_thing(lesser: _Said, higher: _Said) -> Sequence[tuple[_Sentence, _Sentence]]:
    """Answer the pairs of sentences that are about the same thing."""
    return [
        (one, other)
        for one in lesser.sentences
        if _is_in(one.words, higher.words)
        for other in higher.sentences
        if _is_in(one.words, other.words)
    ]


def _is_in(words: frozenset[str], others: frozenset[str]) -> bool:
    return len(words) >= _WORDS_MIN and len(words & others) >= max(_WORDS_MIN, _SHARE_MIN * len(words))


def _contested(candidate: Candidate) -> Candidate:
    parts = tuple(Part(f"{part.label} {CONTESTED}".strip(), part.text) for part in candidate.parts)
    return replace(candidate, parts=parts, flags=(*candidate.flags, CONTESTED))
