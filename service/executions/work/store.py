"""The queries of one tenant's tasks and execution logs."""

from collections.abc import Sequence
from typing import Any, Final

from sqlalchemy import Row, bindparam, insert
from sqlalchemy import select as sqlalchemy_select
from sqlmodel import Session, col, select

from service.executions.sealed import SealedText
from service.executions.sequences import last_number
from service.executions.work.model import DeclaredTask, ExitStatus, Input, Output, Step
from service.executions.work.tables import StepRow, TaskRow

_ADD_STEP: Final = insert(StepRow)


# The longest list of a run that is read whole: plain rows without their summaries take a quarter of the time.
_OUTLINE: Final = (
    sqlalchemy_select(
        col(StepRow.id),
        col(StepRow.execution_id),
        col(StepRow.sequence),
        col(StepRow.task_id),
        col(StepRow.exit_status),
        col(StepRow.inputs),
        col(StepRow.outputs),
        col(StepRow.created_at),
    )
    .where(col(StepRow.tenant_id) == bindparam("tenant"), col(StepRow.execution_id) == bindparam("execution"))
    .order_by(col(StepRow.sequence))
)


class WorkStore:
    """Reads and adds; visibility is decided by `ExecutionStore`, which hands out what stands here."""

    def __init__(self, session: Session, tenant_id: str, text: SealedText) -> None:
        self._session = session
        self._tenant_id = tenant_id
        self._text = text

    def declared(self, execution_id: str) -> Sequence[DeclaredTask]:
        """Answer the run's tasks in the manifest's order."""
        return [self._task(row) for row in self._rows(execution_id)]

    def find_declared(self, execution_id: str, task_id: str) -> DeclaredTask | None:
        """Answer the run's declared task of that id, or `None`."""
        row = self._session.get(TaskRow, (self._tenant_id, execution_id, task_id))
        return None if row is None else self._task(row)

    def declare(self, execution_id: str, tasks: Sequence[DeclaredTask], *, person: str | None) -> None:
        """Make these the run's tasks, in this order."""
        kept = {row.id: row for row in self._rows(execution_id)}
        wanted = {task.id for task in tasks}
        for task_id, row in kept.items():
            if task_id not in wanted:
                self._session.delete(row)
        for position, task in enumerate(tasks):
            place = f"tasks/{execution_id}/{task.id}/title"
            row = kept.get(task.id) or TaskRow(
                tenant_id=self._tenant_id,
                execution_id=execution_id,
                id=task.id,
                position=position,
                inputs=[],
                outputs=[],
            )
            row.position = position
            row.title = self._text.seal(task.title, person=person, place=place)
            row.inputs = list(task.inputs)
            row.outputs = list(task.outputs)
            self._session.add(row)
        self._session.flush()

    def next_sequence(self, execution_id: str) -> int:
        """Answer the number of the log's next line."""
        return 1 + last_number(self._session, StepRow, self._tenant_id, execution_id)

    def add_step(self, step: Step, *, completed_key: str | None, by: str, person: str | None) -> None:
        """Append a line to the log. `completed_key` names task and inputs of a completion."""
        row = {
            "tenant_id": self._tenant_id,
            "id": step.id,
            "execution_id": step.execution_id,
            "sequence": step.sequence,
            "task_id": step.task_id,
            "exit_status": step.exit_status,
            "inputs": [[read.ref, read.sha256] for read in step.inputs],
            "outputs": [[made.name, made.ref, made.sha256] for made in step.outputs],
            "completed_key": completed_key,
            "summary": self._text.seal(step.summary, person=person, place=f"steps/{step.id}/summary"),
            "by": by,
            "created_at": step.at,
        }
        self._session.connection().execute(_ADD_STEP, row)

    def find_completed(self, execution_id: str, completed_key: str) -> Step | None:
        """Answer the line that completed this task on these inputs, or `None`."""
        row = self._session.exec(
            select(StepRow).where(
                StepRow.tenant_id == self._tenant_id,
                StepRow.execution_id == execution_id,
                StepRow.completed_key == completed_key,
            )
        ).first()
        return None if row is None else self._step(row)

    def steps(self, execution_id: str, *, last: int) -> Sequence[Step]:
        """Answer up to `last` newest lines of the log, in their order."""
        rows = self._session.exec(
            select(StepRow)
            .where(StepRow.tenant_id == self._tenant_id, StepRow.execution_id == execution_id)
            .order_by(col(StepRow.sequence).desc())
            .limit(last)
        ).all()
        return [self._step(row) for row in reversed(rows)]

    def outline(self, execution_id: str) -> Sequence[Step]:
        """Answer the whole log in its order, without its summaries: what standings are derived from."""
        key = {"tenant": self._tenant_id, "execution": execution_id}
        rows = self._session.connection().execute(_OUTLINE, key).all()
        return [_step(row, summary=None) for row in rows]

    def find_step(self, execution_id: str, step_id: str) -> Step | None:
        """Answer the run's line of that id, or `None`."""
        row = self._session.get(StepRow, (self._tenant_id, step_id))
        return None if row is None or row.execution_id != execution_id else self._step(row)

    def steps_after(self, execution_id: str, step_id: str | None, *, count: int) -> Sequence[Step] | None:
        """Answer up to `count` lines after one of the run's lines (`None`: from the first), oldest first.

        Answers `None` when the run has no such line.
        """
        begin = 0
        if step_id is not None:
            row = self._session.get(StepRow, (self._tenant_id, step_id))
            if row is None or row.execution_id != execution_id:
                return None
            begin = row.sequence
        rows = self._session.exec(
            select(StepRow)
            .where(
                StepRow.tenant_id == self._tenant_id,
                StepRow.execution_id == execution_id,
                StepRow.sequence > begin,
            )
            .order_by(col(StepRow.sequence))
            .limit(count)
        ).all()
        return [self._step(row) for row in rows]

    def _rows(self, execution_id: str) -> Sequence[TaskRow]:
        return self._session.exec(
            select(TaskRow)
            .where(TaskRow.tenant_id == self._tenant_id, TaskRow.execution_id == execution_id)
            .order_by(col(TaskRow.position), col(TaskRow.id))
        ).all()

    def _task(self, row: TaskRow) -> DeclaredTask:
        return DeclaredTask(
            id=row.id,
            title=self._text.open(row.title, place=f"tasks/{row.execution_id}/{row.id}/title"),
            inputs=tuple(row.inputs),
            outputs=tuple(row.outputs),
        )

    def _step(self, row: StepRow) -> Step:
        return _step(row, summary=self._text.open(row.summary, place=f"steps/{row.id}/summary"))


def _step(row: StepRow | Row[*tuple[Any, ...]], *, summary: str | None) -> Step:
    return Step(
        id=row.id,
        execution_id=row.execution_id,
        sequence=row.sequence,
        task_id=row.task_id,
        exit_status=ExitStatus(row.exit_status),
        inputs=tuple(Input(ref, sha256) for ref, sha256 in row.inputs),
        outputs=tuple(Output(name, ref, sha256) for name, ref, sha256 in row.outputs),
        summary=summary,
        at=row.created_at,
    )
