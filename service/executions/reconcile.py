"""Settling an effect whose outcome nobody knows: on an operator's word, or on evidence."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Final

from service.audit.model import Action
from service.audit.record import record
from service.core.errors import NotFound
from service.evidence.get import get_evidence
from service.evidence.model import Evidence, ReferenceNotFound
from service.executions.complete import complete_if_met
from service.executions.delivery.model import Outcome, order_delivery
from service.executions.delivery.proof import fault_of, is_own_word
from service.executions.delivery.refusals import (
    DeliveryUnderWay,
    ReconciliationNeedsProof,
    ReconciliationNotNeeded,
)
from service.executions.delivery.rules import sending_until
from service.executions.interventions import InterventionKind
from service.executions.leases.refusals import FencingTokenStale
from service.executions.leases.rules import token_fits
from service.executions.ledger.model import Effect, EffectStatus, SettledBasis
from service.executions.ledger.rules import is_unsettled
from service.executions.model import Execution
from service.executions.ports import NO_CONNECTORS, Connectors, ReferencesOf
from service.executions.refusals import (
    ActingUserOnly,
)
from service.executions.rules import ENDED
from service.executions.store import ExecutionStore
from service.identity.matrix import EXECUTIONS_OPERATE
from service.identity.unit import Unit
from service.policies.model import Bundle

_STATUS: Final[Mapping[Outcome, EffectStatus]] = MappingProxyType(
    {
        Outcome.COMMITTED: EffectStatus.COMMITTED,
        Outcome.ABSENT: EffectStatus.ABSENT,
        Outcome.UNDETERMINED: EffectStatus.ESCALATED,
    }
)
assert _STATUS.keys() == set(Outcome)


@dataclass(frozen=True, slots=True)
class Reconciliation:
    """What somebody says became of an operation, and what they show for it."""

    outcome: Outcome
    downstream_ref: str | None = None
    evidence_id: str | None = None
    reason: str | None = None


def reconcile(
    execution_id: str,
    operation_id: str,
    said: Reconciliation,
    *,
    unit: Unit,
    bundle: Bundle,
    references: ReferencesOf,
    connectors: Connectors = NO_CONNECTORS,
) -> Effect:
    """Settle an effect of unknown outcome, also of a run that has ended, and answer it.

    An operator's word counts by itself; the run's own user or agent shows evidence. The outcome that stands
    already answers the effect unchanged. Raises `NotFound`, `ActingUserOnly`, `FencingTokenStale`,
    `ReconciliationNotNeeded`, `ReconciliationNeedsProof`, `ReferenceNotFound` for evidence that the caller
    may not read, and `DeliveryUnderWay`. What is absent may be dispatched again, and by a connector it is.
    """
    # Whether the run is completed by this must not depend on how much of it an operator may read.
    store = ExecutionStore.deciding(unit)
    execution = store.get(execution_id, lock=True)
    is_operator = EXECUTIONS_OPERATE in unit.caller.scopes
    if not is_operator:
        _check_worker(execution, store, unit)
    effect = store.ledger.find_effect(execution_id, operation_id)
    if effect is None:
        raise NotFound
    if effect.status is _STATUS[said.outcome]:
        return effect
    if not is_unsettled(effect):
        raise ReconciliationNotNeeded(status=effect.status.value)
    _check_evidence(said, effect, execution, unit=unit, bundle=bundle, is_operator=is_operator)
    if said.outcome is Outcome.ABSENT:
        _check_not_under_way(effect, connectors, unit)
    settled = replace(
        effect,
        status=_STATUS[said.outcome],
        downstream_ref=said.downstream_ref or effect.downstream_ref,
        failure=None,
        settled_basis=SettledBasis.OPERATOR if is_operator else SettledBasis.EVIDENCE,
        settled_by=unit.caller.principal,
        evidence_id=said.evidence_id,
        updated_at=unit.now,
    )
    store.ledger.settle_effect(settled)
    # The binding shape of the call has no reason, so none is demanded; that it is missing is written down.
    is_silent = is_operator and said.reason is None and said.evidence_id is None
    _record(settled, before=effect, code="no_reason_given" if is_silent else None, unit=unit)
    if is_operator or said.reason is not None:
        store.interventions.add(
            execution,
            InterventionKind.RECONCILE,
            reason=said.reason,
            unit=unit,
            operation_id=operation_id,
        )
    if settled.status is EffectStatus.ABSENT and execution.status not in ENDED:
        order_delivery(settled, unit=unit)
    complete_if_met(store, execution, unit=unit, bundle=bundle, references=references)
    return settled


def _check_worker(execution: Execution, store: ExecutionStore, unit: Unit) -> None:
    """Let nobody but the run's present worker write; unlike all others it may do so after the run's end."""
    if execution.acting_user != unit.caller.sub:
        raise ActingUserOnly
    if not token_fits(store.leases.find(execution.id), unit.fencing_token, unit.now):
        raise FencingTokenStale


def _check_evidence(
    said: Reconciliation,
    effect: Effect,
    execution: Execution,
    *,
    unit: Unit,
    bundle: Bundle,
    is_operator: bool,
) -> None:
    if said.evidence_id is None:
        if is_operator:
            return
        raise ReconciliationNeedsProof("Show evidence that says what became of it, or ask an operator.")
    shown = _find_evidence(said.evidence_id, execution, unit)
    if is_operator:
        return
    fault = fault_of(shown, said.outcome, effect)
    if fault is not None:
        raise ReconciliationNeedsProof(fault)
    caller, workers = unit.caller, {unit.caller.subject, execution.acting_user, execution.agent}
    grants = caller.source_grants
    if is_own_word(shown, workers, holder=caller.subject, grants=grants, bundle=bundle):
        raise ReconciliationNeedsProof(
            "Who works on this run handed it in, and no grant lets them speak for its source."
        )


def _check_not_under_way(effect: Effect, connectors: Connectors, unit: Unit) -> None:
    """Refuse to have sent again what a worker of ours may be sending at this moment."""
    # What came back is `unknown`; what people escalate or call absent meanwhile is still on its way.
    if effect.connector is None or effect.status is EffectStatus.UNKNOWN:
        return
    connector = connectors.find(unit.tenant_id, effect.connector)
    if connector is not None and unit.now < sending_until(effect, timeout=connector.timeout):
        raise DeliveryUnderWay


def _find_evidence(evidence_id: str, execution: Execution, unit: Unit) -> Evidence:
    try:
        shown = get_evidence(evidence_id, unit=unit)
    except NotFound:
        raise ReferenceNotFound("/evidence_id") from None
    if shown.project_id != execution.project_id:
        raise ReferenceNotFound("/evidence_id")
    return shown


def _record(settled: Effect, *, before: Effect, code: str | None, unit: Unit) -> None:
    assert settled.settled_basis is not None
    record(
        unit,
        Action.EFFECT_RECONCILED,
        kind="execution",
        ref=settled.execution_id,
        operation=settled.operation_id,
        status=settled.status.value,
        before=before.status.value,
        basis=settled.settled_basis.value,
        code=code,
        evidence_id=settled.evidence_id,
    )
