"""Submitting an artifact for checking."""

from service.audit.model import Action
from service.audit.record import record
from service.executions.acceptance.model import Candidate
from service.executions.hold import hold, refuse_full
from service.executions.model import CANDIDATES_MAX
from service.executions.store import ExecutionStore
from service.identity.unit import Unit


def submit(execution_id: str, artifact_hash: str, *, unit: Unit) -> tuple[Candidate, bool]:
    """Make this artifact the run's present candidate and answer it with `True`. All earlier ones are kept.

    Submitting the present one again answers it with `False`.
    """
    store = ExecutionStore.of(unit)
    execution = hold(store, execution_id, unit=unit)
    before = store.candidates(execution_id)
    if before and before[-1].artifact_hash == artifact_hash:
        return before[-1], False
    refuse_full(len(before), CANDIDATES_MAX)
    candidate = Candidate(
        id=unit.ids(),
        execution_id=execution.id,
        sequence=len(before) + 1,
        artifact_hash=artifact_hash,
        by=unit.caller.subject,
        at=unit.now,
    )
    store.acceptance.add_candidate(candidate)
    record(
        unit,
        Action.CANDIDATE_SUBMITTED,
        kind="execution",
        ref=execution.id,
        candidate=candidate.id,
        artifact_hash=artifact_hash,
    )
    return candidate, True
