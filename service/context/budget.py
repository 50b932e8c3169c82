"""Shares a budget of tokens among sections. Pure: numbers in, numbers out, never one token over.

Each section states what it must have, what it should have at least (`minimum`), what it may have at most
(`maximum`) and what it could use. Required content is served first, then minimums, then everything by
priority; what a section leaves goes to the others, again by priority.
"""

from collections.abc import Sequence

from service.context.offers import TOKENS_MAX, Demand, Fate, Packed
from service.context.pack import Packer
from service.core.errors import Invalid


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


class Sharing:
    """Shares budgets of any size among the same demands.

    `overhead` tokens of each budget are for what belongs to no section. What was worked out for one budget is
    kept for the next, so that asking "and with more?" costs little.
    """

    def __init__(self, demands: Sequence[Demand], overhead: int = 0) -> None:
        self.demands = tuple(demands)
        self.overhead = overhead
        self.order = sorted(range(len(self.demands)), key=lambda index: -self.demands[index].priority)
        self._packers = [Packer(demand) for demand in self.demands]
        self._required = [demand.required_tokens for demand in self.demands]
        self._wishes = [demand.wish_tokens for demand in self.demands]
        self._known: dict[int, tuple[Packed, ...]] = {}
        self._same_up_to: dict[int, int] = {}
        self._given: dict[int, tuple[int, ...]] = {}

    def at(self, budget: int) -> tuple[Packed, ...]:
        """Answer what each demand gets, in the order given. `used` never add up to more than is there.

        Raises `BudgetTooSmall` when required content does not fit.
        """
        found = self._known.get(budget)
        if found is None:
            found = self._known[budget] = self._share(budget)
        return found

    def same_up_to(self, budget: int) -> int:
        """Answer how far the budget may rise before anything else could be taken."""
        self.at(budget)
        return self._same_up_to[budget]

    def given_at(self, budget: int) -> tuple[int, ...]:
        """Answer the tokens that each demand could take."""
        self.at(budget)
        return self._given[budget]

    def knows(self, budget: int) -> bool:
        """Say whether the budget was shared before."""
        return budget in self._known

    def limits_at(self, budget: int) -> list[tuple[int, int]]:
        """Answer the minimum and maximum of each demand in a package of so many tokens."""
        return [demand.limits_at(budget) for demand in self.demands]

    def _share(self, budget: int) -> tuple[Packed, ...]:
        limits = self.limits_at(budget)
        available = max(0, budget - self.overhead)
        self._check_required(limits, available)
        reserved = list(self._required)
        pool = available - sum(reserved)
        for index in self.order:
            minimum, maximum = limits[index]
            wanted = min(max(minimum, reserved[index]), maximum, self._wishes[index])
            extra = min(max(0, wanted - reserved[index]), pool)
            reserved[index] += extra
            pool -= extra
        packed: list[Packed | None] = [None] * len(self.demands)
        given = [0] * len(self.demands)
        unchanged = TOKENS_MAX
        # The second round hands what low priorities left of their minimums to the high ones.
        for _ in range(2):
            for index in self.order:
                before = packed[index]
                held = reserved[index] if before is None else before.used
                if before is not None and (pool == 0 or all(fate is Fate.WHOLE for fate in before.fates)):
                    continue
                limit = given[index] = min(limits[index][1], held + pool)
                after = self._packers[index].pack(limit)
                # No limit rises by more than the budget does.
                unchanged = min(unchanged, after.same_up_to - limit)
                pool += held - after.used
                packed[index] = after
                assert pool >= 0, "a section took more than its limit"
        self._given[budget] = tuple(given)
        self._same_up_to[budget] = min(TOKENS_MAX, budget + unchanged)
        result = tuple(part for part in packed if part is not None)
        assert len(result) == len(self.demands)
        assert sum(part.used for part in result) <= available
        return result

    def _check_required(self, limits: Sequence[tuple[int, int]], available: int) -> None:
        running = 0
        for index in self.order:
            section, required = self.demands[index].section, self._required[index]
            if required > limits[index][1]:
                raise BudgetTooSmall(section, required, is_of_section=True)
            running += required
            if running > available:
                raise BudgetTooSmall(section, sum(self._required) + self.overhead)


def allocate(demands: Sequence[Demand], budget: int) -> tuple[Packed, ...]:
    """Answer what each demand gets of `budget`: see `Sharing`."""
    return Sharing(demands).at(budget)
