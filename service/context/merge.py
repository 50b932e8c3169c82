"""Finds candidates that say the same: only the one that counts most stays. Pure."""

import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final

import regex

from service.context.model import Candidate, OmissionReason
from service.policies.words import Authority, SectionName

_WORD: Final = regex.compile(r"[\p{L}\p{M}\p{N}]+")
_FILLERS: Final = frozenset({"a", "an", "the"})
_ORDER: Final = (SectionName.EVIDENCE, SectionName.OBSERVATIONS, SectionName.MEMORIES)
"""Among equals of one authority, the section that can be cited back to its source stays."""


def normalise(text: str) -> str:
    """Answer what makes two texts near duplicates when it is equal.

    Case, width, accents' spelling, white space, punctuation and articles do not count. Every other word,
    every number and every sign between digits does: one may turn a statement into its contrary.
    """
    folded = unicodedata.normalize("NFKC", text).casefold()
    words = _WORD.findall(folded)
    signs = regex.findall(r"(?<=\d)[^\s\w](?=\d)|[-+](?=\d)", folded)
    return " ".join([word for word in words if word not in _FILLERS]) + "|" + "".join(signs)


def merge_duplicates(
    sections: Mapping[SectionName, Sequence[Candidate]],
) -> Mapping[SectionName, Sequence[Candidate]]:
    """Answer the sections with every repeated candidate marked `duplicate`.

    Of equal texts the one of the highest authority stays, then the one that was wanted most. Exact and near
    duplicates count alike; conversation is left as it was said.
    """
    best: dict[str, tuple[tuple[int, int, int], tuple[SectionName, int]]] = {}
    keys: dict[tuple[SectionName, int], str] = {}
    for place, name in enumerate(_ORDER):
        for number, candidate in _open(sections.get(name, ())):
            key = normalise(candidate.text)
            rank = (_authority(candidate), place, number)
            keys[name, number] = key
            if key not in best or rank < best[key][0]:
                best[key] = (rank, (name, number))
    kept = {where for _, where in best.values()}
    return {
        name: [
            replace(candidate, reason=OmissionReason.DUPLICATE)
            if (name, number) in keys and (name, number) not in kept
            else candidate
            for number, candidate in enumerate(candidates)
        ]
        for name, candidates in sections.items()
    }


def _open(candidates: Sequence[Candidate]) -> Iterable[tuple[int, Candidate]]:
    return ((number, one) for number, one in enumerate(candidates) if one.reason is None and one.text.strip())


def _authority(candidate: Candidate) -> int:
    return Authority(candidate.authority).rank if candidate.authority is not None else len(Authority)
