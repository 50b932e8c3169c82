"""Opening a run."""

from decimal import Decimal

from sqlalchemy.exc import IntegrityError

from service.audit.model import Action
from service.audit.record import record
from service.core.errors import Invalid
from service.executions.expire import stage_deadline
from service.executions.model import (
    REQUIREMENTS_MAX,
    STATE_SCHEMA_VERSION,
    ContractOrigin,
    Execution,
    NewExecution,
    Status,
)
from service.executions.refusals import ActingUserDiffers, ExternalRefTaken, RetentionClassUnknown
from service.executions.rules import hash_contract
from service.executions.store import ExecutionStore
from service.identity.model import Role
from service.identity.unit import Unit
from service.policies.model import Bundle


def open_execution(new: NewExecution, *, unit: Unit, bundle: Bundle) -> Execution:
    """Open a run at version 1 for the credential's subject; its contract never changes afterwards.

    Raises `NotFound` for a project that is not the caller's, `ExternalRefTaken` (with the run's id, so that a
    fresh session finds it) and subclasses of `Invalid` for what does not fit the credential or the policy.
    """
    project = unit.project(new.project)
    caller = unit.caller
    if new.acting_user is not None and new.acting_user != caller.sub:
        raise ActingUserDiffers(pointer="/acting_user")
    if new.retention_class not in bundle.retention:
        raise RetentionClassUnknown(pointer="/retention_class")
    if new.deadline is not None and new.deadline <= unit.now:
        raise Invalid("is in the past", pointer="/deadline")
    requirement_ids = [requirement.id for requirement in new.requirements]
    if len(set(requirement_ids)) != len(requirement_ids) or len(requirement_ids) > REQUIREMENTS_MAX:
        raise Invalid(f"holds an id twice or more than {REQUIREMENTS_MAX}", pointer="/requirements")
    agent = agent_of(unit)
    execution = Execution(
        id=unit.ids(),
        project_id=project.id,
        external_ref=new.external_ref,
        version=1,
        status=Status.OPEN,
        step=0,
        cost_used=Decimal(0),
        budgets=new.budgets,
        deadline=new.deadline,
        retention_class=new.retention_class,
        memory_mode=new.memory_mode,
        schema_version=STATE_SCHEMA_VERSION,
        acting_user=caller.sub,
        agent=agent,
        person=caller.person,
        opened_by=caller.principal,
        contract_hash=hash_contract(new.objective, new.requirements),
        contract_origin=ContractOrigin.PERSON if agent is None else ContractOrigin.AGENT,
        contract_confirmed_by=caller.sub if agent is None else None,
        finish_asked=False,
        ended_reason=None,
        objective=new.objective,
        requirements=new.requirements,
        requirement_ids=tuple(requirement_ids),
        created_at=unit.now,
        updated_at=unit.now,
    )
    _add(execution, unit=unit)
    stage_deadline(execution, unit=unit)
    record(
        unit,
        Action.EXECUTION_OPENED,
        kind="execution",
        ref=execution.id,
        project=project.id,
        contract_hash=execution.contract_hash,
        contract_origin=execution.contract_origin.value,
    )
    return execution


def agent_of(unit: Unit) -> str | None:
    """Answer the agent that sends this request, `None` when a person does."""
    return unit.caller.subject if unit.caller.role is Role.AGENT else None


def _add(execution: Execution, *, unit: Unit) -> None:
    runs = ExecutionStore.of(unit).runs
    external_ref, project_id = execution.external_ref, execution.project_id
    taken = None if external_ref is None else runs.find_by_reference(project_id, external_ref)
    if taken is not None:
        raise ExternalRefTaken(execution_id=taken.id)
    try:
        runs.add(execution)
    except IntegrityError:
        # Another session opened it between the look and the insert: its row is committed, so it is found now.
        taken = None if external_ref is None else runs.find_by_reference(project_id, external_ref)
        if taken is None:
            raise
        raise ExternalRefTaken(execution_id=taken.id) from None
