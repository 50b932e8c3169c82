"""Accounts for every candidate that is not in the package."""

from collections.abc import Mapping, Sequence

from service.context.blocks import Planner
from service.context.budget import Sharing
from service.context.choose import Chosen
from service.context.model import Candidate, Omission, OmissionReason, SectionPlan
from service.context.offers import Fate, Packed
from service.context.sufficient import sufficient_budgets
from service.policies.words import SectionName


def list_omissions(
    plans: Sequence[SectionPlan],
    planners: Sequence[Planner],
    sharing: Sharing,
    budget: int,
    chosen: Mapping[SectionName, Sequence[Chosen]],
) -> tuple[Omission, ...]:
    """Answer one omission for each candidate that was not chosen, in the order of sections and preference."""
    packed = sharing.at(budget)
    wanted = sufficient_budgets(sharing, budget)
    omissions: list[Omission] = []
    for number, plan in enumerate(plans):
        taken = {one.index for one in chosen[plan.name]}
        for index, candidate in enumerate(plan.open_candidates):
            if index in taken:
                continue
            stands_in = (
                candidate.summary
                and not candidate.required
                and Fate.OUT not in _record_fates(plan, packed[number])
            )
            reason = OmissionReason.DUPLICATE if stands_in else OmissionReason.OVER_BUDGET
            fit = None if stands_in else wanted[number][index]
            omissions.append(
                _omission(plan, candidate, reason, sharing.demands[number].offers[index].tokens, fit)
            )
        omissions.extend(
            _omission(plan, candidate, candidate.reason, planners[number].count_closed(candidate), None)
            for candidate in plan.candidates
            if candidate.reason is not None
        )
    return tuple(omissions)


def _record_fates(plan: SectionPlan, packed: Packed) -> set[Fate]:
    return {
        fate
        for candidate, fate in zip(plan.open_candidates, packed.fates, strict=True)
        if not candidate.summary
    }


def _omission(
    plan: SectionPlan, candidate: Candidate, reason: OmissionReason, tokens: int, fit: int | None
) -> Omission:
    return Omission(
        section=plan.name,
        kind=candidate.kind,
        id=candidate.id,
        version=candidate.version,
        reason=reason,
        tokens=tokens,
        would_fit_with=fit,
        scores=candidate.scores,
    )
