"""Composes a package from what was collected: plans, shares the budget, numbers, renders, counts. Pure."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from service.context.blocks import Count, Planner, as_shown, group_head, section_foot, section_head
from service.context.budget import BudgetTooSmall, Sharing
from service.context.choose import Chosen, choose, in_reading_order
from service.context.fence import PREAMBLE, SAMPLE_MARKER, draw_marker
from service.context.model import (
    SEGMENTS,
    Candidate,
    Group,
    Omission,
    Rendering,
    Section,
    SectionPlan,
    Segment,
)
from service.context.offers import Demand, Offer, Packed
from service.context.omit import list_omissions
from service.context.rendering import RENDERERS, Renderer
from service.context.worth import worth_of
from service.core.hashing import hash_text
from service.policies.words import SectionName

_OBJECT: Final = '{"'


@dataclass(frozen=True, slots=True)
class Composition:
    """What was composed: the counts are those of `rendered`, exactly."""

    sections: tuple[Section, ...]
    omissions: tuple[Omission, ...]
    overhead_tokens: int
    used_tokens: int
    stable_prefix_tokens: int
    prefix_hashes: Mapping[str, str]
    marker: str
    rendered: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class _Shares:
    """How the budget was shared: everything in the order of the plans."""

    plans: tuple[SectionPlan, ...]
    planners: tuple[Planner, ...]
    sharing: Sharing
    budget: int

    @property
    def demands(self) -> tuple[Demand, ...]:
        """What the sections want."""
        return self.sharing.demands

    @property
    def packed(self) -> tuple[Packed, ...]:
        """What the sections get."""
        return self.sharing.at(self.budget)

    @property
    def left(self) -> int:
        """Tokens that nobody took."""
        return max(0, self.budget - self.sharing.overhead) - sum(part.used for part in self.packed)


def compose(
    plans: Sequence[SectionPlan],
    *,
    budget: int,
    rendering: Rendering,
    count: Count,
    digest: Callable[[int], str],
) -> Composition:
    """Answer the composition of `plans` in at most `budget` tokens.

    `count` counts exactly in the package's encoding, `digest` gives unpredictable hex for the fence's marker.
    Raises `BudgetTooSmall` where what is required does not fit.
    """
    renderer = RENDERERS[rendering]
    ordered = tuple(
        _prepared(plan) for plan in sorted(plans, key=lambda plan: list(SectionName).index(plan.name))
    )
    shares = _share(ordered, budget, renderer, count)
    chosen = {
        plan.name: choose(plan, planner, part, count)
        for plan, planner, part in zip(shares.plans, shares.planners, shares.packed, strict=True)
    }
    _fit_tools(chosen, shares, renderer, count)
    marker = draw_marker(digest, _contents(chosen))
    sections = tuple(
        replace(
            _section(plan, in_reading_order(chosen[plan.name], plan), renderer, count=count, marker=marker),
            max_tokens=demand.maximum,
            worth=worth_of(demand, part, min(demand.maximum, part.used + shares.left)),
        )
        for plan, demand, part in zip(shares.plans, shares.demands, shares.packed, strict=True)
    )
    texts = {section.name: section.text for section in sections if section.text}
    preamble, overhead = (PREAMBLE, shares.sharing.overhead) if texts else ("", 0)
    used = overhead + sum(section.used_tokens for section in sections)
    assert used <= budget, "a package took more than its budget"
    return Composition(
        sections=sections,
        omissions=list_omissions(shares.plans, shares.planners, shares.sharing, budget, chosen),
        overhead_tokens=overhead,
        used_tokens=used,
        stable_prefix_tokens=overhead
        + sum(section.used_tokens for section in sections if section.segment is Segment.STABLE),
        prefix_hashes=_prefix_hashes(preamble, texts),
        marker=marker,
        rendered=renderer.render(preamble, {section.name: section.pieces for section in sections}),
    )


def _prepared(plan: SectionPlan) -> SectionPlan:
    """Answer the plan with its candidates as they are shown."""
    # Pieces of one group may name it differently; it is printed once, and counted as it is printed.
    heads: dict[str, Group] = {}
    standings = Counter(one.group.standing for one in plan.candidates if one.group is not None)
    common = standings.most_common(1)[0][0] if standings else ""

    def shown(candidate: Candidate) -> Candidate:
        clean = as_shown(candidate)
        if candidate.group is None:
            return clean
        head = heads.setdefault(candidate.group.key, candidate.group)
        return replace(clean, group=replace(head, standing="") if head.standing == common else head)

    candidates = tuple(shown(candidate) for candidate in plan.candidates)
    return replace(plan, candidates=candidates, standing=common)


def _share(plans: tuple[SectionPlan, ...], budget: int, renderer: Renderer, count: Count) -> _Shares:
    planners = tuple(Planner(plan, count) for plan in plans)
    demands = tuple(
        _demand(plan, planner, renderer, count) for plan, planner in zip(plans, planners, strict=True)
    )
    sharing = Sharing(demands, count(PREAMBLE))
    sharing.at(budget)
    return _Shares(plans, planners, sharing, budget)


def _demand(plan: SectionPlan, planner: Planner, renderer: Renderer, count: Count) -> Demand:
    if plan.name is SectionName.TOOLS:
        offers, base = _tool_offers(plan, renderer, count)
    else:
        offers = [planner.offer(index) for index in range(len(plan.open_candidates))]
        base = count(section_head(plan.name, SAMPLE_MARKER, plan.standing)) + count(
            section_foot(plan.name, SAMPLE_MARKER)
        )
    demand = Demand(
        section=plan.name,
        offers=offers,
        base_tokens=base,
        minimum=plan.minimum,
        maximum=plan.maximum,
        priority=plan.priority,
        overflow=plan.overflow,
        limits=plan.limits_at,
    )
    return demand if plan.maximum_is_strict else _widened(demand)


def _widened(demand: Demand) -> Demand:
    """Answer a demand that may pass its maximum with what is required."""
    required = demand.required_tokens

    def limits_at(budget: int) -> tuple[int, int]:
        minimum, maximum = demand.limits_at(budget)
        return minimum, max(maximum, required)

    return replace(demand, maximum=max(demand.maximum, required), limits=limits_at)


def _tool_offers(plan: SectionPlan, renderer: Renderer, count: Count) -> tuple[list[Offer], int]:
    texts = [renderer.tool_text(candidate.tool) for candidate in plan.open_candidates if candidate.tool]
    if renderer.is_joined:
        counts, base = [count(f"{text}\n") for text in texts], count("# tools\n")
    else:
        # Every exact encoding splits a JSON array before the first letter of each object. What stands behind
        # an object depends on whether it is the last: the larger count is planned, so the sum may be too high
        # by a token. Where an encoding splits otherwise, `_fit_tools` counts the array.
        rests = [text.removeprefix(_OBJECT) for text in texts]
        counts = [max(count(f"{rest},{_OBJECT}"), count(f"{rest}]")) for rest in rests]
        base = count(f"[{_OBJECT}")
    required = [candidate.required for candidate in plan.open_candidates]
    return [Offer(tokens, required=must) for tokens, must in zip(counts, required, strict=True)], base


def _fit_tools(
    chosen: dict[SectionName, list[Chosen]], shares: _Shares, renderer: Renderer, count: Count
) -> None:
    """Leave out the last tools while their array takes more than was planned."""
    for plan, demand, part in zip(shares.plans, shares.demands, shares.packed, strict=True):
        if plan.name is not SectionName.TOOLS or renderer.is_joined:
            continue
        limit = min(demand.maximum, part.used + shares.left)
        taken = chosen[plan.name]
        while taken and (tokens := count(_tools_text(taken, renderer))) > limit:
            if taken[-1].candidate.required or plan.is_all_required:
                raise BudgetTooSmall(plan.name, shares.budget + tokens - limit)
            taken.pop()


def _tools_text(chosen: Sequence[Chosen], renderer: Renderer) -> str:
    return renderer.tools_section(
        [renderer.tool_text(one.candidate.tool) for one in chosen if one.candidate.tool]
    )


def _contents(chosen: Mapping[SectionName, Sequence[Chosen]]) -> Iterator[str]:
    """Yield every text that could hold a marker."""
    for taken in chosen.values():
        for one in taken:
            yield one.text
            for part in one.candidate.parts:
                yield part.label
                yield part.text
            if one.candidate.group is not None:
                yield group_head(one.candidate.group)


def _section(
    plan: SectionPlan,
    chosen: Sequence[Chosen],
    renderer: Renderer,
    *,
    count: Count,
    marker: str,
) -> Section:
    items = []
    blocks: list[str] = []
    group: str | None = None
    for number, one in enumerate(chosen, start=1):
        citation = f"{one.candidate.cite}{number}" if one.candidate.cite else ""
        if one.candidate.group is not None and one.candidate.group.key != group:
            blocks.append(group_head(one.candidate.group))
        group = one.candidate.group.key if one.candidate.group is not None else None
        blocks.append(one.block(citation, marker))
        items.append(one.item(citation))
    if plan.name is SectionName.TOOLS:
        blocks = [_tools_text(chosen, renderer)]
    elif chosen:
        head = section_head(plan.name, marker, plan.standing)
        blocks = [head, *blocks, section_foot(plan.name, marker)]
    text = "".join(blocks)
    return Section(plan.name, plan.maximum, count(text) if text else 0, text, tuple(items), tuple(blocks))


def _prefix_hashes(preamble: str, texts: Mapping[SectionName, str]) -> Mapping[str, str]:
    stable = preamble + "".join(
        texts.get(name, "") for name in SectionName if SEGMENTS[name] is Segment.STABLE
    )
    session = "".join(texts.get(name, "") for name in SectionName if SEGMENTS[name] is Segment.SESSION)
    return {"stable": hash_text(stable), "session": hash_text(stable + session)}
