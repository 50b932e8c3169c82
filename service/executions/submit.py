"""Submitting an artifact for checking."""

from collections.abc import Mapping

from service.audit.model import Action
from service.audit.record import record
from service.executions.acceptance.inputs import hash_inputs, newest_outputs
from service.executions.acceptance.model import Candidate
from service.executions.hold import hold, refuse_full
from service.executions.model import CANDIDATES_MAX, Execution
from service.executions.store import ExecutionStore
from service.identity.unit import Unit


def submit(
    execution_id: str, artifact_hash: str, *, unit: Unit, inputs: Mapping[str, str] | None = None
) -> tuple[Candidate, bool]:
    """Make this artifact the run's present candidate and answer it with `True`. All earlier ones are kept.

    What it was made of is taken from the log's newest outputs; `inputs` (hash by reference) adds to them and
    comes before them. Requests to check an earlier candidate are taken back. Submitting the present one
    again answers it as it stands, with `False`.
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
        inputs=_snapshot(execution, store, inputs or {}),
        by=unit.caller.subject,
        at=unit.now,
    )
    store.acceptance.add_candidate(candidate)
    store.check_requests.remove(execution.id)
    record(
        unit,
        Action.CANDIDATE_SUBMITTED,
        kind="execution",
        ref=execution.id,
        candidate=candidate.id,
        artifact_hash=artifact_hash,
    )
    return candidate, True


def _snapshot(execution: Execution, store: ExecutionStore, inputs: Mapping[str, str]) -> Mapping[str, str]:
    if not any(requirement.depends_on for requirement in execution.requirements):
        return {}
    return hash_inputs(execution.requirements, {**newest_outputs(store.work.outline(execution.id)), **inputs})
