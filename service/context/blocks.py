"""Makes each candidate's block: the whole lines that it takes in its section, and their exact count.

A block begins with "[", "#", "<", "-" or "{" and ends with a line break: there every exact encoding splits,
so the counts of blocks add up to the count of their sum.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from types import MappingProxyType
from typing import Final

from service.context.fence import SAMPLE_MARKER, close_section, is_one_line, one_line, open_section, quote
from service.context.model import Candidate, Group, Part, SectionPlan, Shape
from service.context.offers import Offer
from service.context.truncate import Cutter, truncate
from service.core.text import cut_at_grapheme, strip_hidden
from service.evidence.flags import Flag
from service.policies.words import SectionName

Count = Callable[[str], int]
"""Answers the exact number of tokens of a text in the package's encoding."""

_CARD_CHARACTERS: Final = 2_000
"""A card's first tokens are looked for in so many characters, whatever the length of the text."""
_CUT_TOKENS_MIN: Final = 24
"""A shorter rest of a text is not worth its label."""

IS_FENCED: Final[Mapping[SectionName, bool]] = MappingProxyType(
    {
        SectionName.INSTRUCTIONS: False,
        SectionName.TOOLS: False,
        SectionName.SCOPE: False,
        SectionName.GOAL: True,
        SectionName.HISTORY: True,
        SectionName.MEMORIES: True,
        SectionName.EVIDENCE: True,
        SectionName.OBSERVATIONS: True,
        SectionName.STATE: True,
        SectionName.LIMITS: False,
    }
)
"""Which sections quote others. The rest is written by the service or comes from the policy bundle."""
assert IS_FENCED.keys() == set(SectionName)


def section_head(name: SectionName, marker: str, standing: str = "") -> str:
    """Answer the lines above a section's blocks. `standing` holds for all groups that say nothing else."""
    title = f"# {name}: {standing} unless noted\n" if standing else f"# {name}\n"
    return title + (open_section(marker) if IS_FENCED[name] else "")


def section_foot(name: SectionName, marker: str) -> str:
    """Answer the line below a section's blocks, if it needs one."""
    return close_section(marker) if IS_FENCED[name] else ""


def group_head(group: Group) -> str:
    """Answer the line that says once what a group's pieces share."""
    notes = ", ".join(part for part in (group.standing, group.note) if part)
    return f"## {one_line(f'{group.title} ({notes})' if notes else group.title)}\n"


def whole_block(candidate: Candidate, citation: str, marker: str) -> str:
    """Answer the candidate's block in full."""
    return "".join(
        _piece(candidate, _label(citation, part.label), part.text, marker) for part in candidate.parts
    )


def as_shown(candidate: Candidate) -> Candidate:
    """Answer the candidate as readers see it: without invisible characters that only models read."""
    texts = [strip_hidden(part.text) for part in candidate.parts]
    if all(text == part.text for text, part in zip(texts, candidate.parts, strict=True)):
        return candidate
    parts = (Part(part.label, text) for text, part in zip(texts, candidate.parts, strict=True))
    return replace(
        candidate, parts=tuple(parts), flags=tuple(dict.fromkeys((*candidate.flags, Flag.HIDDEN_TEXT)))
    )


def cut_block(candidate: Candidate, pieces: Sequence[str], citation: str, marker: str) -> str:
    """Answer the block of a single-part candidate of which one piece is left, or its beginning and end.

    Labels tell the two apart: nothing is written into the content where something is missing.
    """
    label = _label(citation, candidate.parts[0].label)
    if len(pieces) == 1:
        return _piece(candidate, label, pieces[0], marker)
    return "".join(
        _piece(candidate, _label(label, name), piece, marker)
        for name, piece in zip(("beginning", "end"), pieces, strict=True)
    )


def card_block(text: str, citation: str, marker: str) -> str:
    """Answer a card's block."""
    return quote(_label(citation, "card"), text, marker)


def card_text(candidate: Candidate, tokens: int, count: Count) -> str:
    """Answer a card: the title and the text's first `tokens` tokens."""
    title = one_line(candidate.card_title or candidate.kind)
    text = one_line(candidate.text[: cut_at_grapheme(candidate.text, _CARD_CHARACTERS)])
    if count(text) > tokens:
        text = truncate(text, lambda kept: count(kept) <= tokens, shape=Shape.PROSE) or ""
    return f"{title}: {text}"


class Planner:
    """Turns a section's candidates into offers, and remembers the cuts and cards that it tried."""

    def __init__(self, plan: SectionPlan, count: Count) -> None:
        self._candidates = plan.open_candidates
        self._card_tokens = plan.card_tokens
        self._count = count
        # As many digits as the last citation can have: a label drawn later never takes more tokens.
        self._number = "9" * len(str(len(self._candidates)))
        self._cutters: dict[int, Cutter] = {}
        self.cuts: dict[tuple[int, int], tuple[str, ...]] = {}
        """What cuts left by candidate and the count of their block."""
        self.cards: dict[int, str] = {}
        self._card_counts: dict[int, int] = {}
        self._group_counts: dict[str, int] = {}

    def offer(self, index: int) -> Offer:
        """Answer the candidate in numbers, counted on its rendered block."""
        candidate = self._candidates[index]
        group = candidate.group
        can_cut = len(candidate.parts) == 1 and candidate.shape is not Shape.WHOLE
        return Offer(
            tokens=self._count(whole_block(candidate, self._sample(candidate), SAMPLE_MARKER)),
            required=candidate.required,
            summary=candidate.summary,
            may_be_cut=candidate.may_be_cut,
            group=group.key if group else None,
            group_tokens=self._count_group(group) if group else 0,
            card=partial(self._card, index) if candidate.card_title is not None else None,
            cut=partial(self._cut, index) if can_cut else None,
            value=candidate.scores.get("score"),
        )

    def count_closed(self, candidate: Candidate) -> int:
        """Count the block of a candidate that something else than the budget keeps out."""
        return self._count(whole_block(candidate, self._sample(candidate), SAMPLE_MARKER))

    def _sample(self, candidate: Candidate) -> str:
        return f"{candidate.cite}{self._number}" if candidate.cite else ""

    def _count_group(self, group: Group) -> int:
        if group.key not in self._group_counts:
            self._group_counts[group.key] = self._count(group_head(group))
        return self._group_counts[group.key]

    def _card(self, index: int) -> int:
        if index not in self._card_counts:
            candidate = self._candidates[index]
            self.cards[index] = card_text(candidate, self._card_tokens, self._count)
            block = card_block(self.cards[index], self._sample(candidate), SAMPLE_MARKER)
            self._card_counts[index] = self._count(block)
        return self._card_counts[index]

    def _cut(self, index: int, room: int) -> int:
        candidate = self._candidates[index]
        if room < _CUT_TOKENS_MIN:
            return 0

        def tokens_of(pieces: Sequence[str]) -> int:
            return self._count(cut_block(candidate, pieces, self._sample(candidate), SAMPLE_MARKER))

        if index not in self._cutters:
            self._cutters[index] = Cutter.of_shape(candidate.text, candidate.shape)
        pieces = self._cutters[index].longest(lambda pieces: tokens_of(pieces) <= room)
        if pieces is None:
            return 0
        tokens = tokens_of(pieces)
        self.cuts[index, tokens] = pieces
        return tokens


def _piece(candidate: Candidate, label: str, text: str, marker: str) -> str:
    if not candidate.trusted:
        return quote(label, text, marker)
    if is_one_line(text):
        return f"- {label}: {text}\n"
    return f"## {label}\n{text}\n"


def _label(citation: str, label: str) -> str:
    return f"{citation} {label}".strip()
