"""Routes of a run's work: manifest, tasks, steps, log, handoff."""

from typing import Final

from starlette.responses import Response

from service.entry.http.edge import Edge, IfMatch, PathId, Reply, needs, new_router, operation
from service.entry.http.executions_shapes import (
    declared_task,
    handoff_answer,
    log_text,
    new_step,
    step_answer,
    task_answer,
)
from service.executions import refusals
from service.executions.facts import gather
from service.executions.log_step import log_step
from service.executions.next_steps import write_next_steps
from service.executions.plan import set_manifest
from service.executions.store import ExecutionStore
from service.identity.matrix import EXECUTIONS_READ, EXECUTIONS_READ_REDACTED, EXECUTIONS_WRITE
from service.identity.unit import Unit
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
_HASH: Final = "sha256:" + "4b" * 32
_MANIFEST_EXAMPLE: Final = {
    "tasks": [
        {"id": "read-case", "title": "Read the case file", "outputs": ["case-summary"]},
        {"id": "draft", "inputs": ["case-summary"], "outputs": ["reply"]},
    ]
}
_STEP_EXAMPLE: Final = {
    "task_id": "read-case",
    "exit_status": "completed",
    "inputs": [{"ref": "file:case.pdf", "sha256": _HASH}],
    "outputs": [{"name": "case-summary", "ref": "file:case-summary.md", "sha256": _HASH}],
    "summary": "Case file read",
}
_TASKS_EXAMPLE: Final = {
    "items": [
        {
            "id": "draft",
            "title": None,
            "standing": "pending",
            "inputs": ["case-summary"],
            "outputs": [{"name": "reply", "ref": None, "sha256": None}],
        }
    ]
}
_HANDOFF_EXAMPLE: Final = {
    "schema_version": 1,
    "execution_id": "01936d7e-5d5c-7c3e-9d0a-6c1f0f3f7a11",
    "external_ref": "order-app-42",
    "revision": 3,
    "contract_hash": _HASH,
    "artifact_hash": None,
    "completed": ["read-case"],
    "next_action": "draft the reply",
    "outputs": [],
    "blockers": [],
    "checks": [{"requirement": "login", "status": "missing", "check_id": None, "evidence": None}],
    "effects": [{"operation_id": "seed-order-8", "status": "unknown"}],
    "approvals": [],
}
_NEXT_STEPS_EXAMPLE: Final = (
    "Run order-app-42 is running at step 1, revision 3; 1 of 2 tasks done. Completed last: read-case."
    " Next: draft the reply. Outputs: case-summary (file:case-summary.md). Nothing blocks."
)


@router.put(
    "/executions/{execution_id}/manifest",
    **operation(
        summary="Declare a run's tasks",
        answer=ManifestAnswer,
        example=_MANIFEST_EXAMPLE,
        problems=[refusals.ActingUserOnly, refusals.ExecutionEnded, refusals.TaskRemovalRefused],
    ),
)
def put_manifest(
    execution_id: PathId, body: SetManifest, version: IfMatch, edge: Edge = needs(EXECUTIONS_WRITE)
) -> Response:
    """Make these the run's tasks, in order. An agent may add to them and not take away."""
    tasks = [declared_task(shape) for shape in body.tasks]

    def work(unit: Unit) -> Reply:
        changed = set_manifest(execution_id, tasks, expected_version=version, unit=unit)
        standing = [task_answer(task) for task in ExecutionStore.of(unit).tasks(execution_id)]
        return Reply(ManifestAnswer(version=changed.version, tasks=standing), etag=changed.version)

    return edge.write(work)


@router.get(
    "/executions/{execution_id}/tasks",
    **operation(summary="List a run's tasks", answer=TaskList, example=_TASKS_EXAMPLE),
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
        example=_STEP_EXAMPLE,
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
        step, is_new = log_step(execution_id, new, unit=unit)
        execution = ExecutionStore.of(unit).get(execution_id)
        return Reply(
            step_answer(step),
            status=201 if is_new else 200,
            refs=(execution.id,),
            project_id=execution.project_id,
            subjects=() if execution.person is None else (execution.person,),
        )

    return edge.create(work)


@router.get(
    "/executions/{execution_id}/log",
    **operation(
        summary="Read the execution log as JSON Lines",
        answer=None,
        also={
            _LOG_MEDIA_TYPE: '{"id": "…", "at": "…", "task_id": "read-case", "exit_status": "completed"}\n'
        },
    ),
)
def read_log(execution_id: PathId, edge: Edge = needs(EXECUTIONS_READ, EXECUTIONS_READ_REDACTED)) -> Response:
    """Answer every line of the log, oldest first."""
    return edge.read(
        lambda unit: Reply(log_text(ExecutionStore.of(unit).steps(execution_id)), media_type=_LOG_MEDIA_TYPE)
    )


@router.get(
    "/executions/{execution_id}/handoff",
    **operation(
        summary="Read the handoff of a run",
        answer=HandoffAnswer,
        example=_HANDOFF_EXAMPLE,
        also={_TEXT_MEDIA_TYPE: _NEXT_STEPS_EXAMPLE},
    ),
)
def read_handoff(
    execution_id: PathId, edge: Edge = needs(EXECUTIONS_READ, EXECUTIONS_READ_REDACTED)
) -> Response:
    """Answer the ledger as JSON or, when `text/plain` is accepted before it, the next steps in words."""
    as_text = _prefers_text(edge.request.headers.get("accept", ""))

    def work(unit: Unit) -> Reply:
        facts = gather(execution_id, unit=unit)
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
