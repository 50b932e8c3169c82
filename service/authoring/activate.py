"""`activate`: make another version count. What is not provably stricter waits for a second person."""

from dataclasses import replace
from datetime import timedelta

from service.audit.model import Action
from service.audit.record import record
from service.authoring.activation import (
    Activation,
    ActivationKind,
    ActivationSettled,
    ActivationStatus,
    NothingToActivate,
    PlanMismatch,
    PlanOutdated,
    SecondPersonNeeded,
)
from service.authoring.guards import refuse_moved, refuse_too_much
from service.authoring.measure import Measured
from service.authoring.model import Plan
from service.authoring.realign import ACTIVATED_TOPIC
from service.authoring.shadow_model import ShadowStatus
from service.authoring.store_activations import ActivationStore
from service.authoring.store_plans import PlanStore
from service.authoring.store_shadows import ShadowStore
from service.core.errors import Stale
from service.identity.unit import Unit
from service.policies.active import active_bundle
from service.policies.store import ActivePolicy, PolicyStore
from service.policies.strictness import Direction


def activate_plan(
    plan_id: str, plan_hash: str, *, measured: Measured | None, expected_revision: int, unit: Unit
) -> Activation:
    """Make a plan's version count, or have it wait for a second person. `measured` is as of this request.

    Raises `NotFound`, `PlanMismatch` for another hash than the plan's, `Stale` where another version came to
    count since, `PlanOutdated` where the plan was made for another one or the data have moved, and
    `BlastRadiusExceeded`.
    """
    ActivationStore.of(unit).lock()
    plan = expect_plan(plan_id, plan_hash, unit, expected_revision=expected_revision)
    active = expect_active(expected_revision, unit)
    _hold_to_guards(plan, measured, unit)
    return _begin(
        Activation(
            id=unit.ids(),
            kind=ActivationKind.ACTIVATE,
            status=ActivationStatus.PENDING_SECOND_PERSON,
            direction=plan.direction,
            from_version=active.version,
            to_version=plan.candidate_version,
            base_revision=active.revision,
            revision=None,
            plan_id=plan.id,
            requester=who(unit),
            second_person=None,
            created_at=unit.now,
            activated_at=None,
            effective_at=None,
        ),
        unit=unit,
    )


def approve_activation(activation_id: str, *, measured: Measured | None, unit: Unit) -> Activation:
    """Say yes as the second person: the version counts from the commit on.

    Raises `NotFound`, `ActivationSettled`, `SecondPersonNeeded` for who asked for it, under whatever key, and
    as `activate_plan` where the data have moved since it was asked for.
    """
    store = ActivationStore.of(unit)
    store.lock()
    waiting = _waiting(activation_id, store)
    if waiting.requester == who(unit):
        raise SecondPersonNeeded("Who asked for it is not the second person.")
    if waiting.plan_id is not None:
        _hold_to_guards(PlanStore.of(unit).get(waiting.plan_id), measured, unit)
    store.settle(waiting.id, ActivationStatus.PENDING_SECOND_PERSON, second_person=who(unit))
    return _apply(replace(waiting, second_person=who(unit)), unit=unit)


def cancel_activation(activation_id: str, *, unit: Unit) -> Activation:
    """Call off what waits for a second person; whoever may activate may do that. Raises as `approve` does."""
    store = ActivationStore.of(unit)
    store.lock()
    waiting = _waiting(activation_id, store)
    store.settle(waiting.id, ActivationStatus.CANCELLED, second_person=who(unit))
    record(unit, Action.POLICY_CANCELLED, kind="policy", ref=waiting.to_version)
    return store.get(waiting.id)


def begin_rollback(to_version: str, direction: Direction, *, active: ActivePolicy, unit: Unit) -> Activation:
    """Make a version that counted before count again, or have that wait. The caller holds the lock."""
    return _begin(
        Activation(
            id=unit.ids(),
            kind=ActivationKind.ROLLBACK,
            status=ActivationStatus.PENDING_SECOND_PERSON,
            direction=direction.value,
            from_version=active.version,
            to_version=to_version,
            base_revision=active.revision,
            revision=None,
            plan_id=None,
            requester=who(unit),
            second_person=None,
            created_at=unit.now,
            activated_at=None,
            effective_at=None,
        ),
        unit=unit,
    )


