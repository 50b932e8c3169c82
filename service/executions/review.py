"""Stopping runs for review: the acting user is no member of the project any more.

Keys are another matter: one that is revoked or has expired takes no access from its holder's runs.
"""

from dataclasses import replace
from typing import Final

from service.audit.model import Action
from service.audit.record import record
from service.executions.let_go import release_lease
from service.executions.model import NEWER_RELEASE_WAIT, Execution, Status
from service.executions.refusals import SchemaNewer
from service.executions.rules import ENDED
from service.executions.store import ExecutionStore
from service.identity.projects import MEMBER_REMOVED_TOPIC
from service.identity.standing import is_member
from service.identity.unit import Unit

REVIEW_RUNS_MAX: Final = 100
"""Most runs that one transaction stops."""


def require_review(execution: Execution, *, unit: Unit) -> Execution:
    """Stop a held run until an operator has looked at it, and answer it as it then stands.

    Its worker's lease goes; what waits for it stays. One that has ended or is stopped already stays as it is.
    """
    if execution.status in ENDED or execution.status is Status.REVIEW_REQUIRED:
        return execution
    store = ExecutionStore.of(unit)
    release_lease(store, execution)
    stopped = replace(execution, status=Status.REVIEW_REQUIRED, updated_at=unit.now)
    store.runs.save(stopped)
    record(
        unit,
        Action.EXECUTION_REVIEW_REQUIRED,
        kind="execution",
        ref=execution.id,
        before=execution.status.value,
        status=stopped.status.value,
        acting_user=execution.acting_user,
    )
    return stopped


def review_runs_of(
    acting_user: str, project_id: str, *, unit: Unit, after_id: str | None = None
) -> str | None:
    """Stop up to `REVIEW_RUNS_MAX` runs of a user whose access to a project is gone.

    Answers after which id to go on, `None` at the end. A user who is a member again keeps all of them.
    Runs of a newer release are left alone, and looked for again later.
    """
    if is_member(acting_user, project_id=project_id, unit=unit):
        return None
    store = ExecutionStore.of(unit)
    found = store.runs.list_unended(acting_user, project_id, limit=REVIEW_RUNS_MAX, after_id=after_id)
    is_left = False
    for execution_id in found:
        try:
            require_review(store.get(execution_id, lock=True), unit=unit)
        except SchemaNewer:
            is_left = True
    if is_left:
        due_at = unit.now + NEWER_RELEASE_WAIT
        unit.stage_at(MEMBER_REMOVED_TOPIC, due_at, subject=acting_user, project_id=project_id)
    return found[-1] if len(found) == REVIEW_RUNS_MAX else None
