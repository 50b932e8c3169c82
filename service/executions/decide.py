"""Deciding an approval: one person, once, on a request that still is what was asked."""

from dataclasses import replace

from service.audit.model import Action
from service.audit.record import record
from service.executions.approvals.model import Approval, ApprovalStatus, Decision, Moved
from service.executions.approvals.refusals import ApprovalDecided, ApprovalNotYours, ApprovalStale
from service.executions.approvals.rules import LAPSED, may_decide
from service.executions.bindings import moved_bindings
from service.executions.hold import refuse_ended
from service.executions.keep import keeps_text
from service.executions.lapse import end_moved
from service.executions.store import ExecutionStore
from service.identity.unit import Unit
from service.policies.model import Bundle


def decide(approval_id: str, decision: Decision, *, unit: Unit, bundle: Bundle) -> Approval | ApprovalStale:
    """Approve or reject a request that waits, and answer it as it then stands.

    Of two at once exactly one counts. Raises `NotFound` for one that the caller may not read,
    `ApprovalNotYours`, `ExecutionEnded` and `ApprovalDecided`. Where its time is up or something moved
    since it was asked, that is written down, and the answer is the refusal to give after the commit.
    """
    store = ExecutionStore.of(unit)
    approval, execution = store.lock_approval(approval_id)
    if not may_decide(approval, unit.caller):
        raise ApprovalNotYours
    refuse_ended(execution)
    if approval.status in LAPSED:
        return end_moved(approval, approval.moved or (Moved.EXPIRED,), store=store, unit=unit)
    if approval.status is not ApprovalStatus.PENDING:
        raise ApprovalDecided(approval_status=approval.status.value)
    moved = moved_bindings(approval, execution=execution, unit=unit, bundle=bundle)
    if moved:
        return end_moved(approval, moved, store=store, unit=unit)
    decided = replace(
        approval,
        status=ApprovalStatus.APPROVED if decision.approves else ApprovalStatus.REJECTED,
        decided_by=unit.caller.subject,
        decider_role=unit.caller.role,
        decided_at=unit.now,
        reason=decision.reason,
        updated_at=unit.now,
    )
    keep = keeps_text(execution, bundle)
    store.approvals.decide(decided, person=execution.person, keep_text=keep)
    record(
        unit,
        Action.APPROVAL_DECIDED,
        kind="execution",
        ref=execution.id,
        approval=approval.id,
        decision=decided.status.value,
        command_hash=approval.command_hash,
    )
    return decided
