"""`sweep`: what has run out is marked so and leaves the index. Reading never waits for it."""

from collections.abc import Mapping, Sequence

from service.audit.model import Action
from service.audit.record import record
from service.identity.unit import Unit
from service.memories.model import MemoryStatus
from service.memories.store_changes import ChangeStore
from service.memories.store_sweep import SweepStore
from service.memories.store_versions import RUNS_OUT
from service.policies.model import Bundle


def list_run_out(*, unit: Unit, after: str, limit: int) -> Sequence[str]:
    """Answer ids of memories whose time has come and that nobody has marked, in order, after `after`."""
    return SweepStore.of(unit).list_run_out(now=unit.now, after=after, limit=limit)


def list_destroyable(*, unit: Unit, bundle: Bundle, after: str, limit: int) -> Sequence[str]:
    """Answer ids of memories that ended longer ago than their class keeps them, in order, after `after`.

    None that a legal hold restricts, and none that can still be taken back.
    """
    return SweepStore.of(unit).list_destroyable(_kept_days(bundle), now=unit.now, after=after, limit=limit)


def is_destroyable(memory_id: str, *, unit: Unit, bundle: Bundle) -> bool:
    """Say whether `list_destroyable` would answer a memory: another process may have been faster."""
    return SweepStore.of(unit).is_destroyable(memory_id, _kept_days(bundle), now=unit.now)


def end_run_out(memory_id: str, *, unit: Unit) -> None:
    """Mark a memory that has run out as expired, at the moment at which it did. Others are left alone."""
    store = ChangeStore.of(unit)
    locked = store.lock(memory_id)
    if locked is None or locked.status not in RUNS_OUT or locked.expires_at > unit.now:
        return
    store.set_status(memory_id, MemoryStatus.EXPIRED, ended_at=locked.expires_at)
    unit.stage("memory.deleted", item_id=memory_id)
    record(unit, Action.MEMORY_EXPIRED, kind="memory", ref=memory_id)


def _kept_days(bundle: Bundle) -> Mapping[str, int]:
    return {
        name: rule.expiry.keep_ended_days for name, rule in bundle.classes.items() if rule.expiry is not None
    }
