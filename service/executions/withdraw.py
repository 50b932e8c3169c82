"""Cancelling approvals: the way out for one that nobody waits for any more."""

from service.executions.approvals.model import Approval, ApprovalStatus
from service.executions.approvals.refusals import ApprovalDecided, ApprovalNotYours
from service.executions.approvals.rules import APPROVAL_NEXT, may_decide, may_withdraw
from service.executions.complete import complete_if_met
from service.executions.hold import hold, refuse_ended
from service.executions.lapse import end
from service.executions.ports import ReferencesOf
from service.executions.store import ExecutionStore
from service.identity.matrix import EXECUTIONS_WRITE
from service.identity.unit import Unit
from service.policies.model import Bundle


def withdraw(approval_id: str, *, unit: Unit, bundle: Bundle, references: ReferencesOf) -> Approval:
    """Cancel an approval and answer it; cancelling it again changes nothing.

    Also one that is stale or expired: then nothing waits for a newer one, and a run that waited for nothing
    else is completed. Raises `NotFound`,
    `ApprovalNotYours`, `ExecutionEnded`, and `ApprovalDecided` for one that was rejected or redeemed; for the
    acting user and their agent what `hold` raises.
    """
    store = ExecutionStore.of(unit)
    approval, execution = store.lock_approval(approval_id)
    if not may_withdraw(approval, unit.caller):
        raise ApprovalNotYours
    if approval.status is ApprovalStatus.CANCELLED:
        return approval
    if EXECUTIONS_WRITE in unit.caller.scopes and not may_decide(approval, unit.caller):
        # Who drives the run is held to its lease; who decides, or stands beside it, is not.
        hold(store, execution.id, unit=unit)
    refuse_ended(execution)
    if ApprovalStatus.CANCELLED not in APPROVAL_NEXT[approval.status]:
        raise ApprovalDecided(approval_status=approval.status.value)
    cancelled = end(approval, ApprovalStatus.CANCELLED, store=store, unit=unit)
    complete_if_met(store, execution, unit=unit, bundle=bundle, references=references)
    return cancelled
