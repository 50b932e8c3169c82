"""Ending what has been kept long enough, for each tenant once an hour and when a process starts.

What is due is read off the record and the active policy each time: nothing is scheduled that a shorter
retention, a hold or a crash could make wrong.
"""

from datetime import datetime, timedelta
from typing import Final

import structlog

from service.authoring.in_force import bundle_for_ending
from service.core.errors import NotFound
from service.governance.model import Held
from service.governance.retain import drop_aged, empty_packages, end_retention, runs_over
from service.jobs.system_unit import SystemUnits

RETAIN_SECONDS: Final = 3_600
"""How long after its time something may still be there, at most, while a worker runs."""
RUNS_AT_ONCE: Final = 50
"""Most runs that one call begins to destroy: other tenants wait for it."""
_ROUNDS_MAX: Final = 40
"""Transactions for rows that go by their age, in one call: what is left waits for the next hour."""
_TENANTS_MAX: Final = 10_000

_log: Final = structlog.get_logger(__name__)


class Retain:
    """A chore of the relay's sweep. A call that does not come to the end goes on at the next one."""

    def __init__(self, units: SystemUnits) -> None:
        self._units = units
        self._due: dict[str, datetime] = {}
        self._after: dict[str, str] = {}

    def __call__(self, tenant_id: str) -> None:
        """Begin to destroy what is over its time. What a hold keeps waits for the next hour."""
        now = self._units.clock()
        if now < self._due.get(tenant_id, now):
            return
        if len(self._due) >= _TENANTS_MAX:
            self._due.clear()
        self._due[tenant_id] = now + timedelta(seconds=RETAIN_SECONDS)
        if self._end_runs(tenant_id):
            self._drop_rows(tenant_id)
        else:
            del self._due[tenant_id]

    def _end_runs(self, tenant_id: str) -> bool:
        """Take the next runs that are over, and say whether those were the last."""
        with self._units.read(tenant_id) as unit:
            after = self._after.pop(tenant_id, "")
            found = runs_over(bundle_for_ending(unit), unit, after=after, limit=RUNS_AT_ONCE)
        for execution_id in found:
            try:
                with self._units.write(tenant_id) as unit:
                    end_retention(execution_id, bundle=bundle_for_ending(unit), unit=unit)
            except (Held, NotFound):
                continue
            except Exception as failure:  # noqa: BLE001 - one run that fails holds up no other
                _log.warning("retention_postponed", ref=execution_id, failure=type(failure).__name__)
        if len(found) < RUNS_AT_ONCE:
            return True
        self._after[tenant_id] = found[-1]
        return False

    def _drop_rows(self, tenant_id: str) -> None:
        for _ in range(_ROUNDS_MAX):
            with self._units.write(tenant_id) as unit:
                if not drop_aged(unit):
                    break
        after = ""
        for _ in range(_ROUNDS_MAX):
            with self._units.write(tenant_id) as unit:
                following = empty_packages(bundle_for_ending(unit), unit, after=after)
            if following is None:
                break
            after = following
