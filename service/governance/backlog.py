"""`read_backlog`: what waits in all tenants together, for whoever watches the service."""

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from threading import Lock
from typing import Final

from service.core.clock import Clock
from service.core.database import Database
from service.governance.model_backlog import Backlog
from service.governance.store_backlog import count_backlog

KEPT_SECONDS: Final = 10
"""How old the numbers may be: however often anybody asks, the record is asked so often at most."""


class BacklogReader:
    """Counts tenant by tenant, each in a short reading transaction: no single one is held for long."""

    def __init__(self, database: Database, tenant_ids: Callable[[], Sequence[str]], clock: Clock) -> None:
        self._database = database
        self._tenant_ids = tenant_ids
        self._clock = clock
        self._kept: tuple[datetime, Backlog] | None = None
        self._lock = Lock()

    def read(self) -> Backlog:
        """Answer the sums, at most `KEPT_SECONDS` old. Raises what the database raises."""
        with self._lock:
            now = self._clock()
            if self._kept is not None and now - self._kept[0] < timedelta(seconds=KEPT_SECONDS):
                return self._kept[1]
            backlog = Backlog()
            for tenant_id in self._tenant_ids():
                with self._database.read(tenant_id) as session:
                    backlog = backlog.joined(count_backlog(session, tenant_id, now=now))
            self._kept = (now, backlog)
            return backlog
