"""Middles, spreads and bootstrap intervals. Pure: chance comes from a seed."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, median
from typing import Final

RESAMPLES: Final = 4_000
LEVEL_PERCENT: Final = 95
_TAIL: Final = (100 - LEVEL_PERCENT) / 200
_PART: Final = 200
"""So many resamples are drawn at once: ten thousand questions then take 16 MB."""


@dataclass(frozen=True, slots=True)
class Interval:
    """A mean with the interval that 95 of 100 resamples of the same questions fall into.

    `low` and `high` are `None` where one value alone says nothing about chance.
    """

    mean: float
    low: float | None
    high: float | None
    count: int

    @property
    def excludes_zero(self) -> bool:
        """Whether chance in the choice of questions hardly explains the mean."""
        return self.low is not None and self.high is not None and (self.low > 0 or self.high < 0)


@dataclass(frozen=True, slots=True)
class Spread:
    """How values lie: the mean, the middle one, and the one that 95 of 100 do not exceed."""

    mean: float
    median: float
    p95: float
    highest: float


def bootstrap(values: Sequence[float], *, seed: int) -> Interval | None:
    """Answer the mean of `values` and its interval by the percentile bootstrap (Efron 1979); `None` of none.

    Values are drawn with replacement 4,000 times; the same seed draws the same.
    """
    if not values:
        return None
    if len(values) == 1:
        return Interval(values[0], None, None, 1)
    # Loaded only here: a file with faults is told so at once.
    import numpy as np  # noqa: PLC0415

    kept = np.asarray(values, dtype=float)
    draw = np.random.default_rng(seed)
    means = np.concatenate(
        [
            kept[draw.integers(0, len(kept), (_PART, len(kept)))].mean(axis=1)
            for _ in range(RESAMPLES // _PART)
        ]
    )
    low, high = np.quantile(means, (_TAIL, 1 - _TAIL))
    return Interval(fmean(values), float(low), float(high), len(values))


def spread(values: Sequence[float]) -> Spread | None:
    """Answer how `values` lie; `None` of none."""
    if not values:
        return None
    ordered = sorted(values)
    # Nearest rank: a value that was measured, never one between two.
    rank = math.ceil(0.95 * len(ordered)) - 1
    return Spread(fmean(ordered), median(ordered), ordered[rank], ordered[-1])
