"""Pausing and resuming: nothing relies on a paused memory, its person sees it, and never two are live."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import FixedClock
from memories_world import MemoryWorld, memory_world

from service.core.database import Database
from service.memories.tables import MemoryRow

OLD = "Prefers concise explanations"
NEW = "Prefers detailed explanations"
PACKAGE = {"project": "alpha", "purpose": "personalisation", "query": "explanations", "max_tokens": 4_000}


@pytest.fixture
def world(database: Database, tmp_path: Path, clock: FixedClock) -> Iterator[MemoryWorld]:
    with memory_world(database, tmp_path, clock) as world:
        world.consent()
        yield world


def act(world: MemoryWorld, memory_id: str, verb: str, *, expect: int = 200, who: Any = None) -> Any:
    return world.call("POST", f"/memories/{memory_id}/{verb}", who or world.user, expect=expect)


def test_a_paused_memory_is_listed_and_relied_on_by_nobody(world: MemoryWorld) -> None:
    memory = world.propose(world.turn())["memory"]["id"]
    keyed = {**world.agent, "Idempotency-Key": "package-1"}
    world.call("POST", "/context-packages", keyed, PACKAGE, expect=201)

    assert act(world, memory, "pause")["status"] == "paused"
    assert act(world, memory, "pause")["status"] == "paused"

    assert world.search(world.agent) == []
    fresh = world.call("POST", "/context-packages", world.agent, PACKAGE, expect=201)
    assert OLD not in fresh["rendered"]["text"]
    world.call("POST", "/context-packages", keyed, PACKAGE, expect=410)
    world.call("GET", f"/memories/{memory}", world.agent, expect=404)
    listed = world.call("GET", "/memories?status=paused", world.user)["items"]
    assert [item["text"] for item in listed] == [OLD]
    assert act(world, memory, "resume")["status"] == "active"
    assert act(world, memory, "resume")["status"] == "active"
    assert world.search(world.agent) == [OLD]


def test_only_its_person_pauses_and_resumes(world: MemoryWorld) -> None:
    memory = world.propose(world.turn())["memory"]["id"]

    for verb in ("pause", "resume"):
        act(world, memory, verb, who=world.agent, expect=403)
        act(world, memory, verb, who=world.of("user", "user-2"), expect=404)
        act(world, memory, verb, who=world.of("user", "user-1", tenant="other"), expect=404)
    assert world.search(world.agent) == [OLD]


def test_what_is_paused_is_not_learnt_again_and_another_value_keeps_it_from_coming_back(
    world: MemoryWorld,
) -> None:
    turn = world.turn()
    memory = world.propose(turn)["memory"]["id"]
    act(world, memory, "pause")

    again = world.propose(turn)
    other = world.propose(turn, text=NEW)

    assert [reason["code"] for reason in again["reasons"]] == ["duplicate"]
    assert other["decision"] == "approved"
    assert act(world, memory, "resume", expect=409)["code"] == "memory_slot_taken"
    assert world.search(world.agent) == [NEW]
    world.call("DELETE", f"/memories/{other['memory']['id']}", world.user)
    act(world, memory, "resume")
    assert world.search(world.agent) == [OLD]


def test_an_expired_or_superseded_memory_is_neither_paused_nor_resumed(
    world: MemoryWorld, clock: FixedClock
) -> None:
    turn = world.turn()
    first = world.propose(turn)["memory"]["id"]
    second = world.propose(turn, text=NEW)["memory"]["id"]
    assert act(world, first, "resume", expect=409)["code"] == "memory_not_resumable"
    assert act(world, first, "pause", expect=409)["code"] == "memory_not_pausable"
    act(world, second, "pause")

    clock.advance(days=366)

    assert act(world, second, "resume", expect=409)["code"] == "memory_not_resumable"
    assert world.call("GET", f"/memories/{second}", world.user)["status"] == "expired"


def test_a_deletion_is_taken_back_while_there_is_time_for_it(world: MemoryWorld, clock: FixedClock) -> None:
    memory = world.propose(world.turn())["memory"]["id"]

    def in_grace() -> None:
        with world.site.runtime.database.write(world.site.tenants["acme"]) as session:
            row = session.get_one(MemoryRow, (world.site.tenants["acme"], memory))
            row.status, row.grace_until = "grace", clock.now.replace(day=30, hour=12)
            session.add(row)

    in_grace()
    assert world.search(world.agent) == []
    shown = world.call("GET", f"/memories/{memory}", world.user)
    assert (shown["status"], shown["grace_until"]) == ("grace", "2026-11-30T12:00:00Z")
    assert act(world, memory, "resume")["grace_until"] is None
    assert world.search(world.agent) == [OLD]

    in_grace()
    clock.advance(hours=3)
    world.call("GET", f"/memories/{memory}", world.user, expect=404)
    act(world, memory, "resume", expect=404)


def test_a_paused_memory_is_corrected_and_stays_paused(world: MemoryWorld) -> None:
    memory = world.propose(world.turn())["memory"]["id"]
    act(world, memory, "pause")

    headers = {**world.user, "If-Match": '"1"'}
    world.call("POST", f"/memories/{memory}/corrections", headers, {"text": NEW}, expect=201)

    assert world.search(world.agent) == []
    act(world, memory, "resume")
    assert world.search(world.agent) == [NEW]
