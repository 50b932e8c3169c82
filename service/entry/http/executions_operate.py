"""Routes of those who look after runs: cancel, retry, timeline."""

from starlette.responses import Response

from service.core.errors import NotFound
from service.core.paging import PAGE_ITEMS_DEFAULT
from service.entry.http.edge import (
    Cursor,
    Edge,
    IfMatch,
    Limit,
    PathId,
    Reply,
    needs,
    new_router,
    operation,
)
from service.entry.http.executions_examples import HAPPENING_EXAMPLE, REASON_EXAMPLE
from service.entry.http.executions_shapes import execution_answer, run_reply
from service.executions import refusals
from service.executions.cancel import cancel
from service.executions.facts import gather
from service.executions.retry import retry
from service.executions.timeline import Happening, read_timeline
from service.identity.matrix import EXECUTIONS_CANCEL_OWN, EXECUTIONS_OPERATE, TIMELINE_READ
from service.identity.unit import Unit
from service.policies.active import active_bundle
from service.wire.executions import ExecutionAnswer
from service.wire.operate import HappeningAnswer, Intervene, TimelinePage

router = new_router("executions")


@router.post(
    "/executions/{execution_id}/cancel",
    **operation(
        summary="Cancel a run",
        answer=ExecutionAnswer,
        example=REASON_EXAMPLE,
        creates=True,
        problems=[NotFound, refusals.ActingUserOnly, refusals.ExecutionEnded],
    ),
)
def cancel_run(
    execution_id: PathId,
    body: Intervene,
    version: IfMatch,
    edge: Edge = needs(EXECUTIONS_OPERATE, EXECUTIONS_CANCEL_OWN),
) -> Response:
    """End a run for good, from any state that is not an end. Operators cancel any, users their own."""

    def work(unit: Unit) -> Reply:
        cancel(execution_id, reason=body.reason, expected_version=version, unit=unit)
        return _reply(execution_id, unit)

    return edge.create(work)


@router.post(
    "/executions/{execution_id}/retry",
    **operation(
        summary="Let a failed or reviewed run go on",
        answer=ExecutionAnswer,
        example=REASON_EXAMPLE,
        creates=True,
        problems=[
            NotFound,
            refusals.ExecutionEnded,
            refusals.TransitionRefused,
            refusals.AccessStillGone,
        ],
    ),
)
def retry_run(
    execution_id: PathId, body: Intervene, version: IfMatch, edge: Edge = needs(EXECUTIONS_OPERATE)
) -> Response:
    """Let a run go on that failed, or that waited for review and whose acting user has access again."""

    def work(unit: Unit) -> Reply:
        retry(execution_id, reason=body.reason, expected_version=version, unit=unit)
        return _reply(execution_id, unit)

    return edge.create(work)


@router.get(
    "/executions/{execution_id}/timeline",
    **operation(
        summary="Read what happened in a run, oldest first",
        answer=TimelinePage,
        example={"items": [HAPPENING_EXAMPLE], "next_cursor": None},
    ),
)
def get_timeline(
    execution_id: PathId,
    *,
    edge: Edge = needs(TIMELINE_READ),
    limit: Limit = PAGE_ITEMS_DEFAULT,
    cursor: Cursor = None,
) -> Response:
    """Answer transitions, effects, approvals, checks and references: who and when, and no text."""

    def work(unit: Unit) -> Reply:
        page = read_timeline(execution_id, edge.page(limit, cursor), unit=unit)
        items = [_happening_answer(one) for one in page.items]
        return Reply(TimelinePage(items=items, next_cursor=page.next_cursor))

    return edge.read(work)


def _reply(execution_id: str, unit: Unit) -> Reply:
    facts = gather(execution_id, unit=unit, bundle=active_bundle(unit))
    execution = facts.execution
    answer = execution_answer(facts, unit.project_of(execution.project_id).name)
    return run_reply(answer, execution, etag=execution.version)


def _happening_answer(happening: Happening) -> HappeningAnswer:
    return HappeningAnswer(
        at=happening.at,
        kind=happening.kind,
        actor=happening.actor,
        what=happening.what,
        ref=happening.ref,
        details=dict(happening.details),
    )
