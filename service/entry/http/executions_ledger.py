"""Routes of what a run saw, did and was checked for: observations, effects, candidates, checks."""

from typing import Final

from starlette.responses import Response

from service.core.errors import NotFound
from service.entry.http.edge import Edge, PathId, Reply, needs, new_router, operation
from service.entry.http.executions_examples import CHECK_EXAMPLE, EXAMPLE_HASH, OBSERVATION_EXAMPLE
from service.entry.http.executions_shapes import run_reply
from service.executions import refusals
from service.executions.acceptance.model import FailureKind, NewCheck
from service.executions.act import intend, settle
from service.executions.grade import grade
from service.executions.ledger.model import (
    Effect,
    EffectStatus,
    NewEffect,
    NewObservation,
    ObservedSource,
)
from service.executions.model import Execution
from service.executions.observe import observe
from service.executions.store import ExecutionStore
from service.executions.submit import submit
from service.identity.matrix import CHECKS_WRITE, EXECUTIONS_WRITE
from service.identity.unit import Unit
from service.policies.active import active_bundle
from service.wire.ledger import (
    AddObservation,
    CandidateAnswer,
    CheckAnswer,
    EffectAnswer,
    IntendEffect,
    ObservationAnswer,
    OperationId,
    SettleEffect,
    SubmitCandidate,
    WriteCheck,
)

router = new_router("executions")

_WRITING: Final = (refusals.ActingUserOnly, refusals.ExecutionEnded, refusals.RunFull)
_POLICY: Final = (refusals.EffectNotAllowed, refusals.CapabilityMissing, refusals.ApprovalNeeded)


@router.post(
    "/executions/{execution_id}/observations",
    **operation(
        summary="Record a tool result",
        answer=ObservationAnswer,
        status=201,
        example=OBSERVATION_EXAMPLE,
        problems=_WRITING,
    ),
)
def add_observation(
    execution_id: PathId, body: AddObservation, edge: Edge = needs(EXECUTIONS_WRITE)
) -> Response:
    """Keep a tool result; beyond 2,000 tokens as evidence, under the `evidence_id` that is answered."""
    source = body.source
    new = NewObservation(
        source=ObservedSource(source.uri, source.kind, source.observed_at, source.source_version),
        content=body.content,
        media_type=body.media_type,
        summary=body.summary,
        tool_call_id=body.tool_call_id,
    )

    def work(unit: Unit) -> Reply:
        kept = observe(execution_id, new, unit=unit, bundle=active_bundle(unit), chunker=edge.runtime.chunker)
        answer = ObservationAnswer(
            id=kept.id,
            sequence=kept.sequence,
            evidence_id=kept.evidence_id,
            sha256=kept.sha256,
            tokens=kept.tokens,
            trust=kept.trust.value,
            authority=kept.authority.value,
            limited=kept.limited,
            at=kept.at,
        )
        refs = (kept.id,) if kept.evidence_id is None else (kept.id, kept.evidence_id)
        return run_reply(answer, _run(execution_id, unit), status=201, refs=refs)

    return edge.create(work)


@router.post(
    "/executions/{execution_id}/effects",
    **operation(
        summary="Write down the intent to do an operation outside",
        answer=EffectAnswer,
        status=201,
        example={"operation_id": "seed-order-8", "kind": "orders.create", "request": {"sku": "A1"}},
        problems=[*_WRITING, *_POLICY, refusals.OperationTaken, refusals.ApprovalUnknown],
    ),
)
def add_effect(execution_id: PathId, body: IntendEffect, edge: Edge = needs(EXECUTIONS_WRITE)) -> Response:
    """Answer 201 for a new intent, 200 when the same one stands already."""
    new = NewEffect(body.operation_id, body.kind, body.request, body.approval_id)

    def work(unit: Unit) -> Reply:
        effect, is_new = intend(execution_id, new, unit=unit, bundle=active_bundle(unit))
        run = _run(execution_id, unit)
        return run_reply(_effect_answer(effect), run, status=201 if is_new else 200)

    return edge.create(work)


