"""What a section's choice is worth, and what another choice could be worth at most. Pure.

The bound is that of the fractional knapsack (Dantzig 1957): what is worth most for each token, the last of it
in part. No choice that fits is worth more.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from service.context.offers import Demand, Fate, Offer, Packed

_DIGITS: Final = 6


@dataclass(frozen=True, slots=True)
class Worth:
    """The sum of what was taken, and by how much the best choice could pass it."""

    value: float
    lost_at_most: float


def worth_of(demand: Demand, packed: Packed, limit: int) -> Worth | None:
    """Answer the worth of what `packed` takes of `limit` tokens, `None` where nothing is ranked.

    A cut is worth its share of the whole, a card nothing.
    """
    if all(offer.value is None for offer in demand.offers):
        return None
    required = value = 0.0
    room = limit - demand.base_tokens
    free: list[Offer] = []
    for offer, fate, tokens in zip(demand.offers, packed.fates, packed.tokens, strict=True):
        whole = offer.value or 0.0
        if demand.is_required(offer):
            required += whole
            room -= offer.tokens
            continue
        free.append(offer)
        if fate is Fate.WHOLE:
            value += whole
        elif fate is Fate.CUT:
            value += whole * tokens / offer.tokens
    lost = max(0.0, _most(free, room) - value)
    return Worth(round(required + value, _DIGITS), round(lost, _DIGITS))


def _most(free: Sequence[Offer], room: int) -> float:
    """Answer what the most valuable fractions that fit into `room` tokens are worth; groups cost nothing."""
    most = 0.0
    for offer in sorted(free, key=lambda offer: -(offer.value or 0.0) / offer.tokens):
        if room <= 0:
            break
        most += (offer.value or 0.0) * min(1.0, room / offer.tokens)
        room -= offer.tokens
    return most
