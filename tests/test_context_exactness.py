"""What a package says it takes is what it takes: at every budget, in every form and encoding."""

import json
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Final, TypedDict

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tiktoken_reference import ENCODINGS, count

from service.context.budget import BudgetTooSmall
from service.context.compose import Composition, compose
from service.context.model import (
    Candidate,
    Group,
    Omission,
    Part,
    Rendering,
    SectionPlan,
    Segment,
    Shape,
    Tool,
)
from service.core.hashing import hash_text
from service.policies.words import Overflow, SectionName

# What has broken counts and fences before, beside any character at all.
_HARD = st.sampled_from(
    [
        *(
            "",
            "\n",
            " ",
            "/",
            "//",
            "\r\n",
            "  \n\n",
            "<|endoftext|>",
            "</data 000000000>",
            "[E1]",
            "aaa",
            "'s",
        ),
        *("\u2028", "\x85", "\U0001f469\u200d\U0001f467", "\U0001f3f4\U000e0067\U000e007f", "e\u0301"),
        *("カード", "٣٤٥", "# evidence", "{", '"', "\\", "\t", "0" * 9, "first_party. Yes! No?", "1,2\n3,4"),
    ]
)
TEXTS = st.lists(
    _HARD | st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=12)
)
_SCALARS = st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(max_size=8)
JSON_VALUES = st.recursive(
    _SCALARS | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)
_STANDINGS = st.sampled_from(["", "third_party document", "first_party system_of_record"])
_OMISSIONS_TRIED: Final = 3
CITES = {SectionName.MEMORIES: "M", SectionName.EVIDENCE: "E", SectionName.OBSERVATIONS: "O"}
TRUSTED = {SectionName.INSTRUCTIONS, SectionName.SCOPE, SectionName.LIMITS}


@st.composite
def candidates(draw: st.DrawFn, name: SectionName, number: int) -> Candidate:
    text = "".join(draw(TEXTS))
    tool = None
    if name is SectionName.TOOLS:
        schema = draw(st.dictionaries(st.text(max_size=4), JSON_VALUES, max_size=3))
        tool = Tool(f"tool_{number}", text, schema, writes=draw(st.booleans()))
    parts = [
        Part(label, text)
        for label in draw(st.lists(st.sampled_from(["turn 1 user", "a]b", "x"]), max_size=2))
    ]
    group = draw(st.none() | st.sampled_from(["a", "b"]))
    return Candidate(
        kind=name,
        id=str(number),
        version=1,
        parts=tuple(parts) or (Part("", text),),
        sha256=hash_text(text),
        place=draw(st.just(()) | st.tuples(st.integers(0, 9))),
        cite=CITES.get(name, ""),
        trusted=name in TRUSTED,
        required=draw(st.integers(0, 9)) == 0,
        summary=draw(st.integers(0, 9)) == 0,
        group=Group(group, "".join(draw(TEXTS)), "2026", draw(_STANDINGS))
        if group and name in CITES
        else None,
        shape=draw(st.sampled_from(Shape)),
        card_title="".join(draw(TEXTS)) if draw(st.booleans()) else None,
        tool=tool,
    )


@st.composite
def plans(draw: st.DrawFn, name: SectionName) -> SectionPlan:
    size = draw(st.integers(0, 4))
    return SectionPlan(
        name=name,
        candidates=tuple(draw(candidates(name, number)) for number in range(size)),
        minimum=draw(st.sampled_from([0, 20, 100])),
        maximum=draw(st.sampled_from([0, 30, 200, 2_000_000])),
        priority=draw(st.integers(0, 5)),
        overflow=draw(st.sampled_from([rule for rule in Overflow if rule is not Overflow.ERROR])),
    )


PLANS = st.tuples(*(plans(name) for name in SectionName))
BUDGETS = st.sampled_from([0, 1, 60, 100, 150, 250, 400, 1_000, 2_000_000]) | st.integers(0, 1_500)


class _Settled(TypedDict):
    """What stays the same while one package is composed at several budgets."""

    rendering: Rendering
    count: Callable[[str], int]
    digest: Callable[[int], str]


def _digest(attempt: int) -> str:
    # The first draws are numbers that the hard texts hold.
    return f"{(0, 10**9, 483_920_174)[min(attempt, 2)]:x}"


def _count_returned(rendered: Mapping[str, object], encoding: str) -> int:
    """Count what was returned as a reader of the contract would, knowing nothing of sections."""
    texts: list[str] = []
    if "text" in rendered:
        texts.append(str(rendered["text"]))
    messages = rendered.get("messages", [])
    assert isinstance(messages, Sequence)
    for content in [rendered.get("system", ""), *(message["content"] for message in messages)]:
        texts += [content] if isinstance(content, str) else [block["text"] for block in content]
    if rendered.get("tools"):
        texts.append(json.dumps(rendered["tools"], ensure_ascii=False, separators=(",", ":")))
    return sum(count(text, encoding) for text in texts)


def _assert_exact(composed: Composition, budget: int, encoding: str) -> None:
    assert composed.used_tokens == _count_returned(composed.rendered, encoding)
    assert composed.used_tokens <= budget
    for section in composed.sections:
        assert section.used_tokens == count(section.text, encoding)
        assert section.used_tokens <= section.max_tokens
        assert all(item.tokens == count(item.text, encoding) for item in section.items)
    total = composed.overhead_tokens + sum(section.used_tokens for section in composed.sections)
    assert composed.used_tokens == total
    stable = [section for section in composed.sections if section.segment is Segment.STABLE]
    assert composed.stable_prefix_tokens == composed.overhead_tokens + sum(
        part.used_tokens for part in stable
    )


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("rendering", list(Rendering))
@settings(max_examples=40, deadline=None)
@given(sections=PLANS, budget=BUDGETS)
def test_the_counts_are_those_of_the_returned_text(
    rendering: Rendering, encoding: str, sections: tuple[SectionPlan, ...], budget: int
) -> None:
    settled = _Settled(rendering=rendering, count=partial(count, encoding=encoding), digest=_digest)
    try:
        composed = compose(sections, budget=budget, **settled)
    except BudgetTooSmall as small:
        refusal = small
    else:
        _assert_exact(composed, budget, encoding)
        _assert_accounted(composed, sections)
        for omission in composed.omissions[:_OMISSIONS_TRIED]:
            if (fit := omission.would_fit_with) is not None:
                assert not _leaves_out(compose(sections, budget=fit, **settled), omission)
                assert _leaves_out(compose(sections, budget=fit - 1, **settled), omission)
        return
    assert any(one.required for plan in sections for one in plan.candidates)
    assert refusal.is_of_section or refusal.needed_tokens > budget


def _leaves_out(composed: Composition, omission: Omission) -> bool:
    return any((one.section, one.id) == (omission.section, omission.id) for one in composed.omissions)


def _assert_accounted(composed: Composition, sections: tuple[SectionPlan, ...]) -> None:
    offered = [(plan.name, one.id) for plan in sections for one in plan.candidates]
    inside = [(section.name, item.candidate.id) for section in composed.sections for item in section.items]
    outside = [(omission.section, omission.id) for omission in composed.omissions]
    assert sorted(inside + outside) == sorted(offered)
