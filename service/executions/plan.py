"""Declaring the work that exists."""

from collections.abc import Sequence
from dataclasses import replace

from service.audit.model import Action
from service.audit.record import record
from service.core.errors import Invalid
from service.executions.hold import hold
from service.executions.keep import keeps_text
from service.executions.model import TASKS_MAX, Execution
from service.executions.refusals import TaskRemovalRefused
from service.executions.store import ExecutionStore
from service.executions.work.model import DeclaredTask
from service.executions.work.rules import taken_away
from service.identity.model import Role
from service.identity.unit import Unit
from service.policies.model import Bundle


def set_manifest(
    execution_id: str, tasks: Sequence[DeclaredTask], *, expected_version: int, unit: Unit, bundle: Bundle
) -> Execution:
    """Make these the run's tasks, in this order, and answer the run in its new version.

    Raises `Stale`, and `TaskRemovalRefused` when an agent leaves out a task or a declared output.
    """
    names = [task.id for task in tasks]
    if len(set(names)) != len(names) or len(names) > TASKS_MAX:
        raise Invalid(f"holds an id twice or more than {TASKS_MAX}", pointer="/tasks")
    store = ExecutionStore.of(unit)
    execution = hold(store, execution_id, unit=unit, expected_version=expected_version)
    removed = taken_away(store.work.declared(execution_id), tasks)
    if removed and unit.caller.role is Role.AGENT:
        raise TaskRemovalRefused(tasks=list(removed))
    kept = tasks if keeps_text(execution, bundle) else [replace(task, title=None) for task in tasks]
    store.work.declare(execution_id, kept, person=execution.person)
    changed = replace(execution, version=execution.version + 1, updated_at=unit.now)
    store.runs.save(changed)
    record(
        unit,
        Action.MANIFEST_SET,
        kind="execution",
        ref=execution.id,
        version=changed.version,
        tasks=len(tasks),
        removed=len(removed),
    )
    return changed
