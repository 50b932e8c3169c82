"""Turns a profile's rules and a request's overrides into each section's share of the budget. Pure."""

from collections.abc import Mapping, Sequence
from functools import partial

from service.context.model import Candidate, SectionPlan
from service.context.request import PackageRequest, RequestInconsistent, SectionLimits
from service.policies.profiles import Profile, SectionRule
from service.policies.words import SectionName


def plan_sections(
    asked: PackageRequest, profile: Profile, candidates: Mapping[SectionName, Sequence[Candidate]]
) -> Sequence[SectionPlan]:
    """Answer a plan for each section. Raises `RequestInconsistent` for a minimum above its maximum.

    What is required may pass the profile's maximum, which is a share that small budgets make small; a maximum
    in the request is meant as it is written.
    """
    plans = []
    for name, rule in profile.sections.items():
        limits = asked.sections.get(name, SectionLimits())
        limits_at = partial(_limits_at, rule, limits)
        minimum, maximum = limits_at(asked.budget)
        if limits.minimum is not None and limits.maximum is not None and minimum > maximum:
            raise RequestInconsistent("min is more than max", pointer=f"/sections/{name}")
        plans.append(
            SectionPlan(
                name=name,
                candidates=tuple(candidates.get(name, ())),
                minimum=minimum,
                maximum=maximum,
                limits_at=limits_at,
                priority=rule.priority,
                overflow=rule.overflow,
                card_tokens=profile.retrieval.card_tokens,
                maximum_is_strict=limits.maximum is not None,
            )
        )
    return plans


def _limits_at(rule: SectionRule, limits: SectionLimits, budget: int) -> tuple[int, int]:
    """Answer the section's minimum and maximum in a package of so many tokens."""
    minimum = rule.min.of(budget) if limits.minimum is None else limits.minimum
    maximum = rule.max.of(budget) if limits.maximum is None else limits.maximum
    return min(minimum, maximum), maximum
