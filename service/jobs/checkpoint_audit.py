"""Showing the key store where each tenant's audit chain ends, now and then."""

from datetime import datetime, timedelta
from typing import Final

import structlog

from service.audit.checkpoint import Witness, note_head
from service.jobs.system_unit import SystemUnits

CHECKPOINT_SECONDS: Final = 60
"""How old the newest events can be that the key store does not know of, while a worker runs."""
_TENANTS_MAX: Final = 10_000

_log: Final = structlog.get_logger(__name__)


class AuditCheckpoints:
    """A chore of the relay's sweep: reads two rows for each tenant, at most once in `CHECKPOINT_SECONDS`."""

    def __init__(self, units: SystemUnits, witness: Witness) -> None:
        self._units = units
        self._witness = witness
        self._due: dict[str, datetime] = {}

    def __call__(self, tenant_id: str) -> None:
        """Remember where the chain ends. A chain that does not go on from what is known is reported."""
        now = self._units.clock()
        if now < self._due.get(tenant_id, now):
            return
        if len(self._due) >= _TENANTS_MAX:
            self._due.clear()
        self._due[tenant_id] = now + timedelta(seconds=CHECKPOINT_SECONDS)
        with self._units.database.read(tenant_id) as session:
            cipher = self._units.ciphers.for_tenant(tenant_id)
            verdict = note_head(session, tenant_id, cipher=cipher, witness=self._witness, now=now)
        if not verdict.intact:
            _log.error("audit_chain_broken", tenant_id=tenant_id, fault=str(verdict.fault))
