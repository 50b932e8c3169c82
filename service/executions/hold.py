"""Holding a run while something is written to it: who may, and in which order the refusals come."""

from service.core.errors import Stale
from service.core.quarantined import Quarantined
from service.executions.leases.model import Lease
from service.executions.leases.refusals import FencingTokenStale, RecoveryOnly
from service.executions.leases.rules import is_recovering, token_fits
from service.executions.model import Execution, Status
from service.executions.refusals import ActingUserOnly, ExecutionEnded, ReviewRequired, RunFull
from service.executions.rules import ENDED
from service.executions.store import ExecutionStore
from service.identity.unit import Unit


def hold(
    store: ExecutionStore,
    execution_id: str,
    *,
    unit: Unit,
    expected_version: int | None = None,
    effect: bool = False,
) -> Execution:
    """Answer the run, locked until the transaction ends, for its acting user to write to.

    `effect` says that the write leads to an act outside. Raises, in this order: `NotFound` where the caller
    may not read it, `ActingUserOnly`, `FencingTokenStale` while the unit does not carry the token of a lease
    that lives, `Stale` when `expected_version` is not its version, `ExecutionEnded`, `ExecutionQuarantined`
    while it is itself the source of a quarantine, and for an effect `ReviewRequired` while the run waits for
    an operator and `RecoveryOnly` under a lease for recovery, also one that has lapsed.
    """
    execution = store.get(execution_id, lock=True)
    lease = _lease_of_writer(store, execution, unit)
    if expected_version is not None and expected_version != execution.version:
        raise Stale(execution.version)
    refuse_ended(execution)
    Quarantined(unit.session, unit.tenant_id).refuse_run(execution_id)
    if effect and execution.status is Status.REVIEW_REQUIRED:
        raise ReviewRequired
    if effect and is_recovering(lease, unit.fencing_token, unit.now):
        raise RecoveryOnly
    return execution


def look_at(store: ExecutionStore, execution_id: str, *, unit: Unit) -> Execution:
    """Answer the run to whom `hold` would now, not locked: for long reading before a short write holds it.

    Raises what `hold` does.
    """
    execution = store.get(execution_id)
    _lease_of_writer(store, execution, unit)
    refuse_ended(execution)
    Quarantined(unit.session, unit.tenant_id).refuse_run(execution_id)
    return execution


def _lease_of_writer(store: ExecutionStore, execution: Execution, unit: Unit) -> Lease | None:
    """Answer the newest lease of a run that the caller may write to."""
    if execution.acting_user != unit.caller.sub:
        raise ActingUserOnly
    lease = store.leases.find(execution.id)
    if not token_fits(lease, unit.fencing_token, unit.now):
        # An ended run takes no writes under any token, and says so rather than asking for one.
        refuse_ended(execution)
        raise FencingTokenStale
    return lease


def refuse_ended(execution: Execution) -> None:
    """Raise `ExecutionEnded` for a run that nobody may change any more."""
    if execution.status in ENDED:
        raise ExecutionEnded(status=execution.status.value)


def refuse_full(count: int, most: int) -> None:
    """Raise `RunFull` when a run already holds `most` entries of a kind."""
    if count >= most:
        raise RunFull
