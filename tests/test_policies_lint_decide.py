"""What conditions can come out as: what is told to be impossible is, and nothing is told by chance."""

import random
from datetime import UTC, datetime
from typing import Any, Final

import pytest

from service.policies.condition_types import FACTS, SOURCE_FIELDS, source_message
from service.policies.conditions import ConditionFailed, read_condition
from service.policies.lint.cel_tree import read_tree
from service.policies.lint.decide import Decider, Undecided
from service.policies.lint.domains import Domains

DOMAINS: Final = Domains("preference", frozenset({"conversation", "bank"}))
NEVER: Final = [
    'agent == "a" && "b" == agent',
    "text_characters > 5 && text_characters < 3",
    "text_characters > 5 && text_characters < 6",
    "confidence > 1.0",
    "confidence < 0.5 && confidence > 0.5",
    "quota_used < 0",
    "agent in []",
    'agent in ["a", "b"] && agent == "c"',
    'role == "agnt"',
    'class_name == "contact_detail"',
    "own_words && !own_words",
    'value_type == "text" && value_type == "number"',
    'sources.exists(s, s.trust == "x")',
    'sources.exists(s, s.source == "mail")',
    "sources.exists(s, s.own) && sources.all(other, !other.own)",
    'sources.exists(s, s.trust == "third_party" && s.own) && !sources.exists(s, s.own)',
    '!sources.exists(s, s.uri.startsWith("http")) && sources.exists(s, s.uri.startsWith("https://"))',
    '"email" in detections && size(detections) == 0',
    '"email" in detections && !detections.exists(found, found == "email")',
    'now < timestamp("2027-01-01T00:00:00Z") && now > timestamp("2028-01-01T00:00:00Z")',
    "1 / quota_used == 1 && false",
    "1 == 2",
    "quota_used + 1 > 0 && 1 + 1 == 3",
    "text_characters > 2 * 3 && text_characters < size('abcdef') + 1",
    'agent.startsWith("ab") && !agent.startsWith("a")',
    'agent.startsWith("ab") && agent.startsWith("ac")',
    'agent.endsWith("ab") && !agent.contains("b")',
    'agent == "xy" && agent.startsWith("a")',
    "size(sources) > 0 && sources.size() < 1",
    "consent ? false : false",
]
ALWAYS: Final = [
    "true",
    'agent != "a" || agent != "b"',
    "own_words || !own_words",
    "confidence >= 0.0",
    "quota_used == quota_used",
    'class_name == "preference"',
    'memory_mode in ["", "off", "read", "read_write"]',
    "sources.all(s, s.own || !s.own)",
    'agent.startsWith("")',
    "consent ? true : 1 < 2",
]
EITHER: Final = [
    "text_characters > 5 && text_characters < 7",
    "confidence > 0.5 && confidence < 0.6",
    'agent == "a" || agent == "b"',
    "sources.exists(s, s.own) && sources.exists(s, !s.own)",
    "sources.exists(s, s.own) && size(sources) == 1",
    'agent.matches("a.*") && agent == "b"',
    'agent.startsWith("ab") && agent.contains("c")',
    "sources.exists_one(s, s.own)",
    "sources.all(s, !s.own)",
    'role in ["agent"] ? consent : !consent',
    'sources.exists(s, s.uri == "a" && sources.exists(t, t.uri == "b"))',
    "now.getFullYear() == 2027",
    "1 / 0 == 1 || consent",
    'project < "m"',
]


def outcomes(condition: str) -> set[bool | None]:
    return {outcome for (outcome,) in Decider(DOMAINS).outcomes(read_tree(condition))}


@pytest.mark.parametrize("condition", NEVER)
def test_what_cannot_hold_is_found_out(condition: str) -> None:
    assert outcomes(condition) == {False}


@pytest.mark.parametrize("condition", ALWAYS)
def test_what_holds_in_any_case_is_found_out(condition: str) -> None:
    assert outcomes(condition) == {True}


@pytest.mark.parametrize("condition", EITHER)
def test_what_may_come_out_either_way_is_left_alone(condition: str) -> None:
    assert outcomes(condition) >= {True, False}


def test_what_cannot_be_answered_is_told_apart() -> None:
    assert outcomes("1 / quota_used == 1 && !(1 / quota_used == 1)") == {False, None}
    assert outcomes("sources[0].own || true") == {True}


