"""Comparing an approval's bindings with the present: everything is read anew, nothing is remembered."""

from collections.abc import Mapping, Sequence
from typing import Final

from service.evidence.store import EvidenceStore
from service.executions.approvals.model import (
    Approval,
    ApprovalStatus,
    EvidenceNow,
    Lapsed,
    Moved,
    Standing,
)
from service.executions.approvals.rules import LIVE, needs_attention, newest_of_each_command, what_moved
from service.executions.ledger.model import EffectStatus
from service.executions.model import Execution
from service.executions.rules import ENDED
from service.executions.store import ExecutionStore
from service.identity.standing import is_member, still_stands
from service.identity.unit import Unit
from service.policies.model import Bundle

UNDISPATCHED: Final = frozenset({EffectStatus.INTENDED, EffectStatus.ABSENT})
"""An effect in one of these may still be dispatched, under an approval that must still hold then."""


def moved_bindings(
    approval: Approval, *, execution: Execution, unit: Unit, bundle: Bundle
) -> Sequence[Moved]:
    """Answer every binding of an approval of this run that no longer holds; none: it still does.

    Who asks does not matter: the same is found for whoever may read the run.
    """
    return what_moved(approval, _standing(approval, execution, unit=unit, bundle=bundle))


def evidence_now(approval: Approval, *, unit: Unit) -> Mapping[str, EvidenceNow]:
    """Answer how each piece of pinned evidence stands now, by id; what was erased is not there."""
    store = EvidenceStore.of(unit)
    found = [store.find(pinned.id, now=unit.now) for pinned in approval.evidence]
    return {
        one.id: EvidenceNow(
            version=one.version,
            sha256=one.sha256,
            superseded=one.superseded_by is not None,
            expired=one.stale,
            quarantined=one.quarantined,
        )
        for one in found
        if one is not None
    }


def lapsed_approvals(
    execution: Execution, *, store: ExecutionStore, unit: Unit, bundle: Bundle
) -> Sequence[Lapsed]:
    """Answer the run's approvals that have to be asked for again before work goes on, in the order of asking.

    These are the newest for their command that are stale or expired, or that would be found so if anybody
    used them: also one that is redeemed while its effect is not dispatched yet.
    """
    approvals = store.approvals_of(execution.id)
    waiting = {effect.approval_id for effect in store.effects(execution.id) if effect.status in UNDISPATCHED}
    moved = {
        approval.id: moved_bindings(approval, execution=execution, unit=unit, bundle=bundle)
        for approval in newest_of_each_command(approvals)
        if approval.status in LIVE or (approval.status is ApprovalStatus.REDEEMED and approval.id in waiting)
    }
    return [
        Lapsed(approval.id, moved.get(approval.id) or approval.moved or (Moved.EXPIRED,))
        for approval in needs_attention(approvals, moved)
    ]


def _standing(approval: Approval, execution: Execution, *, unit: Unit, bundle: Bundle) -> Standing:
    project_id = execution.project_id
    return Standing(
        now=unit.now,
        policy_version=bundle.version,
        execution_ended=execution.status in ENDED,
        acting_user_stands=is_member(approval.acting_user, project_id=project_id, unit=unit),
        approver_stands=approval.decided_by is None
        or approval.decider_role is None
        or still_stands(approval.decider_role, approval.decided_by, project_id=project_id, unit=unit),
        evidence=evidence_now(approval, unit=unit),
    )
