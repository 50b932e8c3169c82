"""What the log says: each task's standing, what is missing, what an agent may not take away."""

from collections.abc import Mapping, Sequence
from typing import Final

from service.core.hashing import hash_json
from service.executions.work.model import (
    DeclaredTask,
    ExitStatus,
    Input,
    NewStep,
    Output,
    Standing,
    Step,
    Task,
    TaskCounts,
)

_STANDING: Final = {
    ExitStatus.STARTED: Standing.STARTED,
    ExitStatus.COMPLETED: Standing.COMPLETED,
    ExitStatus.FAILED: Standing.FAILED,
}
assert _STANDING.keys() == set(ExitStatus)
_BEGUN: Final = frozenset({Standing.STARTED, Standing.REOPENED})


def completed_key(task_id: str, inputs: Sequence[Input]) -> str:
    """Answer a hash that equals for the same task on the same inputs, in whatever order they are named."""
    return hash_json([task_id, sorted({(read.ref, read.sha256) for read in inputs})])


def missing_outputs(task: DeclaredTask | None, step: NewStep) -> Sequence[str]:
    """Answer the declared outputs that a completed step does not bring."""
    if task is None or step.exit_status is not ExitStatus.COMPLETED:
        return []
    made = {output.name for output in step.outputs}
    return [name for name in task.outputs if name not in made]


def taken_away(before: Sequence[DeclaredTask], after: Sequence[DeclaredTask]) -> Sequence[str]:
    """Answer the tasks that a new manifest drops, or of which it drops a declared output."""
    kept = {task.id: set(task.outputs) for task in after}
    return [task.id for task in before if task.id not in kept or set(task.outputs) - kept[task.id]]


def derive_tasks(declared: Sequence[DeclaredTask], log: Sequence[Step]) -> Sequence[Task]:
    """Answer the declared tasks with their standing, from the whole log in its order.

    A completed task is reopened by a later start, and by a change of what it read: each completion remembers
    the hash of every input (as recorded, else as it was produced until then), and the newest output of that
    name or reference must still have it.
    """
    produced: dict[str, str] = {}
    reads: dict[str, dict[str, str | None]] = {}
    newest: dict[str, Step] = {}
    made: dict[str, dict[str, Output]] = {}
    by_id = {task.id: task for task in declared}
    for step in log:
        newest[step.task_id] = step
        if step.exit_status is not ExitStatus.COMPLETED:
            continue
        reads[step.task_id] = _reads(by_id.get(step.task_id), step, produced)
        for output in step.outputs:
            produced[output.name] = produced[output.ref] = output.sha256
            made.setdefault(step.task_id, {})[output.name] = output
    return [
        Task(
            id=task.id,
            title=task.title,
            inputs=task.inputs,
            outputs=task.outputs,
            standing=_standing(newest.get(task.id), reads.get(task.id), produced),
            produced=tuple(made.get(task.id, {}).values()),
        )
        for task in declared
    ]


def derive_all(
    declared: Sequence[DeclaredTask], log: Sequence[Step]
) -> tuple[Sequence[Task], Sequence[Task]]:
    """Answer the declared tasks, and those that stand in the log and in no manifest, with their standing."""
    names = {task.id for task in declared}
    others = [DeclaredTask(task_id) for task_id in dict.fromkeys(step.task_id for step in log)]
    tasks = derive_tasks([*declared, *(task for task in others if task.id not in names)], log)
    return tasks[: len(declared)], tasks[len(declared) :]


def begun(tasks: Sequence[Task]) -> Sequence[Task]:
    """Answer the tasks that were begun, in whatever way, and have not ended."""
    return [task for task in tasks if task.standing in _BEGUN]


def count_tasks(tasks: Sequence[Task]) -> TaskCounts:
    """Count tasks that are done, that can be worked on now, and that wait for another's output."""
    waiting = {name for task in tasks if task.standing is not Standing.COMPLETED for name in task.outputs}
    done = [task for task in tasks if task.standing is Standing.COMPLETED]
    blocked = [
        task
        for task in tasks
        if task.standing is not Standing.COMPLETED and (waiting - set(task.outputs)) & set(task.inputs)
    ]
    return TaskCounts(done=len(done), open=len(tasks) - len(done) - len(blocked), blocked=len(blocked))


def next_task(tasks: Sequence[Task]) -> Task | None:
    """Answer the task to go on with: one that was begun, else the first in order that is not completed."""
    undone = [task for task in tasks if task.standing is not Standing.COMPLETED]
    begun = [task for task in undone if task.standing is Standing.STARTED]
    return next(iter(begun or undone), None)


def _reads(task: DeclaredTask | None, step: Step, produced: Mapping[str, str]) -> dict[str, str | None]:
    names = task.inputs if task else ()
    own = {output.name for output in step.outputs} | {output.ref for output in step.outputs}
    reads: dict[str, str | None] = {name: produced.get(name) for name in names}
    reads |= {read.ref: read.sha256 for read in step.inputs}
    return {name: sha256 for name, sha256 in reads.items() if name not in own}


def _standing(
    newest: Step | None, reads: Mapping[str, str | None] | None, produced: Mapping[str, str]
) -> Standing:
    if newest is None:
        return Standing.PENDING
    standing = _STANDING[newest.exit_status]
    if reads is None or standing is Standing.FAILED:
        return standing
    changed = any(name in produced and produced[name] != sha256 for name, sha256 in reads.items())
    return Standing.REOPENED if changed or standing is Standing.STARTED else standing
