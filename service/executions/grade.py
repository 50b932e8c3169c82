"""Writing a check: a grader's verdict on one requirement of one candidate."""

from service.audit.model import Action
from service.audit.record import record
from service.executions.acceptance.model import Check, NewCheck
from service.executions.complete import complete_if_met
from service.executions.hold import refuse_ended, refuse_full
from service.executions.model import CHECKS_MAX, Execution
from service.executions.refusals import (
    CandidateUnknown,
    ContractDiffers,
    FailureUnexplained,
    GraderDiffers,
    RequirementUnknown,
)
from service.executions.store import ExecutionStore
from service.identity.unit import Unit
from service.policies.model import Bundle


def grade(execution_id: str, new: NewCheck, *, unit: Unit, bundle: Bundle) -> tuple[Check, Execution]:
    """Keep a verdict and answer it with the run, which the last passing check completes.

    Only the scope of graders reaches this. Raises `FailureUnexplained`, `RequirementUnknown`,
    `CandidateUnknown`, `ContractDiffers`, `GraderDiffers`, `ExecutionEnded`.
    """
    if not new.passed and None in (new.expected, new.observed, new.reproduce, new.failure_kind):
        raise FailureUnexplained
    store = ExecutionStore.of(unit)
    execution = store.get(execution_id, lock=True)
    refuse_ended(execution)
    _check_binding(new, execution, store)
    sequence = store.acceptance.next_check(execution_id)
    refuse_full(sequence - 1, CHECKS_MAX)
    check = Check(
        id=unit.ids(),
        execution_id=execution.id,
        sequence=sequence,
        requirement=new.requirement,
        passed=new.passed,
        artifact_hash=new.artifact_hash,
        contract_hash=new.contract_hash,
        grader_id=new.grader_id,
        grader_version=new.grader_version,
        environment=new.environment,
        output_ref=new.output_ref,
        expected=new.expected,
        observed=new.observed,
        reproduce=new.reproduce,
        failure_kind=new.failure_kind,
        by=unit.caller.subject,
        at=unit.now,
    )
    store.acceptance.add_check(check, person=execution.person)
    record(
        unit,
        Action.CHECK_WRITTEN,
        kind="execution",
        ref=execution.id,
        check=check.id,
        requirement=check.requirement,
        passed=check.passed,
        artifact_hash=check.artifact_hash,
    )
    return check, complete_if_met(store, execution, unit=unit, bundle=bundle)


def _check_binding(new: NewCheck, execution: Execution, store: ExecutionStore) -> None:
    if new.requirement not in execution.requirement_ids:
        raise RequirementUnknown(pointer="/requirement")
    if new.contract_hash != execution.contract_hash:
        raise ContractDiffers(contract_hash=execution.contract_hash)
    if all(candidate.artifact_hash != new.artifact_hash for candidate in store.candidates(execution.id)):
        raise CandidateUnknown(pointer="/artifact_hash")
    named = {requirement.id: requirement.grader for requirement in execution.requirements}
    if named.get(new.requirement) not in (None, new.grader_id):
        raise GraderDiffers(pointer="/grader/id")
