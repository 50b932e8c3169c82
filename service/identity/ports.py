"""What identity needs from outside: somebody who writes down what was done."""

from typing import Protocol

from service.identity.unit import Unit


class Trail(Protocol):
    """Writes to the audit trail. `audit.record.record` is it; identity stands below and is handed it."""

    def __call__(
        self, unit: Unit, action: str, *, kind: str, ref: str, **details: str | int | bool | list[str] | None
    ) -> None:
        """Record that `action` happened to the thing of that kind and id, in the unit's transaction."""
        ...
