"""Redeeming an approval: every binding is compared again, and the effect's intent is written with it."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from service.audit.model import Action
from service.audit.record import record
from service.core.errors import NotFound
from service.executions.act import attach_approval, kept_request, write_intent
from service.executions.approvals.model import Approval, ApprovalStatus, Moved
from service.executions.approvals.refusals import ApprovalNotApproved, ApprovalStale, ApprovalUsed
from service.executions.approvals.rules import LAPSED
from service.executions.bindings import UNDISPATCHED, moved_bindings
from service.executions.commands import check_command, hash_exact
from service.executions.hold import hold
from service.executions.lapse import end_moved
from service.executions.ledger.model import Effect, NewEffect
from service.executions.ports import NO_CONNECTORS, Connectors
from service.executions.refusals import EffectBackwards, OperationTaken
from service.executions.store import ExecutionStore
from service.identity.unit import Unit
from service.policies.model import Bundle


def redeem(
    approval_id: str,
    command: Mapping[str, Any],
    operation_id: str,
    *,
    unit: Unit,
    bundle: Bundle,
    connectors: Connectors = NO_CONNECTORS,
) -> Effect | ApprovalStale:
    """Use an approval for one operation, and answer the operation's effect with its intent written.

    For the same operation again it answers the effect as it stands. Where a binding has moved, that is
    written down, and the answer is the refusal to give after the commit. Raises `NotFound`, `ApprovalUsed`
    for another operation, `ApprovalStale` for another command than the approved one (which leaves the
    approval as it is), `ApprovalNotApproved`, `OperationTaken`, what the policy does not allow, and what
    `hold` raises.
    """
    command_hash = hash_exact(command)
    store = ExecutionStore.of(unit)
    found = store.find_approval(approval_id)
    if found is None:
        raise NotFound
    execution = hold(store, found.execution_id, unit=unit, effect=True)
    approval, _ = store.lock_approval(approval_id)
    first = store.ledger.find_effect(execution.id, operation_id)
    if approval.operation_id not in (None, operation_id):
        raise ApprovalUsed(operation_id=approval.operation_id)
    if approval.command_hash != command_hash:
        raise ApprovalStale((Moved.COMMAND,))
    if approval.status is ApprovalStatus.REDEEMED:
        assert first is not None, "a redemption is written with its effect"
        return first
    if approval.status in LAPSED:
        return end_moved(approval, approval.moved or (Moved.EXPIRED,), store=store, unit=unit)
    if approval.status is not ApprovalStatus.APPROVED:
        raise ApprovalNotApproved(approval_status=approval.status.value)
    moved = moved_bindings(approval, execution=execution, unit=unit, bundle=bundle)
    if moved:
        return end_moved(approval, moved, store=store, unit=unit)
    rule = check_command(approval.kind, unit=unit, bundle=bundle)
    _write(approval, operation_id, store=store, unit=unit)
    if first is not None:
        return _attach(first, approval, store=store, unit=unit)
    new = _effect_of(command, approval, operation_id)
    kept = kept_request(new, execution, rule, bundle)
    return write_intent(execution, new, rule, kept=kept, store=store, unit=unit, connectors=connectors)


def _write(approval: Approval, operation_id: str, *, store: ExecutionStore, unit: Unit) -> None:
    store.approvals.settle(
        replace(
            approval,
            status=ApprovalStatus.REDEEMED,
            operation_id=operation_id,
            redeemed_at=unit.now,
            updated_at=unit.now,
        )
    )
    record(
        unit,
        Action.APPROVAL_REDEEMED,
        kind="execution",
        ref=approval.execution_id,
        approval=approval.id,
        operation=operation_id,
        command_hash=approval.command_hash,
    )


def _attach(first: Effect, approval: Approval, *, store: ExecutionStore, unit: Unit) -> Effect:
    if first.command_hash != approval.command_hash:
        raise OperationTaken
    if first.status not in UNDISPATCHED:
        raise EffectBackwards(status=first.status.value)
    return attach_approval(first, approval, store=store, unit=unit)


def _effect_of(command: Mapping[str, Any], approval: Approval, operation_id: str) -> NewEffect:
    request = {name: value for name, value in command.items() if name != "kind"}
    return NewEffect(operation_id, approval.kind, request, approval.id)
