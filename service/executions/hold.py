"""Holding a run while something is written to it: who may, and in which order the refusals come."""

from service.core.errors import Stale
from service.executions.model import Execution
from service.executions.refusals import ActingUserOnly, ExecutionEnded, RunFull
from service.executions.rules import ENDED
from service.executions.store import ExecutionStore
from service.identity.unit import Unit


def hold(
    store: ExecutionStore, execution_id: str, *, unit: Unit, expected_version: int | None = None
) -> Execution:
    """Answer the run, locked until the transaction ends, for its acting user to write to.

    Raises, in this order: `NotFound` where the caller may not read it, `ActingUserOnly`, `Stale` when
    `expected_version` is not its version, `ExecutionEnded`.
    """
    execution = store.get(execution_id, lock=True)
    if execution.acting_user != unit.caller.sub:
        raise ActingUserOnly
    if expected_version is not None and expected_version != execution.version:
        raise Stale(execution.version)
    refuse_ended(execution)
    return execution


def refuse_ended(execution: Execution) -> None:
    """Raise `ExecutionEnded` for a run that nobody may change any more."""
    if execution.status in ENDED:
        raise ExecutionEnded(status=execution.status.value)


def refuse_full(count: int, most: int) -> None:
    """Raise `RunFull` when a run already holds `most` entries of a kind."""
    if count >= most:
        raise RunFull
