"""Reclaiming the space of memories that have ended: marked first, destroyed when their class says.

Whoever reads is told the truth without it, since expiry is part of every query. So it may run late, twice, in
two processes, or never.
"""

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import Final

import structlog

from service.audit.model import Action
from service.audit.record import record
from service.authoring.in_force import bundle_for_ending
from service.governance.erase import begin_erasure, lock_deletions
from service.governance.model import Held, Kind
from service.identity.unit import Unit
from service.jobs.system_unit import SystemUnits
from service.memories.lapse import lapse_proposal, list_lapsed
from service.memories.sweep import end_run_out, is_destroyable, list_destroyable, list_run_out

SWEEP_EVERY: Final = timedelta(minutes=10)
"""How often each process looks at each tenant."""
_MEMORIES_AT_ONCE: Final = 100
_MEMORIES_MAX: Final = 2_000
"""So many of each kind are taken in one go: what is left waits for the next."""

_log = structlog.get_logger(__name__)

_List = Callable[[Unit, str], Sequence[str]]
_Act = Callable[[str, Unit], None]


class SweepMemories:
    """A chore of the relay: looks at a tenant's memories every `SWEEP_EVERY`."""

    def __init__(self, units: SystemUnits) -> None:
        self._units = units
        self._done_at: dict[str, datetime] = {}

    def __call__(self, tenant_id: str) -> None:
        """Sweep the tenant if that is due."""
        now = self._units.clock()
        done_at = self._done_at.get(tenant_id)
        if done_at is not None and now - done_at < SWEEP_EVERY:
            return
        self._done_at[tenant_id] = now
        self.sweep(tenant_id)

    def sweep(self, tenant_id: str) -> None:
        """Mark what has run out, begin to destroy what is kept no longer, and end what waited in vain."""
        self._each(tenant_id, _run_out, _end)
        self._each(tenant_id, _destroyable, destroy)
        self._each(tenant_id, _lapsed, _lapse)

    def _each(self, tenant_id: str, listed: _List, act: _Act) -> None:
        """Do it to each, in a transaction of its own: a row that fails holds up none of the others."""
        after = ""
        for _ in range(_MEMORIES_MAX // _MEMORIES_AT_ONCE):
            with self._units.read(tenant_id) as unit:
                memory_ids = listed(unit, after)
            for memory_id in memory_ids:
                self._try(tenant_id, memory_id, act)
            if len(memory_ids) < _MEMORIES_AT_ONCE:
                return
            after = memory_ids[-1]

    def _try(self, tenant_id: str, memory_id: str, act: _Act) -> None:
        try:
            with self._units.write(tenant_id) as unit:
                act(memory_id, unit)
        except Held:
            # It was held between the two transactions: it stays.
            return
        except Exception as failure:  # noqa: BLE001 - whatever one row suffers, the others go on
            _log.warning("sweep_failed", memory_id=memory_id, failure=type(failure).__name__)


def _run_out(unit: Unit, after: str) -> Sequence[str]:
    return list_run_out(unit=unit, after=after, limit=_MEMORIES_AT_ONCE)


def _end(memory_id: str, unit: Unit) -> None:
    end_run_out(memory_id, unit=unit)


def _lapsed(unit: Unit, after: str) -> Sequence[str]:
    return list_lapsed(unit=unit, bundle=bundle_for_ending(unit), after=after, limit=_MEMORIES_AT_ONCE)


def _lapse(proposal_id: str, unit: Unit) -> None:
    lapse_proposal(proposal_id, unit=unit, bundle=bundle_for_ending(unit))


def _destroyable(unit: Unit, after: str) -> Sequence[str]:
    return list_destroyable(unit=unit, bundle=bundle_for_ending(unit), after=after, limit=_MEMORIES_AT_ONCE)


def destroy(memory_id: str, unit: Unit) -> None:
    """Begin to destroy a memory that its class keeps no longer; any other stays as it is."""
    # As if its person had asked: from every store, with a receipt, and never to come back from a copy.
    lock_deletions(unit)
    if not is_destroyable(memory_id, unit=unit, bundle=bundle_for_ending(unit)):
        return
    erasure = begin_erasure(Kind.MEMORY, memory_id, unit=unit)
    unit.stage("memory.deleted", item_id=memory_id)
    record(unit, Action.MEMORY_DESTROYED, kind="memory", ref=memory_id, erasure=erasure.id)
