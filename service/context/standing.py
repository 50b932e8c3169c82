"""What counts more stands above what counts less and is about the same thing, however well it was found.

Business evidence goes before what somebody said in a conversation, and both go before what a model summed up.
What says otherwise than what stands above it is marked as contested. Sentences are compared by their words:
only what is said in much the same ones is known to be about the same thing. Pure.
"""

import re
from collections import Counter, defaultdict
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
_SENTENCES_MAX: Final = (64, 8, 8)
"""So many sentences of a text are looked at, by its standing."""
_HOLDERS_MAX: Final = 200
"""A word that stands in more sentences than these tells none from another."""
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


def put_standing_first(candidates: Sequence[Candidate]) -> Sequence[Candidate]:
    """Answer the candidates, the best first, with none below one of lower standing on the same thing.

    What moves up goes right above the first that it outranks; all others keep their order. One that says
    another number than what outranks it, or denies what that does not, is `contested`: flag and label.
    """
    standings = [_standing(one) for one in candidates]
    if len(set(standings)) < 2:  # noqa: PLR2004 - one standing has nothing above it
        return candidates
    said = [_read(one, standing) for one, standing in zip(candidates, standings, strict=True)]
    same = _same_things(said, standings)
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
    # In their own order: sets of words have another one in each process.
    for other in sorted(same.get(place, ())):
        _append(other, same, order)
    order.append(place)


def _standing(candidate: Candidate) -> int:
    return 0 if candidate.authority is None else _STANDINGS.get(Authority(candidate.authority), 0)


def _read(candidate: Candidate, standing: int) -> Sequence[_Sentence]:
    """Answer the distinct sentences of a candidate, of a long one the first ones."""
    text = candidate.text[:_CHARACTERS_MAX]
    # Who speaks is no part of what is said.
    parts = _SENTENCE_END.split(_SPEAKER.sub("", text) if standing else text)
    return list(dict.fromkeys(_sentence(part) for part in parts))[: _SENTENCES_MAX[standing]]


def _sentence(text: str) -> _Sentence:
    words = _WORD.findall(text.casefold())
    return _Sentence(
        frozenset(word for word in words if len(word) >= _LETTERS_MIN or not word.isascii()),
        frozenset(word for word in words if word.isdigit()),
        denies=not _DENIALS.isdisjoint(words),
    )


def _same_things(
    said: Sequence[Sequence[_Sentence]], standings: Sequence[int]
) -> Mapping[int, Mapping[int, list[tuple[_Sentence, _Sentence]]]]:
    """Answer for each place, and each of higher standing on the same thing, the sentences that say so."""
    all_said = [(place, one) for place, sentences in enumerate(said) for one in sentences]
    lesser = [(place, one) for place, one in all_said if standings[place]]
    asked = frozenset().union(*(one.words for _, one in lesser))
    holders: dict[str, list[int]] = defaultdict(list)
    for number, (_, one) in enumerate(all_said):
        for word in one.words & asked:
            holders[word].append(number)
    same: dict[int, dict[int, list[tuple[_Sentence, _Sentence]]]] = {}
    for place, one in lesser:
        telling = [word for word in one.words if len(holders[word]) <= _HOLDERS_MAX]
        shared = Counter(number for word in telling for number in holders[word])
        enough = max(_WORDS_MIN, _SHARE_MIN * len(telling))
        for number, count in shared.items():
            other, higher = all_said[number]
            if count >= enough and standings[other] < standings[place]:
                same.setdefault(place, {}).setdefault(other, []).append((one, higher))
    return same


def _contested(candidate: Candidate) -> Candidate:
    parts = tuple(Part(f"{part.label} {CONTESTED}".strip(), part.text) for part in candidate.parts)
    return replace(candidate, parts=parts, flags=(*candidate.flags, CONTESTED))
