"""Medians, spreads and percentiles, and how they are printed."""

import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, TypeVar

import numpy as np

Result = TypeVar("Result")
RESAMPLES: Final = 2_000
"""So many samples are drawn anew for an interval."""


@dataclass(frozen=True, slots=True)
class Spread:
    """What repeated measurements of one thing said, in seconds or as a ratio."""

    values: tuple[float, ...]

    @property
    def median(self) -> float:
        """The middle value."""
        return statistics.median(self.values)

    def percentile(self, share: float) -> float:
        """The value below which `share` (0 to 1) of the values lie."""
        ordered = sorted(self.values)
        return ordered[min(len(ordered) - 1, int(share * len(ordered)))]

    def milliseconds(self) -> str:
        """Median, 95th percentile and extremes, for people."""
        return (
            f"median {self.median * 1e3:.1f} ms, p95 {self.percentile(0.95) * 1e3:.1f} ms"
            f" (min {min(self.values) * 1e3:.1f}, max {max(self.values) * 1e3:.1f}, n = {len(self.values)})"
        )

    def ratio(self) -> str:
        """Median and extremes of a ratio, for people."""
        return f"median {self.median:.2f} (min {min(self.values):.2f}, max {max(self.values):.2f})"


def timed(work: Callable[[], Result]) -> tuple[float, Result]:
    """Answer how many seconds `work` took, and what it answered."""
    start = time.perf_counter()
    result = work()
    return time.perf_counter() - start, result


def paired_ratio(first: Sequence[float], second: Sequence[float]) -> Spread:
    """Answer first/second pair by pair: both sides ran in turn, so that drift of the machine cancels out."""
    return Spread(tuple(one / other for one, other in zip(first, second, strict=True)))


def interval(values: Sequence[float]) -> str:
    """Answer the mean and the middle 95 % of means of samples drawn anew."""
    drawn = np.random.default_rng(18).choice(np.array(values), (RESAMPLES, len(values))).mean(axis=1)
    low, high = np.quantile(drawn, (0.025, 0.975))
    return f"{np.mean(values):.3f} ({low:.3f} to {high:.3f})"
