"""Asking for approval of one exact command."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from service.audit.model import Action
from service.audit.record import record
from service.core.errors import Invalid, NotFound
from service.core.ids import is_id
from service.evidence.get import get_evidence
from service.evidence.model import ReferenceNotFound
from service.executions.approvals.model import (
    APPROVALS_MAX,
    EVIDENCE_MAX,
    Approval,
    ApprovalStatus,
    Moved,
    NewApproval,
    PinnedEvidence,
)
from service.executions.approvals.refusals import ApprovalTooLax
from service.executions.approvals.rules import LIVE
from service.executions.bindings import moved_bindings
from service.executions.commands import check_command, hash_exact
from service.executions.hold import hold, refuse_full
from service.executions.lapse import LAPSE_TOPIC, end_moved
from service.executions.model import Execution
from service.executions.open import agent_of
from service.executions.store import ExecutionStore
from service.identity.unit import Unit
from service.policies.model import Bundle, Command


def ask(execution_id: str, new: NewApproval, *, unit: Unit, bundle: Bundle) -> tuple[Approval, bool]:
    """Ask the person whom the policy names, and answer the request with `True`.

    While one for the same command waits and still holds, that one is answered with `False`; one that does not
    hold any more makes room. Raises `CommandInexact`, `EffectNotAllowed`, `CapabilityMissing`,
    `ApprovalTooLax`, `ReferenceNotFound` for evidence that the caller may not read, and `RunFull`.
    """
    command_hash = hash_exact(new.command)
    store = ExecutionStore.of(unit)
    execution = hold(store, execution_id, unit=unit)
    rule = check_command(new.kind, unit=unit, bundle=bundle)
    waiting = _waiting(command_hash, execution, store=store, unit=unit, bundle=bundle)
    if waiting is not None:
        return waiting, False
    refuse_full(store.approvals.count(execution.id), APPROVALS_MAX)
    approval = Approval(
        id=unit.ids(),
        execution_id=execution.id,
        kind=new.kind,
        command=new.command,
        command_hash=command_hash,
        status=ApprovalStatus.PENDING,
        approver_role=rule.approver,
        requested_by=unit.caller.principal,
        acting_user=execution.acting_user,
        agent=agent_of(unit),
        evidence=_pin(new, execution, rule, unit=unit),
        policy_version=bundle.version,
        expires_at=_expiry(new, rule, now=unit.now),
        created_at=unit.now,
        updated_at=unit.now,
    )
    store.approvals.add(approval, person=execution.person)
    unit.stage_at(LAPSE_TOPIC, approval.expires_at, approval=approval.id)
    record(
        unit,
        Action.APPROVAL_ASKED,
        kind="execution",
        ref=execution.id,
        approval=approval.id,
        effect_kind=approval.kind,
        command_hash=command_hash,
        approver_role=approval.approver_role.value,
        evidence=[pinned.id for pinned in approval.evidence],
    )
    return approval, True


def _waiting(
    command_hash: str, execution: Execution, *, store: ExecutionStore, unit: Unit, bundle: Bundle
) -> Approval | None:
    found = store.approvals.find_pending(execution.id, command_hash)
    if found is None:
        return None
    moved: Sequence[Moved] = (Moved.EXPIRED,)
    if found.status in LIVE:
        moved = moved_bindings(found, execution=execution, unit=unit, bundle=bundle)
    if not moved:
        return found
    end_moved(found, moved, store=store, unit=unit)
    return None


def _expiry(new: NewApproval, rule: Command, *, now: datetime) -> datetime:
    longest = now + timedelta(hours=rule.longest_expiry_hours)
    if new.expires_at is None:
        return longest
    if new.expires_at <= now:
        raise Invalid("is in the past", pointer="/expires_at")
    if new.expires_at > longest:
        hours = rule.longest_expiry_hours
        raise ApprovalTooLax(f"is more than {hours} hours from now", pointer="/expires_at")
    return new.expires_at


def _pin(new: NewApproval, execution: Execution, rule: Command, *, unit: Unit) -> tuple[PinnedEvidence, ...]:
    ids = new.evidence_ids
    if len(set(ids)) != len(ids) or len(ids) > EVIDENCE_MAX:
        raise Invalid(f"holds an id twice or more than {EVIDENCE_MAX}", pointer="/evidence_ids")
    if len(ids) < rule.evidence_needed:
        needed = rule.evidence_needed
        raise ApprovalTooLax(f"names fewer than the {needed} that are needed", pointer="/evidence_ids")
    return tuple(
        _pin_one(evidence_id, f"/evidence_ids/{position}", execution, unit)
        for position, evidence_id in enumerate(ids)
    )


def _pin_one(evidence_id: str, pointer: str, execution: Execution, unit: Unit) -> PinnedEvidence:
    try:
        found = get_evidence(evidence_id, unit=unit) if is_id(evidence_id) else None
    except NotFound:
        found = None
    # Of another project, those who decide here might not even know that it exists.
    if found is None or found.project_id != execution.project_id:
        raise ReferenceNotFound(pointer)
    if found.superseded_by is not None or found.stale:
        raise Invalid("is superseded or no longer fresh", pointer=pointer)
    return PinnedEvidence(found.id, found.version, found.sha256)
