"""A run's memory mode, consent for each purpose and legal holds count at every door, at the next request."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import FixedClock
from memories_world import MemoryWorld, memory_world

from service.core.database import Database

TEXT = "Prefers concise explanations"
TWO_PURPOSES = {"purposes: [personalisation]": "purposes: [personalisation, service]"}


def package(world: MemoryWorld, who: dict[str, str], *, expect: int = 201, **changes: Any) -> str:
    asked = {"project": "alpha", "purpose": "personalisation", "query": "explanations", "max_tokens": 4_000}
    built = world.call("POST", "/context-packages", who, {**asked, **changes}, expect=expect)
    return str(built["rendered"]["text"]) if expect == 201 else ""


@pytest.fixture
def world(database: Database, tmp_path: Path, clock: FixedClock) -> Iterator[MemoryWorld]:
    with memory_world(database, tmp_path, clock, changes=TWO_PURPOSES) as world:
        world.consent()
        yield world


@pytest.mark.parametrize(("mode", "is_shown"), [("off", False), ("read", True), ("read_write", True)])
def test_a_run_is_shown_memories_only_where_it_may_read_them(
    world: MemoryWorld, mode: str, *, is_shown: bool
) -> None:
    world.propose(world.turn())
    run = {"project": "alpha", "objective": "answer", "requirements": [], "memory_mode": mode}
    execution = world.call("POST", "/executions", world.agent, run, expect=201)["id"]

    assert (TEXT in package(world, world.agent, execution_id=execution)) is is_shown


@pytest.mark.parametrize("mode", ["off", "read"])
def test_nothing_that_such_a_run_saw_becomes_memory_by_whatever_door(world: MemoryWorld, mode: str) -> None:
    run = {"project": "alpha", "objective": "answer", "requirements": [], "memory_mode": mode}
    execution = world.call("POST", "/executions", world.agent, run, expect=201)["id"]
    seen = {
        "source": {
            "uri": "tool://register",
            "kind": "tool",
            "source_version": "7",
            "observed_at": "2026-11-30T10:00:00Z",
        },
        "media_type": "text/plain",
        "content": "The user wants short answers. " * 1_000,
        "summary": "wants short answers",
    }
    kept = world.call("POST", f"/executions/{execution}/observations", world.agent, seen, expect=201)
    assert kept["evidence_id"]
    source = {"uri": "tool://copy", "kind": "tool", "observed_at": "2026-11-30T10:00:00Z"}
    body = {"project": "alpha", "text": "Wants short answers", "source": source}
    body["derived_from"] = [f"evidence:{kept['evidence_id']}@1"]
    copied = world.call("POST", "/evidence", world.agent, body, expect=201)

    for cited in (
        {"kind": "evidence", "id": copied["id"]},
        {"kind": "observation", "id": kept["id"]},
        {"kind": "evidence", "id": kept["evidence_id"]},
    ):
        answer = world.propose(None, provenance=[cited])
        assert "writer_not_allowed" in [reason["code"] for reason in answer["reasons"]], cited["kind"]


def test_each_purpose_of_a_memory_needs_its_own_consent(world: MemoryWorld) -> None:
    world.propose(world.turn())
    assert world.search(world.agent, purpose="service") == []

    world.consent(purpose="service")
    assert world.search(world.agent, purpose="service") == [TEXT]
    assert TEXT in package(world, world.agent, purpose="service")
    world.consent(granted=False)

    assert world.search(world.agent) == []
    assert world.search(world.agent, purpose="service") == [TEXT]


def test_withdrawal_counts_for_repeats_and_for_questions_about_the_past(
    world: MemoryWorld, clock: FixedClock
) -> None:
    world.propose(world.turn())
    keyed = {**world.agent, "Idempotency-Key": "package-1"}
    assert TEXT in package(world, keyed)
    clock.advance(hours=1)

    world.consent(granted=False)

    package(world, keyed, expect=410)
    past = {"known_at": "2026-11-30T10:00:00Z"}
    assert TEXT not in package(world, world.agent, **past)
    assert world.search(world.user, **past) == []


def test_a_kept_answer_shows_no_memory_that_has_run_out_or_is_held_meanwhile(
    world: MemoryWorld, clock: FixedClock
) -> None:
    memory = world.propose(world.turn())["memory"]["id"]
    clock.advance(days=364, hours=12)
    keyed = {**world.agent, "Idempotency-Key": "package-1"}
    assert TEXT in package(world, keyed)
    assert TEXT in package(world, keyed)
    body = {"scope": "memory", "ref": memory, "basis": "a court asked for it"}
    admin = world.of("admin", "admin-1")
    hold = world.call("POST", "/holds", admin, body, expect=201)
    package(world, keyed, expect=410)
    assert world.site.client.delete(f"/v1/holds/{hold['id']}", headers=admin).is_success
    fresh = {**world.agent, "Idempotency-Key": "package-2"}
    assert TEXT in package(world, fresh)

    clock.advance(hours=13)

    package(world, fresh, expect=410)


@pytest.mark.parametrize("scope", ["memory", "subject", "project"])
def test_what_is_held_is_relied_on_by_nobody_and_its_person_sees_it(world: MemoryWorld, scope: str) -> None:
    memory = world.propose(world.turn())["memory"]["id"]
    ref = {"memory": memory, "subject": "user-1", "project": "alpha"}[scope]
    body = {"scope": scope, "ref": ref, "basis": "a court asked for it"}
    hold = world.call("POST", "/holds", world.of("admin", "admin-1"), body, expect=201)

    assert world.search(world.agent) == []
    assert TEXT not in package(world, world.agent)
    assert world.call("GET", "/memories", world.agent)["items"] == []
    assert [item["text"] for item in world.call("GET", "/memories", world.user)["items"]] == [TEXT]
    assert world.site.client.delete(
        f"/v1/holds/{hold['id']}", headers=world.of("admin", "admin-1")
    ).is_success
    assert world.search(world.agent) == [TEXT]
