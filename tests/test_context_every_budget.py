"""Every budget from nothing to plenty: a package inside it, or what it lacks; never silently over."""

import json
from collections.abc import Sequence
from dataclasses import replace
from functools import cache

import pytest
from context_world import PROFILE
from tiktoken_reference import count

from service.context.budget import BudgetTooSmall
from service.context.compose import Composition, compose
from service.context.model import Candidate, Group, Part, Rendering, Shape, Tool
from service.context.plan import plan_sections
from service.context.request import PackageRequest
from service.core.hashing import hash_text
from service.policies.words import SectionName

BUDGETS = range(2_001)


def _some(name: SectionName, *texts: str) -> list[Candidate]:
    return [
        Candidate(name.value, f"{name}-{number}", 1, (Part(f"{name} {number}", text),), hash_text(text))
        for number, text in enumerate(texts)
    ]


def _found(name: SectionName, cite: str, shape: Shape, *texts: str) -> list[Candidate]:
    return [
        replace(
            one, cite=cite, shape=shape, card_title=f"Text {number}", group=Group(str(number // 3), "Texts")
        )
        for number, one in enumerate(_some(name, *texts))
    ]


def _tools() -> list[Candidate]:
    tools = [Tool(f"orders_{name}", f"{name} an order", {"type": "object"}, writes=False) for name in "abc"]
    return [
        replace(one, tool=tool, shape=Shape.WHOLE)
        for one, tool in zip(_some(SectionName.TOOLS, *(tool.name for tool in tools)), tools, strict=True)
    ]


def _must(candidates: Sequence[Candidate]) -> list[Candidate]:
    return [replace(one, required=True) for one in candidates]


CANDIDATES = {
    SectionName.INSTRUCTIONS: _must(_some(SectionName.INSTRUCTIONS, "Answer from the evidence.\nCite it.")),
    SectionName.TOOLS: _tools(),
    SectionName.SCOPE: _must(_some(SectionName.SCOPE, "alpha", "user-1")),
    SectionName.GOAL: _must(_some(SectionName.GOAL, "Build the order application", "Under 200 words.")),
    SectionName.HISTORY: _some(SectionName.HISTORY, *(f"What of plot {one}? " * one for one in range(1, 13))),
    SectionName.MEMORIES: _found(SectionName.MEMORIES, "M", Shape.PROSE, "Prefers concise explanations."),
    SectionName.EVIDENCE: _found(
        SectionName.EVIDENCE, "E", Shape.PROSE, *(f"Plot {one} has consent. " * one for one in range(1, 13))
    ),
    SectionName.OBSERVATIONS: _found(
        SectionName.OBSERVATIONS, "O", Shape.LOG, "\n".join(f"{one} parcel checked" for one in range(60))
    ),
    SectionName.STATE: [
        replace(one, shape=Shape.JSON)
        for one in _some(SectionName.STATE, json.dumps({f"key {one}": [one] * 5 for one in range(30)}))
    ],
    SectionName.LIMITS: _some(SectionName.LIMITS, "Stop when a source is missing."),
}


@cache
def _count(text: str) -> int:
    return count(text, "o200k_base")


@pytest.mark.parametrize("turn", range(3))
def test_every_budget_is_kept_or_refused_with_the_section_and_what_is_needed(turn: int) -> None:
    rendering = list(Rendering)[turn]
    refused: list[BudgetTooSmall] = []
    built: list[int] = []

    for budget in BUDGETS[turn::3]:
        asked = PackageRequest(project="alpha", purpose="service", max_tokens=budget, rendering=rendering)
        plans = plan_sections(asked, PROFILE, CANDIDATES)
        try:
            composed = compose(plans, budget=budget, rendering=rendering, count=_count, digest=_digest)
        except BudgetTooSmall as small:
            refused.append(small)
        else:
            built.append(budget)
            _assert_inside(composed, budget)

    (least,) = {small.needed_tokens for small in refused}
    assert built == [budget for budget in BUDGETS[turn::3] if budget >= least]
    assert {small.section for small in refused} <= {"instructions", "scope", "goal"}


def _digest(attempt: int) -> str:
    return f"{483_920_174 + attempt:x}"


def _assert_inside(composed: Composition, budget: int) -> None:
    assert composed.used_tokens <= budget
    total = composed.overhead_tokens + sum(section.used_tokens for section in composed.sections)
    assert composed.used_tokens == total
    for section in composed.sections:
        assert section.used_tokens == _count(section.text) <= section.max_tokens
