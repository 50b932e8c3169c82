"""Finds candidates that say the same: only the one that counts most stays. Pure."""

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from service.context.model import Candidate, Merged, OmissionReason
from service.policies.words import Authority, SectionName

_WORD: Final = re.compile(r"[^\W_]+")
_SIGN: Final = re.compile(r"(?<=\d)[^\s\w](?=\d)|[-+](?=\d)")
_FILLERS: Final = frozenset({"a", "an", "the"})
_ENDING_CHARACTERS: Final = 120
_ENDING_WORDS: Final = 4
_ORDER: Final = (SectionName.EVIDENCE, SectionName.OBSERVATIONS, SectionName.MEMORIES)
"""Among equals of one authority, the section that can be cited back to its source stays."""


def normalise(text: str) -> str:
    """Answer what makes two texts near duplicates when it is equal.

    Case, width, accents' spelling, white space, punctuation and articles do not count. Every other word,
    every number and every sign between digits does: one may turn a statement into its contrary.
    """
    folded = (text if text.isascii() else unicodedata.normalize("NFKC", text)).casefold()
    words = [word for word in _WORD.findall(folded) if word not in _FILLERS]
    return f"{' '.join(words)}|{''.join(_SIGN.findall(folded))}"


def merge_duplicates(
    sections: Mapping[SectionName, Sequence[Candidate]],
) -> Mapping[SectionName, Sequence[Candidate]]:
    """Answer the sections with every repeated candidate marked `duplicate`, and named by the one that stays.

    Of equal texts the one of the highest authority stays, then the one that was wanted most. Exact and near
    duplicates count alike; conversation is left as it was said.
    """
    alike: dict[str, list[_Place]] = {}
    for section, name in enumerate(_ORDER):
        for number, candidate in _open(sections.get(name, ())):
            place = _Place((_authority(candidate), section, number), name, number, candidate.text)
            alike.setdefault(_ending(candidate.text), []).append(place)
    stays_for = {
        (place.name, place.number): best
        for places in alike.values()
        if len(places) > 1
        for place, best in _all_but_best(places)
    }
    merged: dict[tuple[SectionName, int], list[Merged]] = {}
    for (name, number), best in stays_for.items():
        merged.setdefault((best.name, best.number), []).append(_merged(sections[name][number]))
    return {
        name: [
            _settled(candidate, (name, number) in stays_for, merged.get((name, number), ()))
            for number, candidate in enumerate(candidates)
        ]
        for name, candidates in sections.items()
    }


def _settled(candidate: Candidate, is_repeated: bool, merged: Sequence[Merged]) -> Candidate:
    if is_repeated:
        return replace(candidate, reason=OmissionReason.DUPLICATE)
    return replace(candidate, merged=tuple(merged)) if merged else candidate


def _merged(one: Candidate) -> Merged:
    return Merged(one.kind, one.id, one.version, one.span, one.sha256, one.source)


@dataclass(frozen=True, slots=True, order=True)
class _Place:
    """Where a candidate stands. Of equal texts the lowest `rank` stays."""

    rank: tuple[int, int, int]
    name: SectionName
    number: int
    text: str


def _all_but_best(places: Sequence[_Place]) -> Iterable[tuple[_Place, _Place]]:
    """Yield each place but the best of its text, with that one."""
    kept: dict[str, _Place] = {}
    for place in sorted(places):
        best = kept.setdefault(normalise(place.text), place)
        if best is not place:
            yield place, best


def _ending(text: str) -> str:
    """Answer what texts with equal `normalise` share and most others do not, from a look at the end alone."""
    end = text[-_ENDING_CHARACTERS:]
    words = normalise(end).partition("|")[0].split()
    # The first word of the piece may be the rest of one; what remains is the end of the whole's words.
    return " ".join(words[1:][-_ENDING_WORDS:]) if len(end) < len(text) else " ".join(words[-_ENDING_WORDS:])


def _open(candidates: Sequence[Candidate]) -> Iterable[tuple[int, Candidate]]:
    return ((number, one) for number, one in enumerate(candidates) if one.reason is None and one.text.strip())


def _authority(candidate: Candidate) -> int:
    return Authority(candidate.authority).rank if candidate.authority is not None else len(Authority)
