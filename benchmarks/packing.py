"""Packing alone: a thousand candidates whose tokens are counted already are shared out among ten sections."""

import random
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Final

from benchmarks.figures import Spread
from service.context.budget import Sharing
from service.context.offers import Demand, Fate, Offer
from service.context.sufficient import sufficient_budgets
from service.context.worth import worth_of
from service.policies.words import Overflow, SectionName

_CANDIDATES: Final = 1_000
_BUDGETS: Final = (1_000, 4_000, 16_000, 64_000)
_ROUNDS: Final = 20


def measure_packing(policies_dir: Path) -> None:
    """Print the time of sharing out, and with it of what is said of each choice and each omission."""
    del policies_dir
    for budget in _BUDGETS:
        rounds = [_measure(_demands(random.Random(number)), budget) for number in range(_ROUNDS)]  # noqa: S311
        shared, told = (Spread(times) for times in list(zip(*rounds, strict=True))[:2])
        print(f"{_CANDIDATES} candidates, {budget} tokens: shared out: {shared.milliseconds()}")
        print(f"  with bounds and sufficient budgets: {told.milliseconds()}")
        print(f"  {rounds[-1][2]}")


def _measure(demands: list[Demand], budget: int) -> tuple[float, float, str]:
    """Answer the seconds of sharing out, of that and all that is told of it, and what came of it in words."""
    begun = time.perf_counter()
    sharing = Sharing(demands)
    packed = sharing.at(budget)
    shared = time.perf_counter() - begun
    worths = [worth_of(demand, part, part.used) for demand, part in zip(demands, packed, strict=True)]
    answers = sufficient_budgets(sharing, budget)
    told = time.perf_counter() - begun
    lost = [
        worth.lost_at_most / (worth.value + worth.lost_at_most) for worth in worths if worth and worth.value
    ]
    out = sum(fate is Fate.OUT for part in packed for fate in part.fates)
    named = sum(answer is not None for section in answers for answer in section)
    return (
        shared,
        told,
        f"at most {max(lost):.1%} of a section's value lost; {named} of {out} omissions named",
    )


def _demands(chance: random.Random) -> list[Demand]:
    return [
        Demand(
            section=name,
            offers=[_offer(chance, place) for place in range(_CANDIDATES // len(SectionName))],
            base_tokens=20,
            limits=partial(_limits, 5, chance.choice([10, 25, 60])),
            priority=chance.randint(0, 99),
            overflow=chance.choice([Overflow.DROP, Overflow.CARDS, Overflow.TRUNCATE]),
        )
        for name in SectionName
    ]


def _offer(chance: random.Random, place: int) -> Offer:
    card = chance.randint(40, 70)
    return Offer(
        tokens=chance.randint(20, 400),
        group=str(place // 3),
        group_tokens=12,
        card=_constant(card),
        cut=_shortest,
        value=1 / (1 + place / 10),
    )


def _constant(value: int) -> Callable[[], int]:
    return lambda: value


def _shortest(room: int) -> int:
    return room if room >= 24 else 0


def _limits(least: int, most: int, budget: int) -> tuple[int, int]:
    return budget * least // 100, budget * most // 100
