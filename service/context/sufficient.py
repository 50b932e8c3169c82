"""Finds out with how many tokens what was left out would be in. Pure."""

from bisect import bisect_left, insort
from collections.abc import Sequence
from typing import Final

from service.context.budget import Sharing
from service.context.offers import TOKENS_MAX, Fate, Packed

_CHANGES_MAX: Final = 40
"""So many changes above the budget are looked at one by one, which finds the least budget of each offer."""
_OFFERS_TRIED_MAX: Final = 60_000
"""So many offers are packed at most, those of each budget that is tried: some ten milliseconds."""
_STEP_MIN: Final = 64
_TRIES_MIN: Final = 40


def sufficient_budgets(sharing: Sharing, budget: int) -> Sequence[Sequence[int | None]]:
    """Answer, for each offer that `budget` leaves out, one with which it is in, and with one token less not.

    In means whole or, where its section allows it, as a cut or a card. `None` for what is in, for what stays
    out at any budget, and for what is wanted least where more was left out than is worth the time.
    """
    search = _Search(sharing, budget)
    search.walk()
    for place in range(max((len(demand.offers) for demand in sharing.demands), default=0)):
        for index in sharing.order:
            if place < len(sharing.demands[index].offers):
                search.look_for(index, place)
    return search.answers


class _Search:
    """Looks for the budgets of all offers at once: what one try tells counts for all."""

    def __init__(self, sharing: Sharing, budget: int) -> None:
        self._sharing = sharing
        self._packed = sharing.at(budget)
        self._tried = [budget]
        offers = sum(len(demand.offers) for demand in sharing.demands)
        self._tries_max = max(_TRIES_MIN, _OFFERS_TRIED_MAX // max(1, offers))
        self.answers: list[list[int | None]] = [[None] * len(demand.offers) for demand in sharing.demands]

    def walk(self) -> None:
        """Answer what comes in as the budget rises from change to change, as far as is worth the time."""
        before = self._tried[0]
        for _ in range(min(_CHANGES_MAX, self._tries_max // 4)):
            same_up_to = self._sharing.same_up_to(before)
            # Where a text is cut, each token more may change the cut: too many changes to look at each.
            if same_up_to <= before or same_up_to >= TOKENS_MAX:
                return
            before = same_up_to + 1
            for index, (first, now) in enumerate(zip(self._packed, self._at(before), strict=True)):
                if now is not first:
                    self._note(index, now.fates, before)

    def _note(self, index: int, fates: Sequence[Fate], budget: int) -> None:
        for place, fate in enumerate(fates):
            if fate is Fate.OUT or not self._is_sought(index, place):
                continue
            if not self._is_in(index, place, budget - 1):
                self.answers[index][place] = budget

    def look_for(self, index: int, place: int) -> None:
        """Answer the offer, if it is sought and is in at any budget."""
        if not self._is_sought(index, place) or not self._is_in(index, place, TOKENS_MAX):
            return
        out_at, in_at = self._between(index, place)
        is_guess, step = True, _STEP_MIN
        while in_at - out_at > 1:
            if len(self._tried) > self._tries_max:
                return
            # What it lacks is what it takes, unless something else takes that first: then halves are tried.
            guess = self._next(index, place, out_at) if is_guess else in_at
            is_guess = guess < in_at
            if not is_guess and in_at == TOKENS_MAX:
                # Halves of all budgets would be far above what is needed.
                guess, step = min(out_at + step, in_at - 1), 2 * step
            elif not is_guess:
                guess = (out_at + in_at) // 2
            if self._is_in(index, place, guess):
                in_at = guess
                if is_guess and not self._is_in(index, place, guess - 1):
                    out_at = guess - 1
            else:
                out_at = guess
            is_guess = not is_guess
        self.answers[index][place] = in_at

    def _between(self, index: int, place: int) -> tuple[int, int]:
        """Answer two tried budgets without another between them: it is out at the first, in at the second."""
        low, high = 0, len(self._tried) - 1
        while high - low > 1:
            middle = (low + high) // 2
            if self._is_in(index, place, self._tried[middle]):
                high = middle
            else:
                low = middle
        return self._tried[low], self._tried[high]

    def _next(self, index: int, place: int, budget: int) -> int:
        """Answer a larger budget: with what the offer lacks at `budget`, if all else stays as it is."""
        sharing = self._sharing
        given = sharing.given_at(budget)[index]
        limit = max(sharing.at(budget)[index].needs[place], given + 1)
        budgets = range(budget, TOKENS_MAX)
        by_maximum = bisect_left(budgets, limit, key=lambda size: sharing.demands[index].limits_at(size)[1])
        return budget + max(limit - given, by_maximum)

    def _is_sought(self, index: int, place: int) -> bool:
        return self._packed[index].fates[place] is Fate.OUT and self.answers[index][place] is None

    def _is_in(self, index: int, place: int, budget: int) -> bool:
        return self._at(budget)[index].fates[place] is not Fate.OUT

    def _at(self, budget: int) -> Sequence[Packed]:
        known = self._sharing.knows(budget)
        packed = self._sharing.at(budget)
        if not known:
            insort(self._tried, budget)
        return packed
