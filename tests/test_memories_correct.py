"""Corrections: a new version of the same memory, judged like a proposal; the old words are out at once."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import FixedClock
from memories_world import QUOTE, MemoryWorld, memory_world

from service.core.database import Database
from service.memories.tables import MemoryRow, MemoryVersionRow

NEW = "Prefers detailed explanations"
OLD = "Prefers concise explanations"
PACKAGE = {"project": "alpha", "purpose": "personalisation", "query": "explanations", "max_tokens": 4_000}


@pytest.fixture
def world(database: Database, tmp_path: Path, clock: FixedClock) -> Iterator[MemoryWorld]:
    with memory_world(database, tmp_path, clock) as world:
        world.consent()
        yield world


def kept(world: MemoryWorld, **changes: Any) -> str:
    return str(world.propose(world.turn(), **changes)["memory"]["id"])


def correct(
    world: MemoryWorld,
    memory_id: str,
    body: dict[str, Any] | None = None,
    *,
    version: int | None = 1,
    who: dict[str, str] | None = None,
    expect: int = 201,
    key: str | None = None,
) -> Any:
    headers = dict(who or world.user)
    if version is not None:
        headers["If-Match"] = f'"{version}"'
    if key is not None:
        headers["Idempotency-Key"] = key
    return world.call(
        "POST", f"/memories/{memory_id}/corrections", headers, body or {"text": NEW}, expect=expect
    )


def test_the_id_stays_and_the_old_words_are_in_no_search_and_no_package(world: MemoryWorld) -> None:
    memory = kept(world)
    assert (
        OLD in world.call("POST", "/context-packages", world.agent, PACKAGE, expect=201)["rendered"]["text"]
    )

    answer = correct(world, memory, {"text": NEW, "reason": "changed my mind"})

    assert (answer["id"], answer["version"], answer["decision"]) == (memory, 2, "approved")
    # Why is for the person, and for whom a class lets read old values: not for an agent.
    told = [
        world.call("GET", f"/memories/{memory}/history", who)["items"][-1]["reason"]
        for who in (world.user, world.agent)
    ]
    assert told == ["changed my mind", None]
    assert world.search(world.agent) == [NEW]
    shown = world.call("POST", "/context-packages", world.agent, PACKAGE, expect=201)["rendered"]["text"]
    assert NEW in shown
    assert OLD not in shown
    now = world.call("GET", f"/memories/{memory}", world.user)
    assert (now["text"], now["version"], now["confidence"]) == (NEW, 2, 1.0)
    assert now["provenance"] == [
        {"kind": "correction", "id": memory, "version": 2, "start": None, "end": None, "quote": None}
    ]
    assert (world.site.count(MemoryRow), world.site.count(MemoryVersionRow)) == (1, 2)


def test_it_needs_the_version_that_was_read_and_says_which_is_current(world: MemoryWorld) -> None:
    memory = kept(world)

    correct(world, memory, version=None, expect=428)
    assert correct(world, memory, version=7, expect=412)["current_version"] == 1
    correct(world, memory)
    assert correct(world, memory, {"text": "Third"}, expect=412)["current_version"] == 2


def test_an_answer_that_was_kept_for_repeats_shows_the_old_words_no_more(world: MemoryWorld) -> None:
    memory = kept(world)
    keyed = {**world.agent, "Idempotency-Key": "package-1"}
    assert OLD in world.call("POST", "/context-packages", keyed, PACKAGE, expect=201)["rendered"]["text"]

    correct(world, memory)

    assert world.call("POST", "/context-packages", keyed, PACKAGE, expect=410)["code"] == "erased"


def test_the_policy_decides_and_a_denial_changes_nothing(world: MemoryWorld) -> None:
    memory = kept(world)

    answer = correct(world, memory, {"text": "x" * 501}, expect=200)
    same = correct(world, memory, {"text": OLD}, expect=200)
    world.consent(granted=False)
    unconsented = correct(world, memory, {"text": NEW}, expect=200)

    assert (answer["decision"], answer["version"]) == ("denied", 1)
    assert [reason["code"] for reason in answer["reasons"]] == ["value_invalid"]
    assert [reason["code"] for reason in same["reasons"]] == ["duplicate"]
    assert [reason["code"] for reason in unconsented["reasons"]] == ["consent_missing"]
    world.consent()
    assert world.search(world.agent) == [OLD]


def test_an_agent_a_stranger_and_another_tenant_correct_nothing(world: MemoryWorld) -> None:
    memory = kept(world)

    correct(world, memory, who=world.agent, expect=403)
    correct(world, memory, who=world.of("reviewer", "reviewer-1"), expect=403)
    for stranger in (world.of("user", "user-2"), world.of("user", "user-1", tenant="other")):
        correct(world, memory, who=stranger, expect=404)
    assert world.search(world.agent) == [OLD]


def test_what_an_agent_repeats_or_infers_waits_for_the_person_who_put_it_right(
    world: MemoryWorld, clock: FixedClock
) -> None:
    turn = world.turn()
    memory = str(world.propose(turn)["memory"]["id"])
    clock.advance(minutes=1)
    correct(world, memory)

    repeated = world.propose(turn)

    assert repeated["decision"] == "pending_review"
    assert [reason["code"] for reason in repeated["reasons"]] == ["conflict", "review_required"]
    assert world.search(world.agent) == [NEW]
    clock.advance(minutes=1)
    said_again = world.propose(world.turn(f"No, {QUOTE} after all."))
    assert said_again["decision"] == "approved"
    assert world.search(world.agent) == [OLD]


def test_words_and_the_time_in_which_they_are_true_change_apart(world: MemoryWorld) -> None:
    memory = kept(world, value=3)

    correct(world, memory, {"valid_until": "2027-01-01T00:00:00Z"})
    windowed = world.call("GET", f"/memories/{memory}", world.user)
    correct(world, memory, {"text": NEW}, version=2)
    worded = world.call("GET", f"/memories/{memory}", world.user)

    assert (windowed["text"], windowed["value"]) == (OLD, 3)
    assert (windowed["valid_from"], windowed["valid_until"]) == (None, "2027-01-01T00:00:00Z")
    assert (worded["text"], worded["value"], worded["valid_until"]) == (NEW, None, "2027-01-01T00:00:00Z")
    assert correct(world, memory, {"reason": "no"}, version=3, expect=422)["code"] == "correction_empty"
    empty = {"valid_from": "2027-01-02T00:00:00Z", "valid_until": "2027-01-01T00:00:00Z"}
    correct(world, memory, empty, version=3, expect=422)


def test_a_correction_starts_the_days_anew_and_revives_nothing(world: MemoryWorld, clock: FixedClock) -> None:
    memory = kept(world)
    clock.advance(days=100)

    correct(world, memory)

    assert world.call("GET", f"/memories/{memory}", world.user)["expires_at"] == "2028-03-09T10:00:00Z"
    clock.advance(days=366)
    refused = correct(world, memory, {"text": "Third"}, version=2, expect=409)
    assert refused["code"] == "memory_not_correctable"


def test_a_repeat_under_the_same_key_is_one_correction(world: MemoryWorld) -> None:
    memory = kept(world)

    first = correct(world, memory, key="correct-1")
    again = correct(world, memory, key="correct-1")

    assert first == again
    assert world.site.count(MemoryVersionRow) == 2


def test_a_projects_memory_is_corrected_with_a_source_and_by_its_reviewer(world: MemoryWorld) -> None:
    convention = {
        "class": "project_convention",
        "subject": None,
        "key": "date_format",
        "text": "Dates are written day first",
        "purpose": "service",
    }
    reviewer = world.of("reviewer", "reviewer-1")
    waiting = world.propose(world.turn(), **convention)
    decided = world.call(
        "POST", f"/memory-proposals/{waiting['id']}/decision", reviewer, {"decision": "approve"}
    )
    memory = decided["memory"]["id"]
    bare = correct(world, memory, {"text": "Dates are ISO"}, expect=200)
    assert [reason["code"] for reason in bare["reasons"]] == ["provenance_missing"]

    cited = [{"kind": "turn", "id": world.turn(), "quote": QUOTE}]
    body = {"text": "Dates are ISO", "provenance": cited, "reason": "agreed"}
    asked = correct(world, memory, body, expect=200)

    assert asked["decision"] == "pending_review"
    assert world.search(world.agent, purpose="service") == ["Dates are written day first"]
    path = f"/memory-proposals/{asked['proposal_id']}/decision"
    world.call("POST", path, world.user, {"decision": "approve"}, expect=403)
    answer = world.call("POST", path, reviewer, {"decision": "approve"})
    assert answer["memory"] == {"id": memory, "version": 2}
    assert world.search(world.agent, purpose="service") == ["Dates are ISO"]
