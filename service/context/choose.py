"""What was chosen of a section, and the order in which it is read."""

from collections.abc import Sequence
from dataclasses import dataclass

from service.context.blocks import Count, Planner, card_block, cut_block, whole_block
from service.context.model import Candidate, Item, SectionPlan, Truncation
from service.context.offers import Fate, Packed


@dataclass(frozen=True, slots=True)
class Chosen:
    """One taken candidate: how, what of its text is shown, and the counts of that text and the whole one."""

    index: int
    candidate: Candidate
    fate: Fate
    pieces: tuple[str, ...]
    tokens: int
    of: int

    @property
    def text(self) -> str:
        """The shown text; where only beginning and end are left, one after the other."""
        return "\n".join(self.pieces)

    def block(self, citation: str, marker: str) -> str:
        """Answer its lines in the section."""
        match self.fate:
            case Fate.CARD:
                return card_block(self.text, citation, marker)
            case Fate.CUT:
                return cut_block(self.candidate, self.pieces, citation, marker)
            case _:
                return whole_block(self.candidate, citation, marker)

    def item(self, citation: str) -> Item:
        """Answer it as an item of the package."""
        cut = Truncation(min(self.tokens, self.of), self.of) if self.fate is not Fate.WHOLE else None
        return Item(
            self.candidate, citation, self.tokens, self.text, cut, self._span(), self.fate is Fate.CARD
        )

    def _span(self) -> tuple[int, int] | None:
        """Answer where the shown text stands in its source: of a cut only that part."""
        span, whole = self.candidate.span, self.candidate.text
        if span is None or self.fate is not Fate.CUT or span[1] - span[0] != len(whole):
            return span
        if whole.startswith(self.text):
            return span[0], span[0] + len(self.text)
        return (span[1] - len(self.text), span[1]) if whole.endswith(self.text) else span


def choose(plan: SectionPlan, planner: Planner, packed: Packed, count: Count) -> list[Chosen]:
    """Answer what `packed` takes of the plan's open candidates, most wanted first."""
    chosen = []
    taken = zip(plan.open_candidates, packed.fates, packed.tokens, strict=True)
    for index, (candidate, fate, block_tokens) in enumerate(taken):
        if fate is Fate.OUT:
            continue
        whole = candidate.text
        pieces: tuple[str, ...] = (whole,)
        if fate is Fate.CUT:
            pieces = planner.cuts[index, block_tokens]
        elif fate is Fate.CARD:
            pieces = (planner.cards[index],)
        of = count(whole)
        tokens = of if fate is Fate.WHOLE else count("\n".join(pieces))
        chosen.append(Chosen(index, candidate, fate, pieces, tokens, of))
    return chosen


def in_reading_order(chosen: Sequence[Chosen], plan: SectionPlan) -> list[Chosen]:
    """Order for reading: groups by their most wanted piece, the pieces of each by their place."""
    best: dict[str, int] = {}
    for one in chosen:
        best.setdefault(_cluster(one, plan), one.index)
    return sorted(chosen, key=lambda one: (best[_cluster(one, plan)], one.candidate.place, one.index))


def _cluster(one: Chosen, plan: SectionPlan) -> str:
    if one.candidate.group is not None:
        return f"group:{one.candidate.group.key}"
    # Without a group, what has a place is read in the order of places; the rest as it was ranked.
    return "placed" if one.candidate.place else f"alone:{plan.name}:{one.index}"
