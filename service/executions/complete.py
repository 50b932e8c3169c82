"""Completing a run: derived from what is recorded, in the transaction that makes it true."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from service.audit.model import Action
from service.audit.record import record
from service.executions.let_go import let_go
from service.executions.model import Execution, Status
from service.executions.rules import contract_is_met, needs_confirmation
from service.executions.standings import read_standings
from service.executions.store import ExecutionStore
from service.executions.work.model import Task
from service.executions.work.rules import begun, derive_all
from service.identity.unit import Unit
from service.policies.model import Bundle


def complete_if_met(store: ExecutionStore, execution: Execution, *, unit: Unit, bundle: Bundle) -> Execution:
    """Answer the run, completed if its tasks, checks and effects show that its contract is met.

    The run must be held. Its version stays: only checkpoints and manifests change it.
    """
    is_met = partial(
        contract_is_met,
        execution,
        confirmation_needed=needs_confirmation(execution, bundle.stopping.contract_confirmation),
        standings=read_standings(execution.id, unit=unit, bundle=bundle),
        effect_unsettled=store.ledger.has_open(execution.id),
    )
    # The tasks' standing comes from the whole log, which is read only where nothing else is missing.
    if not is_met(tasks=()) or not is_met(tasks=_tasks(store, execution)):
        return execution
    let_go(store, execution, unit=unit)
    completed = replace(execution, status=Status.COMPLETED, updated_at=unit.now)
    store.runs.save(completed)
    record(unit, Action.EXECUTION_COMPLETED, kind="execution", ref=execution.id, version=execution.version)
    return completed


def _tasks(store: ExecutionStore, execution: Execution) -> Sequence[Task]:
    """Answer the tasks that must be done: the declared ones, and what was begun beside them."""
    declared, others = derive_all(store.work.declared(execution.id), store.work.outline(execution.id))
    return [*declared, *begun(others)]
