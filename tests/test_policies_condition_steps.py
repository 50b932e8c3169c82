"""A condition is bounded before it is run: what would take gigabytes or minutes is refused."""

import resource
import subprocess
import sys
import time
from datetime import UTC, datetime
from typing import Any, Final

import pytest

from service.policies.condition_steps import STEPS_MAX, measure
from service.policies.condition_types import source_message
from service.policies.conditions import ConditionInvalid, read_condition

NESTED: Final = "sources.all(a, sources.all(b, sources.all(c, {})))"
NUMBERS: Final = "[" + "1, " * 28 + "1]"

TOO_MUCH: Final = [
    # 2.6 GB and six seconds, and eight seconds, before there was a bound.
    NESTED.format("(" + "+".join(["a.uri"] * 23) + ").size() > 0"),
    NESTED.format(" && ".join(["a.uri == b.uri"] * 100)),
    # Nineteen seconds: a pattern that is no literal is compiled at each step.
    f"sources.all(a, sources.all(b, {' && '.join(['a.uri.matches(b.uri)'] * 80)}))",
    f"{NUMBERS}.all(a, {NUMBERS}.all(b, {' && '.join(['agent == person'] * 60)}))",
    "(sources + sources + sources).all(a, sources.all(b, " + " && ".join(["a.uri == b.uri"] * 30) + "))",
]
HEAVIEST: Final = [
    " && ".join(f"sources.exists(a, a.uri.matches('.*x.*{number}.*$'))" for number in range(4)),
    "sources.all(a, sources.all(b, " + " && ".join(["a.uri == b.uri"] * 9) + "))",
    "sources.all(a, (" + "+".join(["a.uri"] * 4) + ").size() > 0)",
    "(" + "+".join(["agent"] * 20) + ").size() > 0",
    f"{NUMBERS}.all(a, {NUMBERS}.all(b, agent == person))",
]

FACTS: Final[dict[str, Any]] = {
    "class_name": "note", "project": "alpha", "agent": "a" * 200, "person": "a" * 200, "role": "agent",
    "subject": "user-1", "purpose": "service", "confidence": 0.5, "text_characters": 1, "value_type": "none",
    "own_words": True, "relayed": True, "consent": True, "existing": "none", "quota_used": 1,
    "memory_mode": "", "corrects": False, "detections": ["email"] * 14,
    "now": datetime(2026, 11, 30, tzinfo=UTC),
}  # fmt: skip


@pytest.mark.parametrize("condition", TOO_MUCH, ids=range(len(TOO_MUCH)))
def test_what_would_run_long_or_fill_the_memory_is_refused_when_it_is_read(condition: str) -> None:
    started = time.perf_counter()

    with pytest.raises(ConditionInvalid, match=f"and {STEPS_MAX} are the most"):
        read_condition(condition)

    assert time.perf_counter() - started < 1


@pytest.mark.parametrize(
    "hidden",
    [
        "sources./* no comment in CEL */all(a, true)",
        "sources.// a comment\nall(a, a.own)",
        "sources . all // another\n (a, a.own)",
        "sources.all(a, a.uri != ')' && a.uri != \"'\")",
        'sources.all(a, a.uri != r"\\" && a.own)',
        "sources.all(a, a.uri != '''it's ) fine''' && a.own)",
        'sources.all(a, a.uri != b"x" && a.own)',
    ],
)
def test_comments_and_texts_hide_no_walk(hidden: str) -> None:
    assert measure(hidden).steps >= 20


def test_what_a_text_says_costs_nothing() -> None:
    assert measure('class_name == "sources.all(a, sources.all(b, true + true))"').steps == 1


def test_the_place_is_that_of_the_innermost_walk() -> None:
    with pytest.raises(ConditionInvalid) as refused:
        read_condition("consent &&\n" + TOO_MUCH[0])

    assert (refused.value.line, refused.value.column) == (2, TOO_MUCH[0].index("all(c") + 1)


def evaluate_heaviest() -> None:
    """Write how many megabytes and seconds the heaviest conditions that are allowed take."""
    facts = {**FACTS, "sources": [source_message(kind="turn", uri="turn://" + "x" * 2_000)] * 20}
    before, started = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.process_time()
    for condition in HEAVIEST:
        read_condition(condition).holds(facts)
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    sys.stdout.write(f"{grown // 1024} {time.process_time() - started}")


def test_the_heaviest_that_is_allowed_takes_little_time_and_memory() -> None:
    # A process of its own: the peak of this one's memory is that of other tests.
    done = subprocess.run([sys.executable, __file__], capture_output=True, text=True, timeout=60, check=True)
    megabytes, seconds = map(float, done.stdout.split())

    assert megabytes < 150
    assert seconds < 2


if __name__ == "__main__":
    evaluate_heaviest()
