"""What the second stage looks at, and the linear model that orders it. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

import numpy as np
import numpy.typing as npt

Numbers = npt.NDArray[np.float64]


class PieceKind(StrEnum):
    """What a piece is like, told by its structure: each kind has weights of its own."""

    CONVERSATION = "conversation"
    DOCUMENT = "document"
    TOOL_RESULT = "tool_result"


@dataclass(frozen=True, slots=True)
class Piece:
    """One passage that the index found, read again from the record.

    `group` names what it is part of, `sequence` and `ordinal` its place there; without a group the item is
    one. `item` is what it is cut from, into `item_pieces` pieces, `address` where that came from. `fused`,
    `sparse` and `dense` are the first stage's scores.
    """

    text: str
    kind: PieceKind
    item: str
    item_pieces: int
    address: str
    group: str
    group_title: str
    sequence: int
    ordinal: int
    observed_at: datetime
    fused: float
    sparse: float
    dense: float


Weights = Mapping[PieceKind, Mapping[str, float]]
"""For each kind, how much each feature counts; what is not named counts nothing."""


def standardise(columns: Mapping[str, Numbers]) -> Mapping[str, Numbers]:
    """Answer (value - mean) / deviation of each feature over the pieces; zeros where none differs."""
    answers = {}
    for name, values in columns.items():
        deviation = values.std()
        differs = deviation > 1e-6  # noqa: PLR2004 - below it differences are rounding
        answers[name] = (values - values.mean()) / deviation if differs else np.zeros_like(values)
    return answers


def score(kinds: Sequence[PieceKind], features: Mapping[str, Numbers], weights: Weights) -> Sequence[float]:
    """Answer for each piece the sum of its standardised features, each times its kind's weight."""
    kind_of = np.array([kind.value for kind in kinds])
    scores = np.zeros(len(kinds))
    for kind, named in weights.items():
        places = kind_of == kind.value
        if places.any():
            for name, weight in named.items():
                scores[places] += weight * features[name][places]
    answer: list[float] = scores.tolist()
    return answer
