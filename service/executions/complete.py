"""Completing a run: derived from what is recorded, in the transaction that makes it true."""

from dataclasses import replace

from service.audit.model import Action
from service.audit.record import record
from service.core.errors import NotFound
from service.executions.in_place import in_place_of_worker
from service.executions.let_go import let_go
from service.executions.model import Execution, Status
from service.executions.ports import ReferencesOf
from service.executions.refusals import SchemaNewer
from service.executions.rules import CAN_COMPLETE
from service.executions.stand_anew import is_met_by_record
from service.executions.store import ExecutionStore
from service.identity.unit import Unit
from service.policies.model import Bundle


def complete_if_met(
    store: ExecutionStore, execution: Execution, *, unit: Unit, bundle: Bundle, references: ReferencesOf
) -> Execution:
    """Answer the run, completed if a resume would now find that all holds.

    The run must be held. What resume would ask the outside (connectors, source readers, where its caller
    works) is not asked; all that the record knows counts, read as the run's own worker reads it, so that it
    does not matter whose call this is. Nothing is refused here: a run of which something cannot be read
    stays open.
    """
    if execution.status not in CAN_COMPLETE or not _has_passed(store, execution):
        return execution
    worker = in_place_of_worker(execution, unit)
    try:
        is_met = is_met_by_record(
            execution, unit=worker, bundle=bundle, references=references(worker, bundle)
        )
    except (NotFound, SchemaNewer):
        # Its worker may enter the project no more, or a source stands in a run of a newer release.
        return execution
    return complete(store, execution, unit=unit) if is_met else execution


def complete(store: ExecutionStore, execution: Execution, *, unit: Unit) -> Execution:
    """End a held run of which all holds as completed, and answer it.

    Its version stays: only checkpoints and manifests change it.
    """
    assert execution.status in CAN_COMPLETE, (
        "what has ended, failed or waits for an operator is not completed"
    )
    let_go(store, execution, unit=unit)
    completed = replace(execution, status=Status.COMPLETED, updated_at=unit.now)
    store.runs.save(completed)
    record(unit, Action.EXECUTION_COMPLETED, kind="execution", ref=execution.id, version=execution.version)
    return completed


def _has_passed(store: ExecutionStore, execution: Execution) -> bool:
    """Say whether each requirement ever had a passing check: without, nothing else needs to be read."""
    needed = len(execution.requirement_ids)
    return needed > 0 and store.acceptance.count_passed(execution.id) >= needed
