"""Cancelling a run, from outside or by the person whom it acts for."""

from dataclasses import replace

from service.audit.model import Action
from service.audit.record import record
from service.core.errors import Stale
from service.executions.hold import refuse_ended
from service.executions.interventions import InterventionKind
from service.executions.let_go import let_go
from service.executions.model import EndedReason, Execution, Status
from service.executions.refusals import ActingUserOnly
from service.executions.store import ExecutionStore
from service.identity.matrix import EXECUTIONS_OPERATE
from service.identity.unit import Unit


def cancel(execution_id: str, *, reason: str, expected_version: int, unit: Unit) -> Execution:
    """End a run for good, whatever it waits for, and answer it in its new version.

    Its lease, its requests for checks and its approvals go with it; an effect of unknown outcome can still be
    reconciled. Raises, in this order: `NotFound`, `ActingUserOnly` for a person who is neither the run's
    acting user nor an operator, `Stale`, `ExecutionEnded`.
    """
    store = ExecutionStore.of(unit)
    execution = store.get(execution_id, lock=True)
    is_operator = EXECUTIONS_OPERATE in unit.caller.scopes
    if not is_operator and unit.caller.sub != execution.acting_user:
        raise ActingUserOnly
    if expected_version != execution.version:
        raise Stale(execution.version)
    refuse_ended(execution)
    let_go(store, execution, unit=unit)
    cancelled = replace(
        execution,
        version=execution.version + 1,
        status=Status.CANCELLED,
        ended_reason=EndedReason.OPERATOR if is_operator else EndedReason.ACTING_USER,
        updated_at=unit.now,
    )
    store.runs.save(cancelled)
    store.interventions.add(execution, InterventionKind.CANCEL, reason=reason, unit=unit)
    record(
        unit,
        Action.EXECUTION_CANCELLED,
        kind="execution",
        ref=execution.id,
        version=cancelled.version,
        before=execution.status.value,
        status=cancelled.status.value,
        by=cancelled.ended_reason and cancelled.ended_reason.value,
    )
    return cancelled
