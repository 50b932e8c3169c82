"""Effects: the intent before the act, and what became of it."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from service.audit.model import Action
from service.audit.record import record
from service.core.errors import NotFound
from service.executions.approvals.model import Approval
from service.executions.approvals.refusals import ApprovalNotRedeemed, ApprovalStale, ApprovalUsed
from service.executions.approvals.rules import hash_command
from service.executions.commands import check_command, check_dispatch
from service.executions.delivery.model import order_delivery
from service.executions.delivery.refusals import ConnectorUnknown
from service.executions.hold import hold, refuse_full
from service.executions.keep import keeps_text
from service.executions.ledger.model import Effect, EffectStatus, NewEffect, SettledBasis
from service.executions.ledger.rules import EFFECT_NEXT
from service.executions.model import EFFECTS_MAX, Execution
from service.executions.ports import NO_CONNECTORS, Connectors
from service.executions.refusals import (
    ApprovalNeeded,
    ApprovalUnknown,
    ConnectorDelivers,
    EffectBackwards,
    OperationTaken,
    ReconciliationNeeded,
)
from service.executions.sealed import stable_json
from service.executions.store import ExecutionStore
from service.identity.unit import Unit
from service.policies.model import Bundle, Command
from service.policies.words import ApprovalNeed

_OUTCOMES: Final = frozenset({EffectStatus.COMMITTED, EffectStatus.FAILED})


def intend(
    execution_id: str,
    new: NewEffect,
    *,
    unit: Unit,
    bundle: Bundle,
    connectors: Connectors = NO_CONNECTORS,
) -> tuple[Effect, bool]:
    """Write down that an operation is going to be done, and answer it with `True`.

    The same intent again answers what stands with `False`. Raises `OperationTaken` for another request under
    the same id, `EffectNotAllowed`, `CapabilityMissing` and `ApprovalNeeded` by the policy, and
    `ConnectorUnknown`. An approval may be named where it was redeemed for this operation, and nowhere else.
    """
    store = ExecutionStore.of(unit)
    execution = hold(store, execution_id, unit=unit, effect=True)
    first = store.ledger.find_effect(execution_id, new.operation_id)
    if first is not None and not _is_same(first, new, unit):
        raise OperationTaken
    if new.approval_id is not None:
        _check_named(new.approval_id, new, execution, store)
    if first is not None:
        return first, False
    rule = check_command(new.kind, unit=unit, bundle=bundle)
    if rule.approval is ApprovalNeed.NEEDED:
        raise ApprovalNeeded
    kept = kept_request(new, execution, rule, bundle)
    effect = write_intent(execution, new, rule, kept=kept, store=store, unit=unit, connectors=connectors)
    return effect, True


def kept_request(new: NewEffect, execution: Execution, rule: Command, bundle: Bundle) -> Mapping[str, Any]:
    """Answer what is kept of a request: its hash says enough, unless a connector has to send it."""
    return new.request if rule.connector is not None or keeps_text(execution, bundle) else {}


def write_intent(
    execution: Execution,
    new: NewEffect,
    rule: Command,
    *,
    kept: Mapping[str, Any],
    store: ExecutionStore,
    unit: Unit,
    connectors: Connectors,
) -> Effect:
    """Keep a new intent of a held run, and have it delivered where the policy names a connector.

    `kept` is what `kept_request` answers of it. The rule must have been checked, and an approval's redemption
    written. Raises `RunFull`, and `ConnectorUnknown` where the connector is not registered for this tenant.
    """
    if rule.connector is not None and connectors.find(unit.tenant_id, rule.connector) is None:
        raise ConnectorUnknown
    refuse_full(store.ledger.count_effects(execution.id), EFFECTS_MAX)
    effect = Effect(
        execution_id=execution.id,
        operation_id=new.operation_id,
        kind=new.kind,
        request=kept,
        request_hash=_request_hash(new, unit),
        status=EffectStatus.INTENDED,
        downstream_ref=None,
        by=unit.caller.subject,
        created_at=unit.now,
        updated_at=unit.now,
        command_hash=hash_command(new.kind, new.request),
        approval_id=new.approval_id,
        connector=rule.connector,
    )
    store.ledger.add_effect(effect, person=execution.person)
    record(
        unit,
        Action.EFFECT_INTENDED,
        kind="execution",
        ref=execution.id,
        operation=effect.operation_id,
        effect_kind=effect.kind,
        approval=effect.approval_id,
    )
    order_delivery(effect, unit=unit)
    return effect


def attach_approval(effect: Effect, approval: Approval, *, store: ExecutionStore, unit: Unit) -> Effect:
    """Let an intent of a held run rest on a newer approval of the same command, and have it delivered."""
    attached = replace(effect, approval_id=approval.id, updated_at=unit.now)
    store.ledger.settle_effect(attached)
    order_delivery(attached, unit=unit)
    return attached


def settle(
    execution_id: str,
    operation_id: str,
    *,
    status: EffectStatus,
    downstream_ref: str | None,
    unit: Unit,
    bundle: Bundle,
) -> Effect | ApprovalStale:
    """Record how far an operation got. Reporting the present status again changes nothing.

    Raises `ConnectorDelivers`, `EffectBackwards`, `ReconciliationNeeded` out of `unknown` and for the outcome
    of what was dispatched before the caller took the run over, and at dispatch what the policy, read anew,
    does not allow any more. An approval that does not hold any more is answered as the refusal to give after
    the commit.
    """
    store = ExecutionStore.of(unit)
    execution = hold(store, execution_id, unit=unit, effect=status is EffectStatus.DISPATCHED)
    found = store.ledger.find_effect(execution_id, operation_id)
    if found is None:
        raise NotFound
    if found.connector is not None:
        raise ConnectorDelivers
    if found.status is status and downstream_ref in (None, found.downstream_ref):
        return found
    if found.status in (EffectStatus.UNKNOWN, EffectStatus.ESCALATED):
        raise ReconciliationNeeded(status=found.status.value)
    if status not in EFFECT_NEXT[found.status]:
        raise EffectBackwards(status=found.status.value)
    if status in _OUTCOMES and _is_inherited(found, store):
        raise ReconciliationNeeded(status=found.status.value)
    effect = replace(
        found, status=status, downstream_ref=downstream_ref or found.downstream_ref, updated_at=unit.now
    )
    if status is EffectStatus.DISPATCHED:
        rule = bundle.find_command(found.kind)
        if rule is not None and rule.connector is not None:
            # The policy has given this kind to a connector since; another intent goes that way.
            raise ConnectorDelivers
        refusal = check_dispatch(found, execution, unit=unit, bundle=bundle)
        if refusal is not None:
            return refusal
        effect = replace(effect, attempts=found.attempts + 1, dispatched_at=unit.now)
    else:
        effect = replace(effect, settled_basis=SettledBasis.REPORT, settled_by=unit.caller.principal)
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


def _is_inherited(effect: Effect, store: ExecutionStore) -> bool:
    """Say whether an effect was dispatched before the run's present worker came: it saw no answer."""
    lease = store.leases.find(effect.execution_id)
    dispatched_at = effect.dispatched_at
    return lease is not None and dispatched_at is not None and dispatched_at < lease.taken_at


def _request_hash(new: NewEffect, unit: Unit) -> str:
    return unit.cipher.keyed_hash(stable_json([new.kind, dict(new.request)]))


def _is_same(first: Effect, new: NewEffect, unit: Unit) -> bool:
    """Say whether a request is the one that stands: 1 and 1.0 are one number in a command."""
    command_hash = hash_command(new.kind, new.request)
    if command_hash is not None and command_hash == first.command_hash:
        return True
    return _request_hash(new, unit) == first.request_hash


def _check_named(approval_id: str, new: NewEffect, execution: Execution, store: ExecutionStore) -> None:
    approval = store.find_approval(approval_id)
    if approval is None or approval.execution_id != execution.id:
        raise ApprovalUnknown(pointer="/approval_id")
    if approval.operation_id is None:
        raise ApprovalNotRedeemed
    if approval.operation_id != new.operation_id:
        raise ApprovalUsed(operation_id=approval.operation_id)
