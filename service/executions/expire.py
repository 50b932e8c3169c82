"""Writing down that a run's deadline has passed; whoever reads it sees that at once."""

from dataclasses import replace
from typing import Final

from service.audit.model import Action
from service.audit.record import record
from service.executions.let_go import let_go
from service.executions.model import NEWER_RELEASE_WAIT, EndedReason, Execution, Status
from service.executions.refusals import SchemaNewer
from service.executions.rules import ENDED
from service.executions.store import ExecutionStore
from service.identity.unit import Unit

EXPIRE_TOPIC: Final = "execution.expire"
"""The message that is due at a run's deadline; it holds the run's id."""


def stage_deadline(execution: Execution, *, unit: Unit) -> None:
    """See to it that the run is expired once its deadline, if it has one, has passed."""
    if execution.deadline is not None:
        unit.stage_at(EXPIRE_TOPIC, execution.deadline, execution_id=execution.id)


def expire_at_deadline(execution_id: str, *, unit: Unit) -> None:
    """End a run whose deadline has come. One that has ended stays as it is; one with time left waits on.

    So does one of a newer release, for a process of that release. Raises `NotFound` for a run that is not
    there any more.
    """
    try:
        execution = ExecutionStore.of(unit).get(execution_id, lock=True)
    except SchemaNewer:
        unit.stage_at(EXPIRE_TOPIC, unit.now + NEWER_RELEASE_WAIT, execution_id=execution_id)
        return
    if execution.status in ENDED:
        expire(execution, unit=unit)
    else:
        stage_deadline(execution, unit=unit)


def expire(execution: Execution, *, unit: Unit) -> Execution:
    """End a held run that reads as expired, with everything that waits for it, and answer it.

    One that was ended before, in whatever way, stays as it is.
    """
    if execution.status is not Status.EXPIRED or execution.ended_reason is not None:
        return execution
    store = ExecutionStore.of(unit)
    let_go(store, execution, unit=unit)
    expired = replace(execution, ended_reason=EndedReason.DEADLINE, updated_at=unit.now)
    store.runs.save(expired)
    record(
        unit,
        Action.EXECUTION_EXPIRED,
        kind="execution",
        ref=execution.id,
        version=execution.version,
        status=expired.status.value,
        by=EndedReason.DEADLINE.value,
    )
    return expired
