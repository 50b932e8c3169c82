"""`measure`: what a plan would do to memories now. It reads only, before an activation writes."""

from collections.abc import Mapping
from dataclasses import dataclass

from service.authoring.simulate import count_memories
from service.authoring.store_activations import ActivationStore
from service.authoring.store_plans import PlanStore
from service.identity.unit import Unit
from service.policies.active import active_bundle, kept_bundle
from service.policies.store import PolicyStore


@dataclass(frozen=True, slots=True)
class Measured:
    """What one plan would do to how many memories, by what becomes of them."""

    plan_id: str
    memories: Mapping[str, int]


def measure_plan(plan_id: str, *, unit: Unit) -> Measured | None:
    """Answer what a plan would do now, `None` where another version counts than it was made for.

    May take as long as a simulation. Raises `NotFound` and `PolicyUnreadable`.
    """
    plan, active = PlanStore.of(unit).get(plan_id), PolicyStore.of(unit).find_active()
    if active is None or (active.version, active.revision) != (plan.base_version, plan.base_revision):
        return None
    candidate, base = kept_bundle(plan.candidate_version, unit), active_bundle(unit)
    return Measured(plan.id, count_memories(candidate, base, unit=unit))


def measure_activation(activation_id: str, *, unit: Unit) -> Measured | None:
    """Answer what the plan of an activation that waits would do now; `None` where it has no plan."""
    activation = ActivationStore.of(unit).get(activation_id)
    return None if activation.plan_id is None else measure_plan(activation.plan_id, unit=unit)
