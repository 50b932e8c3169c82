"""What follows an activation: it is remembered beside the keys, and ends are brought in line with it."""

from collections.abc import Sequence

from service.authoring.realign import realign_next
from service.authoring.remember import remember_policy
from service.core.outbox import Message
from service.jobs.system_unit import SystemUnits


class AfterActivation:
    """Handles the message of an activation, in steps of one transaction each.

    Until it is done a memory may end as it would have before. A process that dies on the way leaves the
    message, and whoever takes it over begins anew: a step that is repeated changes nothing.
    """

    def __init__(self, units: SystemUnits) -> None:
        self._units = units

    def __call__(self, tenant_id: str, messages: Sequence[Message]) -> None:
        """Remember what counts and go through the tenant's memories once, whatever the number of messages."""
        if not messages:
            return
        with self._units.read(tenant_id) as unit:
            remember_policy(unit)
        after: str | None = ""
        while after is not None:
            with self._units.write(tenant_id) as unit:
                after = realign_next(after, unit=unit)
