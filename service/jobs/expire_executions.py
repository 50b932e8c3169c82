"""Ending runs at their deadline."""

from collections.abc import Sequence

from service.core.errors import NotFound
from service.core.outbox import Message
from service.executions.expire import expire_at_deadline
from service.jobs.system_unit import SystemUnits


class ExpireExecutions:
    """Handles the messages that are due at runs' deadlines, each in a transaction of its own."""

    def __init__(self, units: SystemUnits) -> None:
        self._units = units

    def __call__(self, tenant_id: str, messages: Sequence[Message]) -> None:
        """Bring each named run to its end. One that is gone, or has ended meanwhile, is left alone."""
        for message in messages:
            with self._units.write(tenant_id) as unit:
                try:
                    expire_at_deadline(message.payload["execution_id"], unit=unit)
                except NotFound:
                    continue
