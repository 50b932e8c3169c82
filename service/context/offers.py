"""Candidates in numbers: what sections offer, what they demand, and what becomes of it. Pure."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from service.policies.words import Overflow

TOKENS_MAX: Final = 2_000_000
"""The largest budget that may be asked for."""


class Fate(StrEnum):
    """What becomes of an offer."""

    OUT = "out"
    WHOLE = "whole"
    CUT = "cut"
    CARD = "card"


@dataclass(frozen=True, slots=True)
class Offer:
    """One candidate in numbers. `tokens` is its block's exact count.

    `group_tokens` are paid once by the first offer of a `group`. `cut` answers, for a number of tokens, the
    exact count of its longest valid cut within them (0: none). `card` answers its count as a card.
    `summary` marks one that stands in for others of its section, `may_be_cut` one that is rather cut than
    left out, whatever its section does. `value` is what it is worth in whole, where it was ranked.
    """

    tokens: int
    required: bool = False
    summary: bool = False
    may_be_cut: bool = False
    group: str | None = None
    group_tokens: int = 0
    card: Callable[[], int] | None = None
    cut: Callable[[int], int] | None = None
    value: float | None = None


@dataclass(frozen=True, slots=True)
class Demand:
    """What a section wants. Offers stand most wanted first; `base_tokens` are paid once for any of them.

    A higher `priority` is served earlier, equal ones in the order given. `limits` answers minimum and maximum
    for another budget; without it they are the same for all.
    """

    section: str
    offers: Sequence[Offer]
    base_tokens: int = 0
    minimum: int = 0
    maximum: int = TOKENS_MAX
    priority: int = 0
    overflow: Overflow = Overflow.DROP
    limits: Callable[[int], tuple[int, int]] | None = None

    def limits_at(self, budget: int) -> tuple[int, int]:
        """Answer minimum and maximum in a package of so many tokens; neither falls as those rise."""
        return (self.minimum, self.maximum) if self.limits is None else self.limits(budget)

    def is_required(self, offer: Offer) -> bool:
        """Say whether the package cannot be without the offer."""
        return offer.required or self.overflow is Overflow.ERROR

    @property
    def required_tokens(self) -> int:
        """Tokens of all that is required, with the base and groups that it brings along."""
        return self._cost([offer for offer in self.offers if self.is_required(offer)])

    @property
    def wish_tokens(self) -> int:
        """Tokens of everything offered."""
        return self._cost(self.offers)

    def _cost(self, offers: Sequence[Offer]) -> int:
        if not offers:
            return 0
        groups = {offer.group: offer.group_tokens for offer in offers if offer.group is not None}
        return self.base_tokens + sum(offer.tokens for offer in offers) + sum(groups.values())


@dataclass(frozen=True, slots=True)
class Packed:
    """What a section takes: the fate of each offer, in the demand's order, and its tokens.

    The same is taken at every limit from `same_from` up to `same_up_to`.
    """

    used: int
    fates: tuple[Fate, ...]
    tokens: tuple[int, ...]
    """The count of each taken offer's block."""
    needs: tuple[int, ...]
    """For each offer that is out, the limit at which it would be in after what was taken before it."""
    same_from: int
    same_up_to: int
