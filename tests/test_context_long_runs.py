"""After three hundred turns what was pinned early is still there, what was said early can be asked for."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from compaction_world import Talk, open_talk, section
from conftest import FixedClock

from service.core.database import Database

CONSTRAINT = "Never promise a date for the consent of plot 18."
FACT = "The key to the survey hut hangs behind the heron painting."
TURNS = 300
PROFILES = ("default", "handoff")
TOPICS = (
    "drainage",
    "access road",
    "hedges",
    "noise",
    "parking",
    "bats",
    "levels",
    "fencing",
    "lighting",
    "soil",
)


@pytest.fixture
def talk(database: Database, tmp_path: Path, clock: FixedClock) -> Iterator[Talk]:
    with open_talk(database, tmp_path, clock) as talk:
        yield talk


def _converse(talk: Talk, *, compacting: bool) -> None:
    """Say a constraint and a fact early, and much else afterwards; have a summary written now and then."""
    talk.say(CONSTRAINT, pin="constraint")
    talk.say(FACT)
    for number in range(3, TURNS + 1):
        topic = TOPICS[number % len(TOPICS)]
        role = "user" if number % 2 else "assistant"
        talk.say(
            f"On {topic}, point {number}: the officer asked for drawing {number * 3} of the {topic} report,"
            f" which the applicant's engineer revised after the meeting about {topic} in week {number % 52}.",
            role,
        )
        if compacting and number % 90 == 0:
            talk.compact()


def _texts(package: dict[str, Any], name: str) -> str:
    return str(section(package, name)["text"])


def _check_everywhere(talk: Talk) -> None:
    for profile in PROFILES:
        package = talk.package(profile=profile, max_tokens=2_000)
        assert package["used_tokens"] <= 2_000
        assert f"[constraint (relayed), turn 1] {CONSTRAINT}\n" in _texts(package, "goal")
        assert f"turn {TURNS}" in _texts(package, "history")
        asked = talk.package(profile=profile, max_tokens=2_000, query="Where is the key to the survey hut?")
        assert CONSTRAINT in _texts(asked, "goal")
        assert FACT in _texts(asked, "history")


def test_without_summaries(talk: Talk) -> None:
    _converse(talk, compacting=False)

    _check_everywhere(talk)


def test_with_summaries(talk: Talk) -> None:
    _converse(talk, compacting=True)

    _check_everywhere(talk)
    package = talk.package(max_tokens=2_000, query="What was asked about bats?")
    items = section(package, "history")["items"]
    summaries = [item for item in items if item["kind"] == "summary"]
    turns = [item for item in items if item["kind"] == "turn"]
    assert len(summaries) == 1
    assert "turns 1 to 270 by builtin-extractive-1" in _texts(package, "history")
    # The newest summary, the newest turns, and of what stands under the summary only what was asked for.
    numbers = [int(item["text"].partition("point ")[2].partition(":")[0]) for item in turns]
    assert max(numbers) == TURNS
    assert all("bats" in item["text"] for item, number in zip(turns, numbers, strict=True) if number <= 270)
    spared = [
        one for one in package["omissions"] if one["kind"] == "turn" and one["reason"] == "low_relevance"
    ]
    assert spared


def test_what_a_summary_left_out_is_found_in_its_turn(talk: Talk) -> None:
    talk.say("Good morning.")
    said = talk.say(FACT)
    for number in range(3, 111):
        talk.say(f"On {TOPICS[number % len(TOPICS)]}, point {number}: drawing {number * 3} was asked for.")
    summary = {"from_sequence": 1, "to_sequence": 110, "text": "They talked of drawings.", "model": "m"}
    talk.post("summaries", summary)

    unasked = section(talk.package(max_tokens=2_000), "history")
    asked = section(talk.package(max_tokens=2_000, query="Where is the key to the hut?"), "history")

    assert FACT not in unasked["text"]
    assert said["id"] in [item["id"] for item in asked["items"] if item["kind"] == "turn"]
    assert "They talked of drawings." in asked["text"]


def test_a_summary_that_was_superseded_is_not_shown(talk: Talk) -> None:
    for number in range(12):
        talk.say(f"On drainage, point {number}: " + "the officer asked again. " * 20)
    first = talk.compact()
    talk.say("On bats: the survey is due.")
    second = talk.compact()

    package = talk.package(max_tokens=2_000)

    shown = [item["id"] for item in section(package, "history")["items"] if item["kind"] == "summary"]
    assert shown == [second["id"]]
    assert first["id"] not in str(package)


def test_the_newest_turns_go_before_the_summary_of_them(talk: Talk) -> None:
    for number in range(40):
        talk.say(f"On drainage, point {number}: " + "the officer asked for drawings. " * 10)
    talk.compact(max_tokens=4_000)
    talk.say("The very last words.")

    history = section(talk.package(max_tokens=1_200, profile="handoff"), "history")

    kinds = [item["kind"] for item in history["items"]]
    assert "The very last words." in history["text"]
    assert kinds[0] == "summary"
    assert history["items"][0]["truncated"] is not None


def test_a_short_run_that_fits_is_shown_whole_and_needs_no_summary(talk: Talk) -> None:
    for number in range(9):
        talk.say(f"On drainage, point {number}.")
    summary = talk.compact()

    package = talk.package(max_tokens=4_000)

    assert [item["kind"] for item in section(package, "history")["items"]] == ["turn"] * 9
    [omitted] = [one for one in package["omissions"] if one["id"] == summary["id"]]
    assert omitted["reason"] == "duplicate"
