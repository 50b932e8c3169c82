"""A lease: the right to go on with a run, for a while, under a number that only grows."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final

LEASE_LIFETIME: Final = timedelta(seconds=120)
"""How long a lease lives unless it is renewed: long enough for a model's answer, short enough to wait for."""


class LeaseMode(StrEnum):
    """What its holder may do."""

    FULL = "full"
    RECOVERY = "recovery"
    """Settle what is open: no new effect, and no tool that writes."""


@dataclass(frozen=True, slots=True)
class Lease:
    """The newest lease of a run. `holder` is the principal that took it.

    `fencing_token` begins at 1 in each run and grows with every lease that somebody takes; a write under an
    older one comes from a worker that has been replaced.
    """

    execution_id: str
    fencing_token: int
    mode: LeaseMode
    holder: str
    taken_at: datetime
    expires_at: datetime
    released: bool = False

    def lives(self, now: datetime) -> bool:
        """Say whether it counts at `now`: it was not given back and has not lapsed."""
        return not self.released and now < self.expires_at
