"""Completing a run: derived from what is recorded, in the transaction that makes it true."""

from dataclasses import replace

from service.audit.model import Action
from service.audit.record import record
from service.executions.acceptance.rules import stand
from service.executions.model import Execution, Status
from service.executions.rules import contract_is_met, needs_confirmation
from service.executions.store import ExecutionStore
from service.identity.unit import Unit
from service.policies.model import Bundle


def complete_if_met(store: ExecutionStore, execution: Execution, *, unit: Unit, bundle: Bundle) -> Execution:
    """Answer the run, completed if its tasks, checks and effects show that its contract is met.

    The run must be held. Its version stays: only checkpoints and manifests change it.
    """
    standings = stand(
        execution.requirement_ids,
        contract_hash=execution.contract_hash,
        candidates=store.candidates(execution.id),
        checks=store.checks(execution.id),
    )
    if not contract_is_met(
        execution,
        confirmation_needed=needs_confirmation(execution, bundle.stopping.contract_confirmation),
        tasks=store.tasks(execution.id),
        standings=standings,
        effects=store.effects(execution.id),
    ):
        return execution
    completed = replace(execution, status=Status.COMPLETED, updated_at=unit.now)
    store.runs.save(completed)
    record(unit, Action.EXECUTION_COMPLETED, kind="execution", ref=execution.id, version=execution.version)
    return completed
