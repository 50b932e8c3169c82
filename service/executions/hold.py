"""Holding a run while something is written to it: who may, and in which order the refusals come."""

from service.core.errors import Stale
from service.executions.leases.model import LeaseMode
from service.executions.leases.refusals import FencingTokenStale, RecoveryOnly
from service.executions.leases.rules import token_fits
from service.executions.model import Execution
from service.executions.refusals import ActingUserOnly, ExecutionEnded, RunFull
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
    that lives, `Stale` when `expected_version` is not its version, `ExecutionEnded`, and `RecoveryOnly` for
    an effect under a lease that is for recovery.
    """
    execution = store.get(execution_id, lock=True)
    if execution.acting_user != unit.caller.sub:
        raise ActingUserOnly
    lease = store.leases.find(execution_id)
    if not token_fits(lease, unit.fencing_token, unit.now):
        # An ended run takes no writes under any token, and says so rather than asking for one.
        refuse_ended(execution)
        raise FencingTokenStale
    if expected_version is not None and expected_version != execution.version:
        raise Stale(execution.version)
    refuse_ended(execution)
    if effect and lease is not None and lease.lives(unit.now) and lease.mode is LeaseMode.RECOVERY:
        raise RecoveryOnly
    return execution


def refuse_ended(execution: Execution) -> None:
    """Raise `ExecutionEnded` for a run that nobody may change any more."""
    if execution.status in ENDED:
        raise ExecutionEnded(status=execution.status.value)


def refuse_full(count: int, most: int) -> None:
    """Raise `RunFull` when a run already holds `most` entries of a kind."""
    if count >= most:
        raise RunFull
