"""A plan as surfaces answer it: the same over HTTP and on the command line."""

from service.authoring.model import Plan
from service.authoring.plan import shown_samples
from service.identity.unit import Unit
from service.wire.policies_plans import PlanAnswer, RuleChangeAnswer


def plan_answer(plan: Plan, unit: Unit) -> PlanAnswer:
    """Answer a plan for who asks: projects of samples by name where they are a member, else without."""
    return PlanAnswer(
        id=plan.id,
        hash=plan.hash,
        candidate_version=plan.candidate_version,
        base_version=plan.base_version,
        base_revision=plan.base_revision,
        days=plan.days,
        made_at=plan.made_at,
        direction=plan.direction,
        changes=[RuleChangeAnswer(**change) for change in plan.changes],
        affected=dict(plan.effect.affected),
        samples={part: list(found) for part, found in shown_samples(plan.effect, unit=unit).items()},
    )
