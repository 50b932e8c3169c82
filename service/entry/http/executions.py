"""Routes of runs: open, list, read, move, confirm."""

from typing import Annotated

from fastapi import Query
from starlette.responses import Response

from service.context.references import RecordReferences
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
from service.entry.http.executions_examples import (
    CHECKPOINT_EXAMPLE,
    EXECUTION_EXAMPLE,
    LISTED_EXAMPLE,
    OPEN_EXAMPLE,
)
from service.entry.http.executions_shapes import execution_answer, listed_answer, new_execution, run_reply
from service.evidence.model import ReferenceNotFound
from service.executions import refusals
from service.executions.checkpoint import checkpoint
from service.executions.confirm import confirm_contract
from service.executions.facts import gather
from service.executions.model import NewCheckpoint, Status, Transition
from service.executions.open import open_execution
from service.executions.store import ExecutionStore
from service.identity.matrix import (
    CONTRACTS_CONFIRM,
    EXECUTIONS_READ,
    EXECUTIONS_READ_REDACTED,
    EXECUTIONS_WRITE,
)
from service.identity.unit import Unit
from service.policies.active import active_bundle
from service.wire.executions import (
    CheckpointAnswer,
    ExecutionAnswer,
    ExecutionPage,
    MakeCheckpoint,
    OpenExecution,
)
from service.wire.executions import Status as StatusShape
from service.wire.scalars import Name

router = new_router("executions")


@router.post(
    "/executions",
    **operation(
        summary="Open a run",
        answer=ExecutionAnswer,
        status=201,
        example=OPEN_EXAMPLE,
        problems=[
            NotFound,
            refusals.ExternalRefTaken,
            refusals.ActingUserDiffers,
            refusals.RetentionClassUnknown,
        ],
    ),
)
def open_run(body: OpenExecution, edge: Edge = needs(EXECUTIONS_WRITE)) -> Response:
    """Open a run; a fresh session finds it by its external reference, which is unique in its project."""
    new = new_execution(body)

    def work(unit: Unit) -> Reply:
        opened = open_execution(new, unit=unit, bundle=active_bundle(unit))
        return _reply(opened.id, unit, status=201)

    return edge.create(work)


@router.get(
    "/executions",
    **operation(
        summary="List runs, newest first",
        answer=ExecutionPage,
        example={"items": [LISTED_EXAMPLE], "next_cursor": None},
    ),
)
def list_runs(
    *,
    edge: Edge = needs(EXECUTIONS_READ, EXECUTIONS_READ_REDACTED),
    project: Annotated[Name | None, Query()] = None,
    status: Annotated[StatusShape | None, Query()] = None,
    external_ref: Annotated[Name | None, Query()] = None,
    limit: Limit = PAGE_ITEMS_DEFAULT,
    cursor: Cursor = None,
) -> Response:
    """Answer the runs of the caller's projects, without the counts and actions that one run shows."""

    def work(unit: Unit) -> Reply:
        page = ExecutionStore.of(unit).page(
            edge.page(limit, cursor, project, status, external_ref),
            project_id=None if project is None else unit.project(project).id,
            status=None if status is None else Status(status),
            external_ref=external_ref,
        )
        names = {one.id: one.name for one in unit.caller.projects}
        items = [listed_answer(one, names[one.project_id]) for one in page.items]
        return Reply(ExecutionPage(items=items, next_cursor=page.next_cursor))

    return edge.read(work)


@router.get(
    "/executions/{execution_id}",
    **operation(summary="Read a run", answer=ExecutionAnswer, example=EXECUTION_EXAMPLE),
)
def get_run(execution_id: PathId, edge: Edge = needs(EXECUTIONS_READ, EXECUTIONS_READ_REDACTED)) -> Response:
    """Answer the display model of a run, never its raw checkpoint. Operators get it without text."""
    return edge.read(lambda unit: _reply(execution_id, unit))


@router.post(
    "/executions/{execution_id}/checkpoints",
    **operation(
        summary="Move a run by one transition",
        answer=CheckpointAnswer,
        status=201,
        example=CHECKPOINT_EXAMPLE,
        problems=[
            refusals.ActingUserOnly,
            refusals.ExecutionEnded,
            refusals.TransitionRefused,
            refusals.StepBackwards,
            refusals.BudgetExhausted,
            refusals.CostTooLarge,
            refusals.EffectUnknown,
            refusals.StateTooLarge,
            ReferenceNotFound,
        ],
    ),
)
def make_checkpoint(
    execution_id: PathId, body: MakeCheckpoint, version: IfMatch, edge: Edge = needs(EXECUTIONS_WRITE)
) -> Response:
    """Take one transition with the new working state. Of many from one version, exactly one is taken."""
    asked = NewCheckpoint(Transition(body.transition), body.state, body.step, body.cost)

    def work(unit: Unit) -> Reply:
        bundle = active_bundle(unit)
        moved = checkpoint(
            execution_id,
            asked,
            expected_version=version,
            unit=unit,
            bundle=bundle,
            references=RecordReferences,
        )
        answer = CheckpointAnswer(
            version=moved.version, status=moved.status.value, step=moved.step, cost_used=moved.cost_used
        )
        return run_reply(answer, moved, status=201, etag=moved.version)

    return edge.create(work)


@router.post(
    "/executions/{execution_id}/contract/confirm",
    **operation(
        summary="Confirm a run's contract",
        answer=ExecutionAnswer,
        example=EXECUTION_EXAMPLE,
        problems=[refusals.ExecutionEnded],
    ),
)
def confirm(execution_id: PathId, edge: Edge = needs(CONTRACTS_CONFIRM)) -> Response:
    """Confirm, as a person, the contract that an agent wrote."""

    def work(unit: Unit) -> Reply:
        confirm_contract(execution_id, unit=unit, bundle=active_bundle(unit), references=RecordReferences)
        return _reply(execution_id, unit)

    return edge.write(work)


def _reply(execution_id: str, unit: Unit, *, status: int = 200) -> Reply:
    facts = gather(execution_id, unit=unit, bundle=active_bundle(unit))
    execution = facts.execution
    answer = execution_answer(facts, unit.project_of(execution.project_id).name)
    return run_reply(answer, execution, status=status, etag=execution.version)
