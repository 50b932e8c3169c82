"""What lies idle ends: a package that shows a memory moves its end, and nothing else does."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import FixedClock
from memories_world import QUOTE, MemoryWorld, memory_world

from service.core.database import Database

IDLE = {"expiry: {days: 365, counted_from: confirmation}": "expiry: {days: 60, idle_days: 30}"}
PACKAGE = {"project": "alpha", "purpose": "personalisation", "query": "explanations", "max_tokens": 4_000}


@pytest.fixture
def world(database: Database, tmp_path: Path, clock: FixedClock) -> Iterator[MemoryWorld]:
    with memory_world(database, tmp_path, clock, changes=IDLE) as world:
        world.consent()
        yield world


def ends(world: MemoryWorld, memory_id: str) -> str:
    return str(world.call("GET", f"/memories/{memory_id}", world.user)["expires_at"])


def package(world: MemoryWorld, **changes: Any) -> None:
    world.call("POST", "/context-packages", world.agent, {**PACKAGE, **changes}, expect=201)


def test_a_package_moves_the_end_as_far_as_the_class_lets_it(world: MemoryWorld, clock: FixedClock) -> None:
    memory = world.propose(world.turn())["memory"]["id"]
    assert ends(world, memory) == "2026-12-30T10:00:00Z"
    clock.advance(days=10)

    package(world)

    assert ends(world, memory) == "2027-01-09T10:00:00Z"
    clock.advance(days=25)
    package(world)
    assert ends(world, memory) == "2027-01-29T10:00:00Z", "sixty days after it was confirmed, and no later"


def test_looking_listing_searching_and_history_move_nothing(world: MemoryWorld, clock: FixedClock) -> None:
    memory = world.propose(world.turn())["memory"]["id"]
    clock.advance(days=10)

    for who in (world.user, world.agent):
        world.call("GET", "/memories", who)
        world.call("GET", f"/memories/{memory}/history", who)
        assert world.search(who) == ["Prefers concise explanations"]
    package(world, purpose="service")

    assert ends(world, memory) == "2026-12-30T10:00:00Z"


def test_what_has_lain_idle_for_too_long_is_not_revived(world: MemoryWorld, clock: FixedClock) -> None:
    memory = world.propose(world.turn())["memory"]["id"]
    clock.advance(days=30)

    package(world)

    assert world.search(world.agent) == []
    assert world.call("GET", f"/memories/{memory}", world.user)["status"] == "expired"
    assert world.propose(world.turn())["decision"] == "approved"


def test_a_look_at_what_was_said_once_is_no_use_of_what_counts_now(
    world: MemoryWorld, clock: FixedClock
) -> None:
    memory = world.propose(world.turn())["memory"]["id"]
    clock.advance(days=5)
    headers = {**world.user, "If-Match": '"1"'}
    body = {"text": "Prefers detailed explanations"}
    world.call("POST", f"/memories/{memory}/corrections", headers, body, expect=201)
    clock.advance(days=5)

    built = {**PACKAGE, "known_at": "2026-12-01T10:00:00Z"}
    world.call("POST", "/context-packages", world.user, built, expect=201)

    assert ends(world, memory) == "2027-01-04T10:00:00Z"


def test_a_quota_counts_what_is_active_or_paused_and_gives_back_what_is_deleted(
    database: Database, tmp_path: Path, clock: FixedClock
) -> None:
    with memory_world(database, tmp_path, clock, changes={"quota: 200": "quota: 1"}) as world:
        world.consent()
        turn = world.turn()
        memory = world.propose(turn)["memory"]["id"]

        def another() -> list[str]:
            answer = world.propose(turn, key="language", text=f"Says {QUOTE}")
            return [reason["code"] for reason in answer["reasons"]]

        assert another() == ["quota_exceeded"]
        world.call("POST", f"/memories/{memory}/pause", world.user)
        assert another() == ["quota_exceeded"]
        world.call("DELETE", f"/memories/{memory}", world.user)
        assert another() == []


def test_keep_newest_keeps_what_was_observed_last_and_review_asks_a_person(
    database: Database, tmp_path: Path, clock: FixedClock
) -> None:
    rules = {"conflict: supersede": "conflict: keep_newest"}
    with memory_world(database, tmp_path, clock, changes=rules) as world:
        world.consent()
        before = world.turn()
        clock.advance(minutes=1)
        world.propose(world.turn())

        late = world.propose(before, text="Prefers detailed explanations")
        clock.advance(minutes=1)
        newer = world.propose(world.turn(), text="Prefers pictures")

        assert [reason["code"] for reason in late["reasons"]] == ["conflict"]
        assert newer["decision"] == "approved"
        assert world.search(world.agent) == ["Prefers pictures"]
