"""Letting a run go on that failed or was stopped for review."""

from dataclasses import replace
from typing import Final

from service.audit.model import Action
from service.audit.record import record
from service.core.errors import Stale
from service.executions.hold import refuse_ended
from service.executions.interventions import InterventionKind
from service.executions.model import Execution, Status
from service.executions.refusals import AccessStillGone, TransitionRefused
from service.executions.store import ExecutionStore
from service.identity.standing import is_member
from service.identity.unit import Unit

CAN_BE_RETRIED: Final = frozenset({Status.FAILED, Status.REVIEW_REQUIRED})


def retry(execution_id: str, *, reason: str, expected_version: int, unit: Unit) -> Execution:
    """Let a run go on where it stands, as an operator, and answer it in its new version.

    Raises, in this order: `NotFound`, `Stale`, `ExecutionEnded`, `TransitionRefused` for a run that neither
    failed nor waits for review, and `AccessStillGone` while its acting user may not enter its project.
    """
    store = ExecutionStore.of(unit)
    execution = store.get(execution_id, lock=True)
    if expected_version != execution.version:
        raise Stale(execution.version)
    refuse_ended(execution)
    if execution.status not in CAN_BE_RETRIED:
        raise TransitionRefused(f"A run that is {execution.status} needs no retry.")
    if not is_member(execution.acting_user, project_id=execution.project_id, unit=unit):
        raise AccessStillGone
    retried = replace(execution, version=execution.version + 1, status=Status.RUNNING, updated_at=unit.now)
    store.runs.save(retried)
    store.interventions.add(execution, InterventionKind.RETRY, reason=reason, unit=unit)
    record(
        unit,
        Action.EXECUTION_RETRIED,
        kind="execution",
        ref=execution.id,
        version=retried.version,
        before=execution.status.value,
        status=retried.status.value,
    )
    return retried
