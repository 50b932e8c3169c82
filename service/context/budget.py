"""Shares a budget of tokens among sections. Pure: numbers in, numbers out, never one token over.

Each section states what it must have, what it should have at least (`minimum`), what it may have at most
(`maximum`) and what it could use. Required content is served first, then minimums, then everything by
priority; what a section leaves goes to the others, again by priority.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from service.core.errors import Invalid
from service.policies.words import Overflow

TOKENS_MAX: Final = 2_000_000
"""The largest budget that may be asked for."""

_CARD_MISSES_MAX: Final = 4
"""After so many cards that did not fit, no further one is tried."""


class BudgetTooSmall(Invalid):
    """Required content cannot fit.

    `needed_tokens` is what it takes: of the section where its own maximum is too small, else of the whole
    package (`max_tokens` less the reply's reserve).
    """

    code = "budget_too_small"
    title = "The budget cannot hold what the profile requires"

    def __init__(self, section: str, needed_tokens: int, *, is_of_section: bool = False) -> None:
        super().__init__(
            "Raise the budget or ask for a smaller profile.", section=section, needed_tokens=needed_tokens
        )
        self.section = section
        self.needed_tokens = needed_tokens
        self.is_of_section = is_of_section


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
    left out, whatever its section does.
    """

    tokens: int
    required: bool = False
    summary: bool = False
    may_be_cut: bool = False
    group: str | None = None
    group_tokens: int = 0
    card: Callable[[], int] | None = None
    cut: Callable[[int], int] | None = None


@dataclass(frozen=True, slots=True)
class Demand:
    """What a section wants. Offers stand most wanted first; `base_tokens` are paid once for any of them.

    A higher `priority` is served earlier, equal ones in the order given.
    """

    section: str
    offers: Sequence[Offer]
    base_tokens: int = 0
    minimum: int = 0
    maximum: int = TOKENS_MAX
    maximum_percent: int = 0
    """Where it is not 0, the maximum grows with the budget: to so many hundredths of it."""
    priority: int = 0
    overflow: Overflow = Overflow.DROP

    def budget_for(self, tokens: int) -> int | None:
        """Answer the least budget at which the section may take so many tokens, `None` where none will do."""
        if tokens <= self.maximum:
            return 0
        return -(-tokens * 100 // self.maximum_percent) if self.maximum_percent else None

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
    """What a section takes: the fate of each offer, in the demand's order, and its tokens."""

    limit: int
    used: int
    fates: tuple[Fate, ...]
    tokens: tuple[int, ...]
    """The count of each taken offer's block; for a cut, the room it was cut to."""


def allocate(demands: Sequence[Demand], budget: int) -> tuple[Packed, ...]:
    """Answer what each demand gets, in the order given. The sum of `used` never exceeds `budget`.

    Raises `BudgetTooSmall` when required content does not fit.
    """
    _check_required(demands, budget)
    order = sorted(range(len(demands)), key=lambda index: -demands[index].priority)
    reserved = [demand.required_tokens for demand in demands]
    pool = budget - sum(reserved)
    for index in order:
        demand = demands[index]
        wanted = min(max(demand.minimum, reserved[index]), demand.maximum, demand.wish_tokens)
        extra = min(max(0, wanted - reserved[index]), pool)
        reserved[index] += extra
        pool -= extra
    packed: list[Packed | None] = [None] * len(demands)
    # The second round hands what low priorities left of their minimums to the high ones.
    for _ in range(2):
        for index in order:
            before = packed[index]
            held = reserved[index] if before is None else before.used
            if before is not None and (pool == 0 or all(fate is Fate.WHOLE for fate in before.fates)):
                continue
            after = pack(demands[index], min(demands[index].maximum, held + pool))
            pool += held - after.used
            packed[index] = after
            assert pool >= 0, "a section took more than its limit"
    result = tuple(part for part in packed if part is not None)
    assert len(result) == len(demands)
    assert sum(part.used for part in result) <= budget
    return result


def pack(demand: Demand, limit: int) -> Packed:
    """Choose from one section's offers what fits into `limit` tokens, which holds all that is required.

    Takes greedily in the order of preference; one that does not fit does not keep smaller ones out.
    """
    if demand.overflow is Overflow.SUMMARY:
        return _pack_with_summary(demand, limit)
    return _pack(demand, limit, range(len(demand.offers)))


def _pack_with_summary(demand: Demand, limit: int) -> Packed:
    # The records outrank their summary: it comes in only when they do not all fit, and then in its own place.
    optional = [offer.summary and not demand.is_required(offer) for offer in demand.offers]
    summaries = [index for index, is_optional in enumerate(optional) if is_optional]
    records = [index for index, is_optional in enumerate(optional) if not is_optional]
    alone = _pack(demand, limit, records)
    if not summaries or all(alone.fates[index] is Fate.WHOLE for index in records):
        return alone
    return _pack(demand, limit, range(len(demand.offers)))


def _pack(demand: Demand, limit: int, order: Sequence[int]) -> Packed:
    """Pack the offers named in `order`, the others stay out."""
    tray = _Tray(demand, limit)
    first = [index for index in order if demand.is_required(demand.offers[index])]
    rest = [index for index in order if not demand.is_required(demand.offers[index])]
    for index in first:
        tray.put(index, Fate.WHOLE, demand.offers[index].tokens)
    may_cut = demand.overflow is Overflow.TRUNCATE
    for index in rest:
        offer = demand.offers[index]
        if tray.put(index, Fate.WHOLE, offer.tokens):
            continue
        if (may_cut or offer.may_be_cut) and offer.cut is not None:
            may_cut = False
            kept = offer.cut(tray.room(offer))
            if kept:
                tray.put(index, Fate.CUT, kept)
    if demand.overflow is Overflow.CARDS:
        _add_cards(tray, demand, rest)
    return Packed(limit, tray.used, tuple(tray.fates), tuple(tray.tokens))


def _add_cards(tray: "_Tray", demand: Demand, order: Sequence[int]) -> None:
    misses = 0
    for index in order:
        offer = demand.offers[index]
        if offer.card is None or tray.fates[index] is not Fate.OUT:
            continue
        if not tray.put(index, Fate.CARD, offer.card()):
            # Cards are about as large as each other, and each has to be written before it is known.
            misses += 1
            if misses == _CARD_MISSES_MAX:
                return


class _Tray:
    """Holds what one section has taken so far."""

    def __init__(self, demand: Demand, limit: int) -> None:
        self._demand = demand
        self._limit = limit
        self._groups: set[str] = set()
        self.used = 0
        self.fates = [Fate.OUT] * len(demand.offers)
        self.tokens = [0] * len(demand.offers)

    def put(self, index: int, fate: Fate, tokens: int) -> bool:
        """Take the offer if its tokens, and what it brings along, still fit."""
        offer = self._demand.offers[index]
        if tokens > self.room(offer):
            return False
        self.used += tokens + self._overhead(offer)
        if offer.group is not None:
            self._groups.add(offer.group)
        self.fates[index] = fate
        self.tokens[index] = tokens
        return True

    def room(self, offer: Offer) -> int:
        """Tokens left for the offer's own block; may be negative."""
        return self._limit - self.used - self._overhead(offer)

    def _overhead(self, offer: Offer) -> int:
        base = 0 if self.used else self._demand.base_tokens
        is_new_group = offer.group is not None and offer.group not in self._groups
        return base + (offer.group_tokens if is_new_group else 0)


def _check_required(demands: Sequence[Demand], budget: int) -> None:
    needed = sum(demand.required_tokens for demand in demands)
    running = 0
    for demand in sorted(demands, key=lambda demand: -demand.priority):
        required = demand.required_tokens
        if required > demand.maximum:
            raise BudgetTooSmall(demand.section, required, is_of_section=True)
        running += required
        if running > budget:
            raise BudgetTooSmall(demand.section, needed)


def sufficient_budgets(
    demands: Sequence[Demand], packed: Sequence[Packed], overhead: int
) -> Sequence[Sequence[int | None]]:
    """Answer, for each offer that is not in whole, a budget (`overhead` included) with which it would be.

    `None` for what is in, and for what its section keeps out at any budget. Counted so that everything wanted
    more fits too: by priority, then by preference; what is wanted less keeps its minimum. An estimate where
    minimums grow with the budget.
    """
    answers: list[list[int | None]] = [[None] * len(demand.offers) for demand in demands]
    needed = overhead + sum(_kept(demand, part) for demand, part in zip(demands, packed, strict=True))
    for index in sorted(range(len(demands)), key=lambda index: -demands[index].priority):
        demand, part = demands[index], packed[index]
        needed -= _kept(demand, part) - part.used
        inside = part.used
        for number, (offer, fate) in enumerate(zip(demand.offers, part.fates, strict=True)):
            if fate is Fate.WHOLE:
                continue
            extra = offer.tokens + offer.group_tokens + (demand.base_tokens if not part.used else 0)
            inside += extra
            needed += extra
            least = demand.budget_for(inside)
            if least is not None and max(needed, least) <= TOKENS_MAX:
                answers[index][number] = max(needed, least)
    return answers


def _kept(demand: Demand, part: Packed) -> int:
    """Answer what a section of lower priority may keep from others: its minimum, and as much to grow by."""
    return max(part.used, min(demand.wish_tokens, 2 * demand.minimum))
