"""Effects: the intent before the act, and what became of it."""

from dataclasses import replace

from service.audit.model import Action
from service.audit.record import record
from service.core.errors import NotFound
from service.executions.hold import hold, refuse_full
from service.executions.ledger.model import Effect, EffectStatus, NewEffect
from service.executions.ledger.rules import EFFECT_NEXT
from service.executions.model import EFFECTS_MAX
from service.executions.refusals import (
    ApprovalNeeded,
    ApprovalUnknown,
    CapabilityMissing,
    EffectBackwards,
    EffectNotAllowed,
    OperationTaken,
    ReconciliationNeeded,
)
from service.executions.sealed import stable_json
from service.executions.store import ExecutionStore
from service.identity.unit import Unit
from service.policies.model import Bundle
from service.policies.words import ApprovalNeed


def intend(execution_id: str, new: NewEffect, *, unit: Unit, bundle: Bundle) -> tuple[Effect, bool]:
    """Write down that an operation is going to be done, and answer it with `True`.

    The same intent again answers what stands with `False`. Raises `OperationTaken` for another request under
    the same id, `EffectNotAllowed`, `CapabilityMissing` and `ApprovalNeeded` by the policy.
    """
    store = ExecutionStore.of(unit)
    execution = hold(store, execution_id, unit=unit)
    request_hash = unit.cipher.keyed_hash(stable_json([new.kind, dict(new.request)]))
    first = store.ledger.find_effect(execution_id, new.operation_id)
    if first is not None:
        if first.request_hash != request_hash:
            raise OperationTaken
        return first, False
    if new.approval_id is not None:
        raise ApprovalUnknown(pointer="/approval_id")
    _check_command(new.kind, unit=unit, bundle=bundle)
    refuse_full(store.ledger.count_effects(execution_id), EFFECTS_MAX)
    effect = Effect(
        execution_id=execution.id,
        operation_id=new.operation_id,
        kind=new.kind,
        request=new.request,
        request_hash=request_hash,
        status=EffectStatus.INTENDED,
        downstream_ref=None,
        by=unit.caller.subject,
        created_at=unit.now,
        updated_at=unit.now,
    )
    store.ledger.add_effect(effect, person=execution.person)
    record(
        unit,
        Action.EFFECT_INTENDED,
        kind="execution",
        ref=execution.id,
        operation=effect.operation_id,
        effect_kind=effect.kind,
    )
    return effect, True


def settle(
    execution_id: str,
    operation_id: str,
    *,
    status: EffectStatus,
    downstream_ref: str | None,
    unit: Unit,
    bundle: Bundle,
) -> Effect:
    """Record how far an operation got. Reporting the present status again changes nothing.

    Raises `EffectBackwards`, `ReconciliationNeeded` out of `unknown`, and at dispatch what the policy, read
    anew, does not allow any more.
    """
    store = ExecutionStore.of(unit)
    execution = hold(store, execution_id, unit=unit)
    found = store.ledger.find_effect(execution_id, operation_id)
    if found is None:
        raise NotFound
    if found.status is status and downstream_ref in (None, found.downstream_ref):
        return found
    if found.status in (EffectStatus.UNKNOWN, EffectStatus.ESCALATED):
        raise ReconciliationNeeded(status=found.status.value)
    if status not in EFFECT_NEXT[found.status]:
        raise EffectBackwards(status=found.status.value)
    if status is EffectStatus.DISPATCHED:
        _check_command(found.kind, unit=unit, bundle=bundle)
    effect = replace(
        found, status=status, downstream_ref=downstream_ref or found.downstream_ref, updated_at=unit.now
    )
    store.ledger.settle_effect(effect)
    record(
        unit,
        Action.EFFECT_SETTLED,
        kind="execution",
        ref=execution.id,
        operation=effect.operation_id,
        status=effect.status.value,
    )
    return effect


def _check_command(kind: str, *, unit: Unit, bundle: Bundle) -> None:
    command, caller = bundle.find_command(kind), unit.caller
    if command is None:
        raise EffectNotAllowed
    if command.capability not in bundle.capabilities_of(caller.role, delegated=caller.act is not None):
        raise CapabilityMissing
    if command.approval is ApprovalNeed.NEEDED:
        raise ApprovalNeeded
