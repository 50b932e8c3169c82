"""What a shadow is."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Final

SHADOW_DAYS_MAX: Final = 90
"""How long a shadow runs at most."""


class ShadowStatus(StrEnum):
    """How a shadow stands."""

    RUNNING = "running"
    """Decisions are compared with what its candidate would decide."""
    STOPPED = "stopped"
    """It was taken away."""
    SUPERSEDED = "superseded"
    """Another version came to count, or another shadow took its place."""
    OVER = "over"
    """Its days are over."""


@dataclass(frozen=True, slots=True)
class Shadow:
    """One shadow. `requester` is the keyed hash of who began it."""

    id: str
    plan_id: str
    status: ShadowStatus
    base_version: str
    base_revision: int
    candidate_version: str
    requester: str
    created_at: datetime
    until: datetime
    ended_at: datetime | None

    def status_at(self, now: datetime) -> ShadowStatus:
        """Answer how it stands: one whose days are over ends by itself."""
        is_over = self.status is ShadowStatus.RUNNING and now >= self.until
        return ShadowStatus.OVER if is_over else self.status
