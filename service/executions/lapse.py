"""Ending an approval that no longer holds: by time, because something moved, or because nobody wants it."""

from collections.abc import Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Final

from service.audit.model import Action
from service.audit.record import record
from service.executions.approvals.model import Approval, ApprovalStatus, Moved
from service.executions.approvals.refusals import ApprovalStale
from service.executions.approvals.rules import APPROVAL_NEXT, LIVE
from service.executions.model import NEWER_RELEASE_WAIT
from service.executions.refusals import SchemaNewer
from service.executions.rules import ENDED
from service.executions.store import ExecutionStore
from service.identity.unit import Unit

LAPSE_TOPIC: Final = "approval.lapse"
"""Staged with each request, due when it expires. Its payload is the approval's id."""

_ACTIONS: Final = MappingProxyType(
    {
        ApprovalStatus.EXPIRED: Action.APPROVAL_LAPSED,
        ApprovalStatus.STALE: Action.APPROVAL_STALE,
        ApprovalStatus.CANCELLED: Action.APPROVAL_CANCELLED,
    }
)


def lapse(approval_id: str, *, unit: Unit) -> None:
    """Write down that an approval's time is up, if it is and nothing else came first.

    One that is not due yet, or of a run of a newer release, is staged anew. Of one that has ended nothing is
    written. Raises `NotFound`.
    """
    store = ExecutionStore.of(unit)
    try:
        approval, execution = store.lock_approval(approval_id)
    except SchemaNewer:
        unit.stage_at(LAPSE_TOPIC, unit.now + NEWER_RELEASE_WAIT, approval=approval_id)
        return
    if execution.status in ENDED or (approval.is_written and approval.status not in LIVE):
        return
    if approval.status in LIVE:
        unit.stage_at(LAPSE_TOPIC, approval.expires_at, approval=approval.id)
        return
    end(approval, ApprovalStatus.EXPIRED, moved=(Moved.EXPIRED,), store=store, unit=unit)


def end_moved(
    approval: Approval, moved: Sequence[Moved], *, store: ExecutionStore, unit: Unit
) -> ApprovalStale:
    """End an approval of a held run because of what moved, and answer the refusal that says so.

    The refusal is for returning, not for raising: what is written here must stand.
    """
    only_time = tuple(moved) == (Moved.EXPIRED,) and approval.status is not ApprovalStatus.REDEEMED
    if not approval.is_written or approval.status in LIVE or approval.status is ApprovalStatus.REDEEMED:
        status = ApprovalStatus.EXPIRED if only_time else ApprovalStatus.STALE
        end(approval, status, moved=moved, store=store, unit=unit)
    return ApprovalStale(moved)


def end(
    approval: Approval,
    status: ApprovalStatus,
    *,
    moved: Sequence[Moved] = (),
    store: ExecutionStore,
    unit: Unit,
) -> Approval:
    """Let an approval of a held run end as expired, stale or cancelled, recorded like an accepted one."""
    assert not approval.is_written or status in APPROVAL_NEXT[approval.status]
    ended = replace(approval, status=status, moved=tuple(moved) or approval.moved, updated_at=unit.now)
    store.approvals.settle(ended)
    record(
        unit,
        _ACTIONS[status],
        kind="execution",
        ref=approval.execution_id,
        approval=approval.id,
        moved=[code.value for code in ended.moved],
    )
    return ended
