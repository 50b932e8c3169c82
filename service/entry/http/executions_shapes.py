"""Runs between their shapes on the wire and their values inside."""

from pydantic import BaseModel

from service.entry.http.edge import Reply
from service.executions.facts import Facts
from service.executions.handoff import compose_handoff, next_action, pending_action
from service.executions.model import Budgets, Execution, MemoryMode, NewExecution, Requirement
from service.executions.work.model import DeclaredTask, ExitStatus, Input, NewStep, Output, Step, Task
from service.executions.work.rules import count_tasks
from service.wire.executions import (
    BudgetsAnswer,
    ExecutionAnswer,
    ExecutionListed,
    LeaseUntil,
    OpenExecution,
    RequirementAnswer,
    TaskCountsAnswer,
)
from service.wire.work import (
    ApprovalStanding,
    BlockerAnswer,
    EffectStanding,
    HandedOutput,
    HandoffAnswer,
    InputAnswer,
    LogLine,
    LogStep,
    OutputAnswer,
    RequirementStandingAnswer,
    StepAnswer,
    TaskAnswer,
    TaskOutput,
    TaskShape,
)


def new_execution(body: OpenExecution) -> NewExecution:
    """Answer what is asked to be opened."""
    return NewExecution(
        project=body.project,
        objective=body.objective,
        requirements=tuple(
            Requirement(one.id, one.text, one.grader, tuple(one.depends_on)) for one in body.requirements
        ),
        external_ref=body.external_ref,
        budgets=Budgets(body.budgets.cost, body.budgets.steps, body.budgets.revisions),
        deadline=body.deadline,
        retention_class=body.retention_class,
        memory_mode=MemoryMode(body.memory_mode),
        acting_user=body.acting_user,
    )


def declared_task(shape: TaskShape) -> DeclaredTask:
    """Answer the task that is declared."""
    return DeclaredTask(shape.id, shape.title, tuple(shape.inputs), tuple(shape.outputs))


def new_step(body: LogStep) -> NewStep:
    """Answer the line that is to be kept."""
    return NewStep(
        task_id=body.task_id,
        exit_status=ExitStatus(body.exit_status),
        inputs=tuple(Input(one.ref, one.sha256) for one in body.inputs),
        outputs=tuple(Output(one.name, one.ref, one.sha256) for one in body.outputs),
        summary=body.summary,
    )


def run_reply(
    answer: BaseModel,
    execution: Execution,
    *,
    status: int = 200,
    etag: int | None = None,
    refs: tuple[str, ...] = (),
) -> Reply:
    """Reply about a run. `refs` are the ids of what was written to it.

    A kept answer goes when the run is erased, or one of them, or the person whom the run is about.
    """
    return Reply(
        answer,
        status=status,
        etag=etag,
        refs=(execution.id, *refs),
        project_id=execution.project_id,
        subjects=() if execution.person is None else (execution.person,),
    )


def listed_answer(execution: Execution, project: str) -> ExecutionListed:
    """Answer a run as it stands in a list; `project` is its project's name."""
    budgets = execution.budgets
    return ExecutionListed(
        id=execution.id,
        project=project,
        external_ref=execution.external_ref,
        version=execution.version,
        status=execution.status.value,
        ended_reason=None if execution.ended_reason is None else execution.ended_reason.value,
        objective=execution.objective,
        step=execution.step,
        cost_used=execution.cost_used,
        budgets=BudgetsAnswer(cost=budgets.cost, steps=budgets.steps, revisions=budgets.revisions),
        deadline=execution.deadline,
        retention_class=execution.retention_class,
        memory_mode=execution.memory_mode.value,
        schema_version=execution.schema_version,
        acting_user=execution.acting_user,
        agent=execution.agent,
        contract_hash=execution.contract_hash,
        contract_origin=execution.contract_origin.value,
        contract_confirmed=execution.contract_confirmed,
        created_at=execution.created_at,
        updated_at=execution.updated_at,
        content_erased_at=execution.content_erased_at,
    )


def execution_answer(facts: Facts, project: str) -> ExecutionAnswer:
    """Answer the display model: never the working state itself."""
    counts = count_tasks(facts.tasks)
    return ExecutionAnswer(
        **dict(listed_answer(facts.execution, project)),
        requirements=_requirements(facts.execution),
        tasks=TaskCountsAnswer(done=counts.done, open=counts.open, blocked=counts.blocked),
        pending_action=pending_action(facts),
        next_action=next_action(facts),
        lease=None if facts.lease is None else LeaseUntil(until=facts.lease.expires_at),
    )


def task_answer(task: Task) -> TaskAnswer:
    """Answer a task; a declared output that is not produced yet has no reference."""
    produced = {output.name: output for output in task.produced}
    names = dict.fromkeys([*task.outputs, *produced])
    return TaskAnswer(
        id=task.id,
        title=task.title,
        standing=task.standing.value,
        inputs=list(task.inputs),
        outputs=[_task_output(name, produced.get(name)) for name in names],
    )


def log_line(step: Step) -> LogLine:
    """Answer a line of the log."""
    return LogLine(
        id=step.id,
        at=step.at,
        task_id=step.task_id,
        exit_status=step.exit_status.value,
        inputs=[InputAnswer(ref=one.ref, sha256=one.sha256) for one in step.inputs],
        outputs=[OutputAnswer(name=one.name, ref=one.ref, sha256=one.sha256) for one in step.outputs],
        summary=step.summary,
    )


def step_answer(step: Step) -> StepAnswer:
    """Answer a kept line."""
    return StepAnswer(**dict(log_line(step)), status=step.exit_status.value)


def handoff_answer(facts: Facts) -> HandoffAnswer:
    """Answer the ledger for a session that knows nothing but the run's id."""
    handoff = compose_handoff(facts)
    return HandoffAnswer(
        schema_version=handoff.schema_version,
        execution_id=handoff.execution_id,
        external_ref=handoff.external_ref,
        revision=handoff.revision,
        contract_hash=handoff.contract_hash,
        artifact_hash=handoff.artifact_hash,
        completed=list(handoff.completed),
        next_action=handoff.next_action,
        outputs=[
            HandedOutput(task_id=task_id, name=output.name, ref=output.ref, sha256=output.sha256)
            for task_id, output in handoff.outputs
        ],
        blockers=[BlockerAnswer(kind=one.kind.value, ref=one.ref, text=one.text) for one in handoff.blockers],
        checks=[
            RequirementStandingAnswer(
                requirement=one.requirement,
                status=one.status.value,
                check_id=one.check_id,
                evidence=one.evidence,
                failure_kind=None if one.failure_kind is None else one.failure_kind.value,
                carried_from=one.carried_from,
                failures=one.failures,
                escalated=one.escalated,
            )
            for one in handoff.checks
        ],
        effects=[
            EffectStanding(operation_id=one.operation_id, status=one.status.value) for one in handoff.effects
        ],
        environment=dict(handoff.environment),
        approvals=[ApprovalStanding(id=one.id, status=one.status.value) for one in handoff.approvals],
    )


def _requirements(execution: Execution) -> list[RequirementAnswer]:
    known = {one.id: one for one in execution.requirements}
    return [
        RequirementAnswer(
            id=requirement_id,
            text=one.text if (one := known.get(requirement_id)) else None,
            grader=one.grader if one else None,
            depends_on=list(one.depends_on) if one else [],
        )
        for requirement_id in execution.requirement_ids
    ]


def _task_output(name: str, output: Output | None) -> TaskOutput:
    return TaskOutput(name=name, ref=output and output.ref, sha256=output and output.sha256)