@router.patch(
    "/executions/{execution_id}/effects/{operation_id}",
    **operation(
        summary="Record how far an operation got",
        answer=EffectAnswer,
        example={"status": "committed", "downstream_ref": "order:8"},
        problems=[
            *_WRITING,
            *_POLICY,
            NotFound,
            refusals.EffectBackwards,
            refusals.ReconciliationNeeded,
        ],
    ),
)
def patch_effect(
    execution_id: PathId, operation_id: OperationId, body: SettleEffect, edge: Edge = needs(EXECUTIONS_WRITE)
) -> Response:
    """Move an effect forwards: dispatched, then committed, failed or unknown. Never backwards."""

    def work(unit: Unit) -> Reply:
        effect = settle(
            execution_id,
            operation_id,
            status=EffectStatus(body.status),
            downstream_ref=body.downstream_ref,
            unit=unit,
            bundle=active_bundle(unit),
        )
        return Reply(_effect_answer(effect))

    return edge.write(work)


@router.post(
    "/executions/{execution_id}/candidates",
    **operation(
        summary="Submit an artifact for checking",
        answer=CandidateAnswer,
        status=201,
        example={"artifact_hash": EXAMPLE_HASH},
        problems=_WRITING,
    ),
)
def add_candidate(
    execution_id: PathId, body: SubmitCandidate, edge: Edge = needs(EXECUTIONS_WRITE)
) -> Response:
    """Answer 201 for a new present candidate, 200 when this one is the present one already."""

    def work(unit: Unit) -> Reply:
        kept, is_new = submit(execution_id, body.artifact_hash, unit=unit)
        answer = CandidateAnswer(
            id=kept.id, sequence=kept.sequence, artifact_hash=kept.artifact_hash, at=kept.at
        )
        run = _run(execution_id, unit)
        return run_reply(answer, run, status=201 if is_new else 200, refs=(kept.id,))

    return edge.create(work)


@router.post(
    "/executions/{execution_id}/checks",
    **operation(
        summary="Write a check on a requirement",
        answer=CheckAnswer,
        status=201,
        example=CHECK_EXAMPLE,
        problems=[
            refusals.ExecutionEnded,
            refusals.RunFull,
            refusals.RequirementUnknown,
            refusals.CandidateUnknown,
            refusals.ContractDiffers,
            refusals.GraderDiffers,
            refusals.FailureUnexplained,
        ],
    ),
)
def add_check(execution_id: PathId, body: WriteCheck, edge: Edge = needs(CHECKS_WRITE)) -> Response:
    """Keep a grader's verdict. The last one that was missing completes the run."""
    new = NewCheck(
        requirement=body.requirement,
        passed=body.passed,
        artifact_hash=body.artifact_hash,
        contract_hash=body.contract_hash,
        grader_id=body.grader.id,
        grader_version=body.grader.version,
        environment=body.environment,
        output_ref=body.output_ref,
        expected=body.expected,
        observed=body.observed,
        reproduce=body.reproduce,
        failure_kind=None if body.failure_kind is None else FailureKind(body.failure_kind),
    )

    def work(unit: Unit) -> Reply:
        check, execution = grade(execution_id, new, unit=unit, bundle=active_bundle(unit))
        answer = CheckAnswer(
            id=check.id,
            sequence=check.sequence,
            requirement=check.requirement,
            passed=check.passed,
            artifact_hash=check.artifact_hash,
            contract_hash=check.contract_hash,
            failure_kind=None if check.failure_kind is None else check.failure_kind.value,
            execution_status=execution.status.value,
            at=check.at,
        )
        return run_reply(answer, execution, status=201, refs=(check.id,))

    return edge.create(work)


def _effect_answer(effect: Effect) -> EffectAnswer:
    return EffectAnswer(
        operation_id=effect.operation_id,
        kind=effect.kind,
        status=effect.status.value,
        downstream_ref=effect.downstream_ref,
        created_at=effect.created_at,
        updated_at=effect.updated_at,
    )


def _run(execution_id: str, unit: Unit) -> Execution:
    return ExecutionStore.of(unit).get(execution_id)
