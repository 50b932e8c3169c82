"""How many different persons there are, counted in bounded memory. Pure."""

from bisect import insort
from typing import Final

KEPT_MAX: Final = 4_096


class Distinct:
    """Counts different keyed hashes: exactly up to 4,096, and beyond as an estimate, to some two percent.

    Only the smallest 4,096 are kept. Keyed hashes are spread evenly, so the largest of these tells how dense
    all are (Bar-Yossef et al., "Counting distinct elements in a data stream", 2002). Equal data give an
    equal estimate, and with it an equal plan.
    """

    def __init__(self) -> None:
        self._kept: set[int] = set()
        self._order: list[int] = []
        self._is_full = False

    def add(self, keyed_hash: str) -> None:
        """Count one; nobody's (an empty hash) counts as none."""
        if not keyed_hash:
            return
        number = int(keyed_hash[:16], 16)
        if number in self._kept or (len(self._order) == KEPT_MAX and number > self._order[-1]):
            self._is_full = self._is_full or number not in self._kept
            return
        self._kept.add(number)
        insort(self._order, number)
        if len(self._order) > KEPT_MAX:
            self._kept.remove(self._order.pop())
            self._is_full = True

    @property
    def count(self) -> int:
        """How many different ones were added."""
        if not self._is_full:
            return len(self._order)
        return round((KEPT_MAX - 1) * 2**64 / self._order[-1])

    @property
    def is_exact(self) -> bool:
        """Whether `count` is no estimate."""
        return not self._is_full