def expect_plan(plan_id: str, plan_hash: str, unit: Unit, *, expected_revision: int | None = None) -> Plan:
    """Answer a plan for what counts now, as it was looked at.

    Raises `NotFound`, `PlanMismatch`, `Stale` where another revision is expected, `PlanOutdated` and
    `NothingToActivate`.
    """
    plan = PlanStore.of(unit).get(plan_id)
    if plan.hash != plan_hash:
        raise PlanMismatch("Look at the plan again: its hash is another one.")
    active = expect_active(expected_revision, unit)
    if (plan.base_version, plan.base_revision) != (active.version, active.revision):
        raise PlanOutdated("Another version counts than the plan was made for: simulate again.")
    if plan.candidate_version == active.version:
        raise NothingToActivate("This version counts already.")
    return plan


def who(unit: Unit) -> str:
    """Answer who asks as activations name them: one person under two keys is one person."""
    return unit.cipher.keyed_hash(f"policy-admin/{unit.caller.subject}")


def expect_active(expected_revision: int | None, unit: Unit) -> ActivePolicy:
    """Answer what counts now. Raises `Stale` where that is not what the caller has seen, if that is told."""
    active = PolicyStore.of(unit).find_active()
    if active is None:
        raise NothingToActivate("No version counts here: a tenant's first one comes from the folder on disk.")
    if expected_revision is not None and active.revision != expected_revision:
        raise Stale(active.revision)
    return active


def _hold_to_guards(plan: Plan, measured: Measured | None, unit: Unit) -> None:
    if measured is None or measured.plan_id != plan.id:
        raise PlanOutdated("Another version counts than the plan was made for: simulate again.")
    guards = active_bundle(unit).guards
    refuse_moved(plan, measured.memories, guards)
    refuse_too_much(measured.memories, guards)


def _waiting(activation_id: str, store: ActivationStore) -> Activation:
    found = store.get(activation_id)
    if found.status is not ActivationStatus.PENDING_SECOND_PERSON:
        raise ActivationSettled(f"It is {found.status.value}.")
    return found


def _begin(activation: Activation, *, unit: Unit) -> Activation:
    store = ActivationStore.of(unit)
    # The newest request takes the place of one that still waits: two would be two futures.
    store.cancel_waiting()
    store.add(activation)
    if activation.direction != Direction.LOOSER:
        return _apply(activation, unit=unit)
    record(
        unit,
        Action.POLICY_ASKED,
        kind="policy",
        ref=activation.to_version,
        policy_version=activation.from_version,
    )
    return activation


def _apply(activation: Activation, *, unit: Unit) -> Activation:
    store, policies = ActivationStore.of(unit), PolicyStore.of(unit)
    active = policies.find_active()
    if active is None or active.revision != activation.base_revision:
        raise PlanOutdated("Another version came to count since this was asked for.")
    # The grace is that of the policy that counts: a candidate cannot shorten its own.
    guards = active_bundle(unit).guards
    store.supersede()
    ShadowStore.of(unit).end_running(ShadowStatus.SUPERSEDED, at=unit.now)
    revision = policies.activate(activation.to_version, after=active.revision, now=unit.now)
    store.settle(
        activation.id,
        ActivationStatus.ACTIVE,
        revision=revision,
        at=unit.now,
        effective_at=unit.now + timedelta(days=guards.shortening_grace_days),
    )
    unit.stage(ACTIVATED_TOPIC)
    record(
        unit,
        Action.POLICY_ACTIVATED,
        kind="policy",
        ref=activation.to_version,
        policy_version=activation.from_version,
        mode=activation.kind.value,
    )
    return store.get(activation.id)
