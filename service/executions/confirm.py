"""Confirming a contract that an agent wrote."""

from dataclasses import replace

from service.audit.model import Action
from service.audit.record import record
from service.executions.complete import complete_if_met
from service.executions.hold import refuse_ended
from service.executions.model import Execution
from service.executions.ports import ReferencesOf
from service.executions.store import ExecutionStore
from service.identity.unit import Unit
from service.policies.model import Bundle


def confirm_contract(execution_id: str, *, unit: Unit, bundle: Bundle, references: ReferencesOf) -> Execution:
    """Confirm as a person that the contract says what is wanted. Confirming twice changes nothing.

    Raises `NotFound` and `ExecutionEnded`. The scope of the call keeps every agent out.
    """
    store = ExecutionStore.of(unit)
    execution = store.get(execution_id, lock=True)
    if execution.contract_confirmed:
        return execution
    refuse_ended(execution)
    confirmed = replace(execution, contract_confirmed_by=unit.caller.sub, updated_at=unit.now)
    store.runs.save(confirmed)
    record(
        unit,
        Action.CONTRACT_CONFIRMED,
        kind="execution",
        ref=execution.id,
        contract_hash=execution.contract_hash,
    )
    return complete_if_met(store, confirmed, unit=unit, bundle=bundle, references=references)
