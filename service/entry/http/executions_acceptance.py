"""Routes of how a run's result is checked: candidates, requests for checks, checks."""

from typing import Annotated, Final

from fastapi import Query
from starlette.responses import Response

from service.context.references import RecordReferences
from service.core.errors import NotFound
from service.core.paging import PAGE_ITEMS_DEFAULT
from service.entry.http.edge import Cursor, Edge, Limit, PathId, Reply, needs, new_router, operation
from service.entry.http.executions_examples import (
    CANDIDATE_EXAMPLE,
    CHECK_EXAMPLE,
    CHECK_REQUEST_EXAMPLE,
)
from service.entry.http.executions_shapes import run_reply
from service.evidence.model import ReferenceNotFound
from service.executions import refusals
from service.executions.acceptance.model import Candidate, Check, CheckRequest, FailureKind, NewCheck
from service.executions.grade import grade
from service.executions.leases.refusals import FencingTokenStale
from service.executions.model import Execution
from service.executions.request_checks import request_checks
from service.executions.store import ExecutionStore
from service.executions.submit import submit
from service.identity.matrix import CHECKS_WRITE, EXECUTIONS_WRITE
from service.identity.unit import Unit
from service.policies.active import active_bundle
from service.wire.acceptance import (
    CandidateAnswer,
    CheckAnswer,
    CheckRequestAnswer,
    CheckRequestList,
    CheckRequestPage,
    RequestChecks,
    SubmitCandidate,
    WriteCheck,
)
from service.wire.scalars import Id, Name

router = new_router("executions")

_WRITING: Final = (refusals.ActingUserOnly, FencingTokenStale, refusals.ExecutionEnded)


@router.post(
    "/executions/{execution_id}/candidates",
    **operation(
        summary="Submit an artifact for checking",
        answer=CandidateAnswer,
        status=201,
        example=CANDIDATE_EXAMPLE,
        problems=[*_WRITING, refusals.RunFull],
    ),
)
def add_candidate(
    execution_id: PathId, body: SubmitCandidate, edge: Edge = needs(EXECUTIONS_WRITE)
) -> Response:
    """Answer 201 for a new present candidate, 200 when this one is the present one already."""
    inputs = {made_of.ref: made_of.sha256 for made_of in body.inputs}

    def work(unit: Unit) -> Reply:
        kept, is_new = submit(execution_id, body.artifact_hash, unit=unit, inputs=inputs)
        run = ExecutionStore.of(unit).get(execution_id)
        return run_reply(_candidate_answer(kept), run, status=201 if is_new else 200, refs=(kept.id,))

    return edge.create(work)


@router.post(
    "/executions/{execution_id}/check-requests",
    **operation(
        summary="Ask graders to check the present candidate",
        answer=CheckRequestList,
        status=201,
        example={"requirements": ["login"]},
        problems=[*_WRITING, refusals.RequirementUnknown, refusals.CandidateMissing],
    ),
)
def add_check_requests(
    execution_id: PathId, body: RequestChecks, edge: Edge = needs(EXECUTIONS_WRITE)
) -> Response:
    """Answer 201 when a request is new, 200 when all of them waited already."""

    def work(unit: Unit) -> Reply:
        asked, is_new = request_checks(execution_id, body.requirements, unit=unit, bundle=active_bundle(unit))
        run = ExecutionStore.of(unit).get(execution_id)
        answer = CheckRequestList(items=[_request_answer(one, run) for one in asked])
        return run_reply(answer, run, status=201 if is_new else 200, refs=tuple(one.id for one in asked))

    return edge.create(work)


@router.get(
    "/check-requests",
    **operation(
        summary="List what waits for a check, oldest first",
        answer=CheckRequestPage,
        example={"items": [CHECK_REQUEST_EXAMPLE], "next_cursor": None},
        problems=[NotFound],
    ),
)
def list_check_requests(
    *,
    edge: Edge = needs(CHECKS_WRITE),
    execution_id: Annotated[Id | None, Query()] = None,
    requirement: Annotated[Name | None, Query()] = None,
    limit: Limit = PAGE_ITEMS_DEFAULT,
    cursor: Cursor = None,
) -> Response:
    """Answer open requests of the caller's projects, also those that only another grader may answer.

    A request is open until it is answered, another candidate is submitted, or its run ends.
    """

    def work(unit: Unit) -> Reply:
        store = ExecutionStore.of(unit)
        if execution_id is not None:
            store.get(execution_id)
        page = store.page_check_requests(
            edge.page(limit, cursor, execution_id, requirement),
            execution_id=execution_id,
            requirement=requirement,
        )
        items = [_request_answer(request, run) for request, run in page.items]
        return Reply(CheckRequestPage(items=items, next_cursor=page.next_cursor))

    return edge.read(work)


@router.post(
    "/executions/{execution_id}/checks",
    **operation(
        summary="Write a check on a requirement",
        answer=CheckAnswer,
        status=201,
        example=CHECK_EXAMPLE,
        problems=[
            refusals.GraderIsAuthor,
            refusals.ExecutionEnded,
            refusals.RunFull,
            refusals.RequirementUnknown,
            refusals.CandidateUnknown,
            refusals.ContractDiffers,
            refusals.GraderDiffers,
            refusals.FailureUnexplained,
            ReferenceNotFound,
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
        check, execution = grade(
            execution_id, new, unit=unit, bundle=active_bundle(unit), references=RecordReferences
        )
        return run_reply(_check_answer(check, execution), execution, status=201, refs=(check.id,))

    return edge.create(work)


def _candidate_answer(candidate: Candidate) -> CandidateAnswer:
    return CandidateAnswer(
        id=candidate.id,
        sequence=candidate.sequence,
        artifact_hash=candidate.artifact_hash,
        inputs_known=sorted(candidate.inputs),
        at=candidate.at,
    )


def _request_answer(request: CheckRequest, execution: Execution) -> CheckRequestAnswer:
    asked = next((one for one in execution.requirements if one.id == request.requirement), None)
    return CheckRequestAnswer(
        id=request.id,
        execution_id=request.execution_id,
        requirement=request.requirement,
        text=None if asked is None else asked.text,
        grader=None if asked is None else asked.grader,
        artifact_hash=request.artifact_hash,
        contract_hash=request.contract_hash,
        at=request.at,
    )


def _check_answer(check: Check, execution: Execution) -> CheckAnswer:
    return CheckAnswer(
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
