"""Writing down that approvals' time is up, when it is."""

from collections.abc import Sequence

from service.core.errors import NotFound
from service.core.outbox import Message
from service.executions.lapse import lapse
from service.jobs.system_unit import SystemUnits


class LapseApprovals:
    """Handles `approval.lapse`: each message in a transaction of its own, since each holds a run."""

    def __init__(self, units: SystemUnits) -> None:
        self._units = units

    def __call__(self, tenant_id: str, messages: Sequence[Message]) -> None:
        """Lapse what the messages name and what nobody decided, redeemed or cancelled before."""
        for message in messages:
            try:
                with self._units.write(tenant_id) as unit:
                    lapse(str(message.payload["approval"]), unit=unit)
            except NotFound:
                # Its run was erased, or its project is gone: then nothing can lapse.
                continue
