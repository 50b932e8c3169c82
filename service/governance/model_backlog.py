"""What waits in a tenant's record, or in all tenants' together: numbers and ages, and nobody's name."""

from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any


@dataclass(frozen=True, slots=True)
class Backlog:
    """How much waits, and since when the oldest of it does. `due` outbox messages could be delivered now."""

    outbox_due: int = 0
    outbox_failing: int = 0
    outbox_dead: int = 0
    outbox_oldest: datetime | None = None
    proposals_waiting: int = 0
    proposals_oldest: datetime | None = None
    erasures_open: int = 0
    erasures_overdue: int = 0
    approvals_pending: int = 0
    effects_dispatched: int = 0
    effects_unknown: int = 0
    effects_escalated: int = 0

    def joined(self, other: "Backlog") -> "Backlog":
        """Answer both together: the sums, and the older of the oldest."""
        sums: dict[str, Any] = {
            field.name: _join(getattr(self, field.name), getattr(other, field.name)) for field in fields(self)
        }
        return Backlog(**sums)


def _join(one: int | datetime | None, other: int | datetime | None) -> int | datetime | None:
    if isinstance(one, int) and isinstance(other, int):
        return one + other
    return min((moment for moment in (one, other) if isinstance(moment, datetime)), default=None)
