"""Weighs what was found by relevance, authority and freshness, each shown. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from service.policies.profiles import Weights
from service.policies.words import Authority

_SECONDS_A_DAY: Final = 86_400
_DIGITS: Final = 6
"""Digits kept of a score: the last ones differ between machines."""


@dataclass(frozen=True, slots=True)
class Found:
    """One thing that was found: its raw relevance, how much its source counts, and when it was seen."""

    relevance: float
    authority: Authority
    observed_at: datetime


def weigh(found: Sequence[Found], weights: Weights, now: datetime) -> Sequence[Mapping[str, float]]:
    """Answer for each its `relevance`, `authority`, `freshness` and weighted `score`, all from 0 to 1.

    Relevance is stretched over what was found, so that its differences count in full: the best has 1. Only
    the proportions of the weights matter.
    """
    if not found:
        return []
    lowest = min(one.relevance for one in found)
    spread = max(one.relevance for one in found) - lowest
    total = weights.relevance + weights.authority + weights.freshness
    answers = []
    for one in found:
        parts = {
            "relevance": (one.relevance - lowest) / spread if spread else 1.0,
            "authority": 1 - one.authority.rank / (len(Authority) - 1),
            "freshness": _freshness(one.observed_at, weights.freshness_half_life_days, now),
        }
        score = (
            weights.relevance * parts["relevance"]
            + weights.authority * parts["authority"]
            + weights.freshness * parts["freshness"]
        ) / total
        answers.append({name: round(value, _DIGITS) for name, value in {**parts, "score": score}.items()})
    return answers


def _freshness(observed_at: datetime, half_life_days: int, now: datetime) -> float:
    age = max(0.0, (now - observed_at).total_seconds()) / _SECONDS_A_DAY
    return float(0.5 ** (age / half_life_days))
