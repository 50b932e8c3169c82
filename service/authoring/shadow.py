"""A candidate in the shadow of the policy that counts: what it would decide is told, and it decides nothing.

Each proposal keeps what it was judged by, and each package what it showed. So the candidate is asked when
somebody looks, not when something is decided: a shadow can neither delay a decision nor change or break one.
"""

from dataclasses import dataclass
from datetime import timedelta

from service.audit.model import Action
from service.audit.record import record
from service.authoring.activate import expect_plan, who
from service.authoring.model import Effect
from service.authoring.shadow_model import Shadow, ShadowStatus
from service.authoring.simulate import compare_decisions
from service.authoring.store_activations import ActivationStore
from service.authoring.store_shadows import ShadowStore
from service.core.errors import NotFound
from service.identity.unit import Unit
from service.policies.active import kept_bundle


@dataclass(frozen=True, slots=True)
class Shadowed:
    """A shadow, and what its candidate would have decided otherwise while it ran."""

    shadow: Shadow
    status: ShadowStatus
    effect: Effect


def begin_shadow(plan_id: str, plan_hash: str, *, days: int, unit: Unit) -> Shadow:
    """Put a plan's candidate in the shadow of what counts, in place of one that is there.

    Raises `NotFound`, `PlanMismatch`, `PlanOutdated` and `NothingToActivate` as an activation would.
    """
    ActivationStore.of(unit).lock()
    plan = expect_plan(plan_id, plan_hash, unit)
    store = ShadowStore.of(unit)
    store.end_running(ShadowStatus.SUPERSEDED, at=unit.now)
    shadow = Shadow(
        id=unit.ids(),
        plan_id=plan.id,
        status=ShadowStatus.RUNNING,
        base_version=plan.base_version,
        base_revision=plan.base_revision,
        candidate_version=plan.candidate_version,
        requester=who(unit),
        created_at=unit.now,
        until=unit.now + timedelta(days=days),
        ended_at=None,
    )
    store.add(shadow)
    record(unit, Action.POLICY_SHADOWED, kind="policy", ref=plan.candidate_version)
    return shadow


def look_at_shadow(unit: Unit) -> Shadowed:
    """Answer the shadow that runs, or the last one that did, and the differences. Raises `NotFound`.

    Reads only; may take as long as a simulation. Raises `PolicyUnreadable`.
    """
    shadow = ShadowStore.of(unit).find_latest()
    if shadow is None:
        raise NotFound
    effect = compare_decisions(
        kept_bundle(shadow.candidate_version, unit),
        kept_bundle(shadow.base_version, unit),
        since=shadow.created_at,
        before=shadow.ended_at or shadow.until,
        unit=unit,
    )
    return Shadowed(shadow, shadow.status_at(unit.now), effect)


def end_shadow(unit: Unit) -> None:
    """Take the shadow away that runs. Raises `NotFound` where none does."""
    ActivationStore.of(unit).lock()
    store = ShadowStore.of(unit)
    latest = store.find_latest()
    if latest is None or not store.end_running(ShadowStatus.STOPPED, at=unit.now):
        raise NotFound
    record(unit, Action.POLICY_UNSHADOWED, kind="policy", ref=latest.candidate_version)
