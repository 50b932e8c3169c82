"""What the bundle's `commands` demand of an effect: asked at its intent and read again at its dispatch."""

from collections.abc import Mapping
from typing import Any

from service.core.hashing import hash_json
from service.executions.approvals.model import ApprovalStatus, Moved
from service.executions.approvals.refusals import ApprovalStale, AuthorityGone, CommandInexact
from service.executions.approvals.rules import command_fault
from service.executions.bindings import moved_bindings
from service.executions.lapse import end_moved
from service.executions.ledger.model import Effect
from service.executions.model import Execution
from service.executions.refusals import ApprovalNeeded, CapabilityMissing, EffectNotAllowed
from service.executions.store import ExecutionStore
from service.identity.model import Role
from service.identity.standing import still_stands
from service.identity.unit import Unit
from service.policies.model import Bundle, Command
from service.policies.words import ApprovalNeed


def check_command(kind: str, *, unit: Unit, bundle: Bundle) -> Command:
    """Answer the rule for a kind of effect that this caller may bring about, whatever approval it needs.

    Raises `EffectNotAllowed` and `CapabilityMissing`.
    """
    caller = unit.caller
    return _check(kind, caller.role, delegated=caller.act is not None, bundle=bundle)


def hash_exact(command: Mapping[str, Any]) -> str:
    """Answer a command's hash, `sha256:<hex>` of its RFC 8785 form. Raises `CommandInexact`."""
    fault = command_fault(command)
    if fault is not None:
        pointer, sentence = fault
        raise CommandInexact(sentence, pointer=f"/command{pointer}")
    return hash_json(dict(command))


def check_dispatch(
    effect: Effect, execution: Execution, *, unit: Unit, bundle: Bundle
) -> ApprovalStale | None:
    """Answer `None` where an effect of a held run may be done now, by the policy and approval as they stand.

    Where its approval does not hold any more, that is written down, and the answer is the refusal to give
    after the commit. Raises `EffectNotAllowed`, `CapabilityMissing` and `ApprovalNeeded`. When the service
    itself delivers, whoever wrote the intent down is asked about in its place; `AuthorityGone` where they
    hold no living key for it any more.
    """
    if unit.caller.role is Role.SYSTEM:
        rule = _check_intender(effect, execution, unit=unit, bundle=bundle)
    else:
        rule = check_command(effect.kind, unit=unit, bundle=bundle)
    if effect.approval_id is not None:
        return _check_approval(effect, effect.approval_id, execution, unit=unit, bundle=bundle)
    if rule.approval is ApprovalNeed.NEEDED:
        raise ApprovalNeeded
    return None


def _check(kind: str, role: Role, *, delegated: bool, bundle: Bundle) -> Command:
    rule = bundle.find_command(kind)
    if rule is None:
        raise EffectNotAllowed
    if rule.capability not in bundle.capabilities_of(role, delegated=delegated):
        raise CapabilityMissing
    return rule


def _check_intender(effect: Effect, execution: Execution, *, unit: Unit, bundle: Bundle) -> Command:
    delegated = effect.by != execution.acting_user
    role = Role.AGENT if delegated or effect.by == execution.agent else Role.USER
    rule = _check(effect.kind, role, delegated=delegated, bundle=bundle)
    if not still_stands(
        role,
        effect.by,
        on_behalf_of=execution.acting_user if delegated else None,
        project_id=execution.project_id,
        unit=unit,
    ):
        raise AuthorityGone
    return rule


def _check_approval(
    effect: Effect, approval_id: str, execution: Execution, *, unit: Unit, bundle: Bundle
) -> ApprovalStale | None:
    store = ExecutionStore.of(unit)
    approval = store.approvals.find(approval_id)
    assert approval is not None, "no approval is ever removed"
    if approval.status is not ApprovalStatus.REDEEMED:
        return ApprovalStale(approval.moved)
    moved = moved_bindings(approval, execution=execution, unit=unit, bundle=bundle)
    if approval.command_hash != effect.command_hash or approval.operation_id != effect.operation_id:
        moved = [Moved.COMMAND, *moved]
    return end_moved(approval, moved, store=store, unit=unit) if moved else None
