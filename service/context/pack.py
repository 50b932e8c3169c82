"""Chooses what of one section fits into a number of tokens. Pure."""

from bisect import bisect_right, insort
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from service.context.offers import TOKENS_MAX, Demand, Fate, Offer, Packed
from service.policies.words import Overflow

_CARD_MISSES_MAX: Final = 4
"""After so many cards that did not fit, no further one is tried."""


class Packer:
    """Packs one section into any number of tokens, and remembers what it worked out."""

    def __init__(self, demand: Demand) -> None:
        self._demand = demand
        places = range(len(demand.offers))
        required = [place for place in places if demand.is_required(demand.offers[place])]
        optional = [place for place in places if not demand.is_required(demand.offers[place])]
        self._all = (*required, *optional)
        # The records outrank their summary: it comes in only when they do not all fit, and then in its place.
        summaries = {place for place in optional if demand.offers[place].summary}
        has_summary = demand.overflow is Overflow.SUMMARY and summaries
        self._records = tuple(place for place in self._all if place not in summaries) if has_summary else ()
        self._has_summary = bool(has_summary)
        self._known: list[Packed] = []

    def pack(self, limit: int) -> Packed:
        """Choose what fits into `limit` tokens, which hold all that is required.

        Takes greedily in the order of preference; one that does not fit does not keep smaller ones out.
        """
        place = bisect_right(self._known, limit, key=_same_from)
        if place and limit <= self._known[place - 1].same_up_to:
            return self._known[place - 1]
        packed = self._pack(limit)
        insort(self._known, packed, key=_same_from)
        return packed

    def _pack(self, limit: int) -> Packed:
        if not self._has_summary:
            return _Tray(self._demand, limit).fill(self._all)
        alone = _Tray(self._demand, limit).fill(self._records)
        if all(alone.fates[place] is Fate.WHOLE for place in self._records):
            return alone
        packed = _Tray(self._demand, limit).fill(self._all)
        return replace(
            packed,
            same_from=max(packed.same_from, alone.same_from),
            same_up_to=min(packed.same_up_to, alone.same_up_to),
        )


def _same_from(packed: Packed) -> int:
    return packed.same_from


class _Tray:
    """Holds what one section has taken so far. Whatever did not fit lowers `same_up_to`."""

    def __init__(self, demand: Demand, limit: int) -> None:
        self._demand = demand
        self._limit = limit
        self._groups: set[str] = set()
        self._used = 0
        self._same_from = 0
        self._same_up_to = TOKENS_MAX
        self._fates = [Fate.OUT] * len(demand.offers)
        self._tokens = [0] * len(demand.offers)
        self._needs = [0] * len(demand.offers)

    def fill(self, order: Sequence[int]) -> Packed:
        """Take of the offers named in `order`, one after the other, what fits."""
        may_cut = self._demand.overflow is Overflow.TRUNCATE
        for place in order:
            offer = self._demand.offers[place]
            if self._put(place, offer, Fate.WHOLE, offer.tokens):
                continue
            if (may_cut or offer.may_be_cut) and offer.cut is not None:
                may_cut = False
                # With one token more or less the cut may be another.
                self._same_from = self._same_up_to = self._limit
                kept = offer.cut(self._limit - self._used - self._overhead(offer))
                if kept:
                    self._put(place, offer, Fate.CUT, kept)
        if self._demand.overflow is Overflow.CARDS:
            self._add_cards(order)
        return Packed(
            self._used,
            tuple(self._fates),
            tuple(self._tokens),
            tuple(self._needs),
            max(self._same_from, self._used),
            self._same_up_to,
        )

    def _add_cards(self, order: Sequence[int]) -> None:
        misses = 0
        for place in order:
            offer = self._demand.offers[place]
            if offer.card is None or self._fates[place] is not Fate.OUT:
                continue
            if not self._put(place, offer, Fate.CARD, offer.card()):
                # Cards are about as large as each other, and each has to be written before it is known.
                misses += 1
                if misses == _CARD_MISSES_MAX:
                    return

    def _put(self, place: int, offer: Offer, fate: Fate, tokens: int) -> bool:
        """Take the offer if its tokens, and what it brings along, still fit."""
        used = self._used + tokens + self._overhead(offer)
        if used > self._limit:
            self._same_up_to = min(self._same_up_to, used - 1)
            self._needs[place] = used
            return False
        self._used = used
        if offer.group is not None:
            self._groups.add(offer.group)
        self._fates[place] = fate
        self._tokens[place] = tokens
        return True

    def _overhead(self, offer: Offer) -> int:
        base = 0 if self._used else self._demand.base_tokens
        is_new_group = offer.group is not None and offer.group not in self._groups
        return base + (offer.group_tokens if is_new_group else 0)
