"""How the pieces that were found stand to each other: what is beside what, in which group. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from service.retrieval.rerank.model import Numbers, Piece

REACH: Final = 4
"""How far apart two pieces of a group may stand and still tell something about each other."""
_SHARES: Final = (0.4, 0.2)
"""What a piece takes of the one beside it, and of the next but one. Wider does not help."""
_DECAY: Final = (1.0, 0.7, 0.5, 0.3, 0.2)
"""What a word counts that stands so many pieces away."""


@dataclass(frozen=True, slots=True)
class Layout:
    """For each distance which piece stands there (its position, -1: none found); groups by number."""

    at: dict[int, npt.NDArray[np.intp]]
    groups: npt.NDArray[np.intp]

    @classmethod
    def of(cls, pieces: Sequence[Piece]) -> "Layout":
        """Place the pieces: by ordinal inside an item of several pieces, else by the group's sequence."""
        rows: dict[tuple[str, int], dict[int, int]] = {}
        items: dict[tuple[str, int], dict[int, int]] = {}
        for place, one in enumerate(pieces):
            rows.setdefault((one.group, one.ordinal), {})[one.sequence] = place
            items.setdefault((one.group, one.sequence), {})[one.ordinal] = place
        row_of = [(rows[one.group, one.ordinal], one.sequence) for one in pieces]
        inner = [
            (place, item, one.ordinal)
            for place, one in enumerate(pieces)
            if len(item := items[one.group, one.sequence]) > 1
        ]
        at = {}
        for step in (step for distance in range(1, REACH + 1) for step in (-distance, distance)):
            there = [row.get(sequence + step, -1) for row, sequence in row_of]
            for place, item, ordinal in inner:
                there[place] = item.get(ordinal + step, there[place])
            at[step] = np.array(there, dtype=np.intp)
        _, groups = np.unique(np.array([one.group for one in pieces]), return_inverse=True)
        return cls(at, groups)

    def shifted(self, values: Numbers, step: int) -> Numbers:
        """Answer for each piece the value of the one that stands `step` places on, 0 where none was found."""
        there = self.at[step]
        return np.where(there >= 0, values[there], 0.0)

    def around(self, values: Numbers) -> Numbers:
        """Answer for each piece a share of its neighbours' values, without its own."""
        total = np.zeros_like(values)
        for distance, share in enumerate(_SHARES, start=1):
            total += share * (self.shifted(values, distance) + self.shifted(values, -distance))
        return total

    def nearest(self, held: Numbers) -> Numbers:
        """Answer 1 where something is held, less the farther away the nearest is that holds it, else 0."""
        best = held * _DECAY[0]
        for distance in range(1, REACH + 1):
            beside = np.maximum(self.shifted(held, distance), self.shifted(held, -distance))
            best = np.maximum(best, _DECAY[distance] * beside)
        return best
