"""Which older turns of a conversation may have to do with a question: a cheap look at all of them. Pure."""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from service.executions.compaction.sentences import folded, terms_of
from service.executions.conversation.model import TurnRole

_QUERY_TERMS_MAX: Final = 200
_TEXT_CHARACTERS_MAX: Final = 8_000
"""Of a longer turn the head is looked at."""


@dataclass(frozen=True, slots=True)
class Outlined:
    """A turn as far as it is looked at."""

    sequence: int
    role: TurnRole
    text: str | None


def recall(turns: Sequence[Outlined], query: str, *, count: int) -> Sequence[int]:
    """Answer the sequences of up to `count` turns that share most with the query, in their order.

    Shared terms count by their rarity among the turns; of equals the newer one counts more, and where too few
    share anything, the newest of the others fill up. A tool call brings its results along and they it: those
    come on top of `count`.
    """
    asked = frozenset(sorted(terms_of(query))[:_QUERY_TERMS_MAX])
    # A term that stands inside a longer word counts too: telling words apart takes ten times as long, and
    # what is chosen here is ranked properly afterwards.
    texts = [folded((turn.text or "")[:_TEXT_CHARACTERS_MAX]) for turn in turns]
    shared = [frozenset(term for term in asked if term in text) for text in texts]
    held = Counter(term for terms in shared for term in terms)
    told = [math.fsum(math.log(1 + len(turns) / held[term]) for term in terms) for terms in shared]
    best = sorted(range(len(turns)), key=lambda place: (-told[place], -place))[:count]
    chosen = {place for one in best for place in _whole(turns, one)}
    return [turns[place].sequence for place in sorted(chosen)]


def _whole(turns: Sequence[Outlined], place: int) -> range:
    """Answer the places of a turn and, where it is part of one, of its whole tool call."""
    begin, end = place, place + 1
    if turns[place].role is TurnRole.TOOL:
        while begin > 0 and turns[begin].role is TurnRole.TOOL:
            begin -= 1
    if turns[begin].role is TurnRole.ASSISTANT or turns[place].role is TurnRole.TOOL:
        while end < len(turns) and turns[end].role is TurnRole.TOOL:
            end += 1
    return range(begin, end)
