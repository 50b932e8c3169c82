"""Fitting the second stage's weights: a listwise softmax over each question's pieces, with a small ridge."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from service.retrieval.rerank.model import Numbers

_RIDGE: Final = 0.02
_STEPS: Final = 250
_RATE: Final = 0.05
_MOMENTUM: Final = 0.9
_SPREAD: Final = 0.99


@dataclass(frozen=True, slots=True)
class Example:
    """One question: the features of its pieces by name, and the positions of those that answer it."""

    features: Mapping[str, Numbers]
    answers: Sequence[int]


def fit_weights(examples: Sequence[Example], names: Sequence[str]) -> Mapping[str, float]:
    """Answer one weight for each named feature: the same for the same examples.

    Maximises the mean log-probability of the answering pieces under a softmax of the weighted sum, by Adam
    from zero (Cao et al., "Learning to rank: from pairwise approach to listwise approach", 2007).
    """
    tables = [
        (np.stack([one.features[name] for name in names], axis=1), list(one.answers))
        for one in examples
        if one.answers
    ]
    weights, first, second = (np.zeros(len(names)) for _ in range(3))
    for step in range(1, _STEPS + 1):
        slope = _RIDGE * weights
        for table, answers in tables:
            sums = table @ weights
            chances = np.exp(sums - sums.max())
            slope += (chances / chances.sum() @ table - table[answers].mean(axis=0)) / len(tables)
        first = _MOMENTUM * first + (1 - _MOMENTUM) * slope
        second = _SPREAD * second + (1 - _SPREAD) * slope**2
        pace = np.sqrt(second / (1 - _SPREAD**step)) + 1e-8
        weights = weights - _RATE * first / (1 - _MOMENTUM**step) / pace
    return {name: round(float(weight), 3) for name, weight in zip(names, weights, strict=True)}