@pytest.mark.parametrize(
    ("narrow", "wide"),
    [
        ('agent == "a"', 'agent in ["a", "b"]'),
        ("confidence < 0.3", "confidence < 0.5"),
        (
            'sources.exists(s, s.uri.startsWith("https://x"))',
            'sources.exists(s, s.uri.startsWith("https://"))',
        ),
        ("sources.all(s, s.own && s.quoted)", "sources.all(s, s.own)"),
    ],
)
def test_one_condition_is_found_to_hold_wherever_another_does(narrow: str, wide: str) -> None:
    both = Decider(DOMAINS).outcomes(read_tree(narrow), read_tree(wide))

    assert (True, False) not in both
    assert (False, True) in both


def test_of_too_much_nothing_is_said() -> None:
    names = ", ".join(f'"{number}"' for number in range(60))

    with pytest.raises(Undecided):
        Decider(DOMAINS).outcomes(read_tree(f"agent in [{names}] && person in [{names}]"))


def _random_facts(chance: random.Random) -> dict[str, Any]:
    words = {
        "class_name": ["preference"], "role": ["agent", "user"], "value_type": ["none", "text", "number"],
        "existing": ["none", "same"], "memory_mode": ["", "read"],
    }  # fmt: skip
    facts: dict[str, Any] = {name: chance.choice(words.get(name, ["", "a", "ab", "b"])) for name in FACTS}
    facts |= {name: chance.random() < 0.5 for name in ("own_words", "relayed", "consent", "corrects")}
    facts |= {"text_characters": chance.randrange(9), "quota_used": chance.randrange(3)}
    facts |= {"confidence": chance.choice([0.0, 0.3, 0.5, 0.55, 1.0])}
    facts |= {"now": datetime(chance.choice([2026, 2027, 2028]), 6, 1, tzinfo=UTC)}
    facts |= {"detections": chance.sample(["email", "phone", "health"], chance.randrange(3))}
    facts["sources"] = [
        source_message(
            **{
                name: (chance.random() < 0.5) if kind is bool else chance.choice(["", "a", "https://x/a"])
                for name, kind in SOURCE_FIELDS.items()
                if name not in ("kind", "trust", "authority", "speaker", "source")
            },
            kind="turn",
            source=chance.choice(["", "bank"]),
            trust=chance.choice(["first_party", "third_party"]),
        )
        for _ in range(chance.randrange(3))
    ]
    return facts


def random_condition(chance: random.Random, depth: int = 3) -> str:
    if depth == 0:
        return chance.choice(
            [
                'agent == "a"', 'agent != "b"', 'agent.startsWith("a")', 'agent.contains("b")',
                'agent in ["a", "ab"]', "text_characters > 4", "text_characters <= 6", "quota_used == 1",
                "confidence >= 0.5", "confidence < 0.55", "own_words", "consent", 'role == "agent"',
                'value_type in ["text"]', '"email" in detections', "size(sources) > 0",
                "size(detections) == 1",
                "sources.exists(s, s.own)", 'sources.all(s, s.trust == "third_party")',
                'sources.exists(s, s.uri.startsWith("https://") && s.own)', "1 / quota_used == 1",
                'now < timestamp("2027-01-01T00:00:00Z")', 'sources.exists(s, s.source == "bank")',
                "sources[0].own", "sources.exists_one(s, s.own)", 'detections.all(d, d != "phone")',
            ]
        )  # fmt: skip
    parts = [random_condition(chance, depth - 1) for _ in range(3)]
    return (
        f"({chance.choice(['{0} && {1}', '{0} || {1}', '!({0})', '{0} ? {1} : {2}', '{0}']).format(*parts)})"
    )


def test_whatever_the_engine_answers_was_told_to_be_possible() -> None:
    chance = random.Random(5)  # noqa: S311 - a test is to come out alike each time
    compared = 0
    for _ in range(200):
        condition = random_condition(chance)
        try:
            possible = outcomes(condition)
        except Undecided:
            continue
        read = read_condition(condition)
        for _ in range(20):
            try:
                answer: bool | None = read.holds(_random_facts(chance))
            except ConditionFailed:
                answer = None
            compared += 1

            assert answer in possible, condition
    assert compared > 2_500
