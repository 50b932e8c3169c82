"""Writing a check: a grader's verdict on one requirement of one candidate."""

from collections.abc import Sequence
from typing import Final

from service.audit.model import Action
from service.audit.record import record
from service.core.ids import is_id
from service.evidence.model import ReferenceNotFound
from service.evidence.store import EvidenceStore
from service.executions.acceptance.model import Candidate, Check, NewCheck
from service.executions.complete import complete_if_met
from service.executions.hold import refuse_ended, refuse_full
from service.executions.keep import keeps_text
from service.executions.model import CHECKS_MAX, Execution
from service.executions.ports import ReferencesOf
from service.executions.refusals import (
    CandidateUnknown,
    ContractDiffers,
    FailureUnexplained,
    GraderDiffers,
    GraderIsAuthor,
    RequirementUnknown,
)
from service.executions.store import ExecutionStore
from service.identity.unit import Unit
from service.policies.model import Bundle

_EVIDENCE: Final = "evidence:"


def grade(
    execution_id: str, new: NewCheck, *, unit: Unit, bundle: Bundle, references: ReferencesOf
) -> tuple[Check, Execution]:
    """Keep a verdict and answer it with the run, which the last passing check completes.

    Only the scope of graders reaches this, and nobody grades their own work. Raises `FailureUnexplained`,
    `GraderIsAuthor`, `ExecutionEnded`, `RequirementUnknown`, `ContractDiffers`, `CandidateUnknown`,
    `GraderDiffers`, and `ReferenceNotFound` for an output in evidence that the grader may not read.
    """
    if not new.passed and None in (new.expected, new.observed, new.reproduce, new.failure_kind):
        raise FailureUnexplained
    store = ExecutionStore.of(unit)
    execution = store.get(execution_id, lock=True)
    candidates = store.candidates(execution.id)
    if unit.caller.subject in _authors(execution, candidates):
        raise GraderIsAuthor
    refuse_ended(execution)
    _check_binding(new, execution, candidates)
    _check_output(new, unit)
    sequence = store.acceptance.next_check(execution_id)
    refuse_full(sequence - 1, CHECKS_MAX)
    keep = keeps_text(execution, bundle)
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
        expected=new.expected if keep else None,
        observed=new.observed if keep else None,
        reproduce=new.reproduce if keep else None,
        failure_kind=new.failure_kind,
        by=unit.caller.subject,
        at=unit.now,
    )
    store.acceptance.add_check(check, person=execution.person)
    if check.artifact_hash == candidates[-1].artifact_hash:
        store.check_requests.remove(execution.id, requirement=check.requirement)
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
    return check, complete_if_met(store, execution, unit=unit, bundle=bundle, references=references)


def _authors(execution: Execution, candidates: Sequence[Candidate]) -> frozenset[str | None]:
    """Answer who made what is to be graded: for whom, by which agent, and whoever submitted some of it."""
    return frozenset({execution.acting_user, execution.agent, *(one.by for one in candidates)})


def _check_binding(new: NewCheck, execution: Execution, candidates: Sequence[Candidate]) -> None:
    if new.requirement not in execution.requirement_ids:
        raise RequirementUnknown(pointer="/requirement")
    if new.contract_hash != execution.contract_hash:
        raise ContractDiffers(contract_hash=execution.contract_hash)
    if all(candidate.artifact_hash != new.artifact_hash for candidate in candidates):
        raise CandidateUnknown(pointer="/artifact_hash")
    named = {requirement.id: requirement.grader for requirement in execution.requirements}
    if named.get(new.requirement) not in (None, new.grader_id):
        raise GraderDiffers(pointer="/grader/id")


def _check_output(new: NewCheck, unit: Unit) -> None:
    """Refuse an output that claims to be evidence of ours and is none that the grader may read.

    Any other reference is opaque: it names something in the grader's own world.
    """
    output_ref = new.output_ref or ""
    evidence_id = output_ref.removeprefix(_EVIDENCE)
    if evidence_id == output_ref or not is_id(evidence_id):
        return
    if not EvidenceStore.of(unit).readable_heads([evidence_id], unit.caller):
        raise ReferenceNotFound("/output_ref")
