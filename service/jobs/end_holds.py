"""Releasing legal holds whose end has come."""

from collections.abc import Sequence

from service.core.outbox import Message
from service.governance.hold import end_hold
from service.jobs.system_unit import SystemUnits


class EndHolds:
    """Handles the messages that are due at holds' ends, each in a transaction of its own."""

    def __init__(self, units: SystemUnits) -> None:
        self._units = units

    def __call__(self, tenant_id: str, messages: Sequence[Message]) -> None:
        """Release each named hold. One that was released before is left alone."""
        for message in messages:
            with self._units.write(tenant_id) as unit:
                end_hold(str(message.payload["hold_id"]), unit=unit)
