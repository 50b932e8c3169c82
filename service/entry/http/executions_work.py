"""Routes of a run's work: manifest, tasks, steps, log, handoff."""

from typing import Annotated, Final

from fastapi import Query
from starlette.responses import Response

from service.context.references import RecordReferences
from service.core.paging import CursorInvalid
from service.entry.http.edge import Edge, IfMatch, PathId, Reply, needs, new_router, operation
from service.entry.http.executions_examples import (
    HANDOFF_EXAMPLE,
    LOG_EXAMPLE,
    MANIFEST_EXAMPLE,
    NEXT_STEPS_EXAMPLE,
    STEP_EXAMPLE,
    TASKS_EXAMPLE,
)
from service.entry.http.executions_log import read_lines
from service.entry.http.executions_shapes import (
    declared_task,
    handoff_answer,
    new_step,
    run_reply,
    step_answer,
    task_answer,
)
from service.executions import refusals
from service.executions.facts import gather
from service.executions.log_step import log_step
from service.executions.model import STEPS_MAX
from service.executions.next_steps import write_next_steps
from service.executions.plan import set_manifest
from service.executions.store import ExecutionStore
from service.identity.matrix import EXECUTIONS_READ, EXECUTIONS_READ_REDACTED, EXECUTIONS_WRITE
from service.identity.unit import Unit
from service.policies.active import active_bundle
from service.wire.scalars import Id
from service.wire.work import (
    HandoffAnswer,
    LogStep,
    ManifestAnswer,
    SetManifest,
    StepAnswer,
    TaskList,
)

router = new_router("executions")

_LOG_MEDIA_TYPE: Final = "application/x-ndjson"
_TEXT_MEDIA_TYPE: Final = "text/plain"


@router.put(
    "/executions/{execution_id}/manifest",
    **operation(
        summary="Declare a run's tasks",
        answer=ManifestAnswer,
        example=MANIFEST_EXAMPLE,
        problems=[refusals.ActingUserOnly, refusals.ExecutionEnded, refusals.TaskRemovalRefused],
    ),
)
def put_manifest(
    execution_id: PathId, body: SetManifest, version: IfMatch, edge: Edge = needs(EXECUTIONS_WRITE)
) -> Response:
    """Make these the run's tasks, in order. An agent may add to them and not take away."""
    tasks = [declared_task(shape) for shape in body.tasks]

    def work(unit: Unit) -> Reply:
        bundle = active_bundle(unit)
        changed = set_manifest(execution_id, tasks, expected_version=version, unit=unit, bundle=bundle)
        standing = [task_answer(task) for task in ExecutionStore.of(unit).tasks(execution_id)]
        return Reply(ManifestAnswer(version=changed.version, tasks=standing), etag=changed.version)

    return edge.write(work)


@router.get(
    "/executions/{execution_id}/tasks",
    **operation(summary="List a run's tasks", answer=TaskList, example=TASKS_EXAMPLE),
)
def list_tasks(
    execution_id: PathId, edge: Edge = needs(EXECUTIONS_READ, EXECUTIONS_READ_REDACTED)
) -> Response:
    """Answer all tasks (at most 1,000) in the manifest's order, each with its standing."""

    def work(unit: Unit) -> Reply:
        tasks = ExecutionStore.of(unit).tasks(execution_id)
        return Reply(TaskList(items=[task_answer(task) for task in tasks]))

    return edge.read(work)


@router.post(
    "/executions/{execution_id}/steps",
    **operation(
        summary="Write one line of the execution log",
        answer=StepAnswer,
        status=201,
        example=STEP_EXAMPLE,
        problems=[
            refusals.ActingUserOnly,
            refusals.ExecutionEnded,
            refusals.OutputsMissing,
            refusals.RunFull,
        ],
    ),
)
def add_step(execution_id: PathId, body: LogStep, edge: Edge = needs(EXECUTIONS_WRITE)) -> Response:
    """Answer 201 with the new line, or 200 with the first one when the task is completed on these inputs."""
    new = new_step(body)

    def work(unit: Unit) -> Reply:
        step, is_new = log_step(
            execution_id, new, unit=unit, bundle=active_bundle(unit), references=RecordReferences
        )
        execution = ExecutionStore.of(unit).get(execution_id)
        return run_reply(step_answer(step), execution, status=201 if is_new else 200, refs=(step.id,))

    return edge.create(work)


@router.get(
    "/executions/{execution_id}/log",
    **operation(
        summary="Read the execution log as JSON Lines",
        answer=None,
        also={_LOG_MEDIA_TYPE: LOG_EXAMPLE},
        problems=[CursorInvalid],
    ),
)
def read_log(
    execution_id: PathId,
    *,
    edge: Edge = needs(EXECUTIONS_READ, EXECUTIONS_READ_REDACTED),
    after: Annotated[Id | None, Query(description="The id of the last line that you have.")] = None,
    limit: Annotated[int, Query(ge=1, le=STEPS_MAX)] = STEPS_MAX,
) -> Response:
    """Answer the lines of the log, oldest first, or those that follow one.

    An answer ends with the line that passes 8 MiB; `Link` names the next one where more lines follow.
    """

    def work(unit: Unit) -> Reply:
        page = read_lines(execution_id, after=after, limit=limit, store=ExecutionStore.of(unit))
        headers = {}
        if page.next_after is not None:
            following = edge.request.url.include_query_params(after=page.next_after)
            headers["Link"] = f'<{following.path}?{following.query}>; rel="next"'
        return Reply(page.text, headers=headers, media_type=_LOG_MEDIA_TYPE)

    return edge.read(work)


@router.get(
    "/executions/{execution_id}/handoff",
    **operation(
        summary="Read the handoff of a run",
        answer=HandoffAnswer,
        example=HANDOFF_EXAMPLE,
        also={_TEXT_MEDIA_TYPE: NEXT_STEPS_EXAMPLE},
    ),
)
def read_handoff(
    execution_id: PathId, edge: Edge = needs(EXECUTIONS_READ, EXECUTIONS_READ_REDACTED)
) -> Response:
    """Answer the ledger as JSON or, when `text/plain` is accepted before it, the next steps in words."""
    as_text = _prefers_text(edge.request.headers.get("accept", ""))

    def work(unit: Unit) -> Reply:
        facts = gather(execution_id, unit=unit, bundle=active_bundle(unit))
        version = facts.execution.version
        if as_text:
            return Reply(
                write_next_steps(facts), etag=version, media_type=f"{_TEXT_MEDIA_TYPE}; charset=utf-8"
            )
        return Reply(handoff_answer(facts), etag=version)

    return edge.read(work)


def _prefers_text(accept: str) -> bool:
    """Say whether `text/plain` is named, and JSON is not named before it."""
    kinds = [part.partition(";")[0].strip().lower() for part in accept.split(",")]
    if _TEXT_MEDIA_TYPE not in kinds:
        return False
    return "application/json" not in kinds[: kinds.index(_TEXT_MEDIA_TYPE)]
