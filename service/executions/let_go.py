"""Letting go of what waits for a run that does not go on."""

from dataclasses import replace

from service.executions.approvals.model import ApprovalStatus, Moved
from service.executions.approvals.rules import LIVE
from service.executions.lapse import end
from service.executions.model import Execution
from service.executions.store import ExecutionStore
from service.identity.unit import Unit


def let_go(store: ExecutionStore, execution: Execution, *, unit: Unit) -> None:
    """Take back everything that waits for a held run which is about to end, its lease among it.

    An approval that was asked for or given is cancelled, so that nobody decides or redeems it any more.
    """
    store.check_requests.remove(execution.id)
    for approval in store.approvals_of(execution.id):
        if approval.status in LIVE:
            end(approval, ApprovalStatus.CANCELLED, store=store, unit=unit)
        elif not approval.is_written:
            end(approval, ApprovalStatus.EXPIRED, moved=(Moved.EXPIRED,), store=store, unit=unit)
    release_lease(store, execution)


def release_lease(store: ExecutionStore, execution: Execution) -> None:
    """Let the run's worker hold it no longer; what that worker still sends is refused."""
    lease = store.leases.find(execution.id)
    if lease is not None and not lease.released:
        store.leases.keep(replace(lease, released=True))
