"""A class for one agent is proposed by it, shown to it, and hidden from every other; its person sees it."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import FixedClock
from memories_world import MemoryWorld, memory_world

from service.core.database import Database


@pytest.fixture
def world(database: Database, tmp_path: Path, clock: FixedClock) -> Iterator[MemoryWorld]:
    changes = {"  preference:\n": "  preference:\n    agents: [agent-1]\n"}
    with memory_world(database, tmp_path, clock, changes=changes) as world:
        world.consent()
        yield world


def _package(world: MemoryWorld, who: dict[str, str]) -> str:
    body = {
        "project": "alpha",
        "purpose": "personalisation",
        "query": "how should replies be written?",
        "max_tokens": 2_000,
    }
    return str(world.call("POST", "/context-packages", who, body, expect=201))


def test_only_the_agents_of_a_class_propose_and_see_it(world: MemoryWorld) -> None:
    other = world.of("agent", "agent-2", for_user="user-1")
    turn = world.turn()

    refused = world.propose(turn, who=other)
    kept = world.propose(turn)["memory"]["id"]

    assert [reason["code"] for reason in refused["reasons"]] == ["writer_not_allowed"]
    assert world.search(world.agent) == world.search(world.user) == ["Prefers concise explanations"]
    assert "Prefers concise explanations" in _package(world, world.agent)
    assert world.search(other) == []
    hidden = _package(world, other)
    assert "Prefers concise" not in hidden
    assert kept not in hidden
    assert world.call("GET", "/memories", other)["items"] == []
    world.call("GET", f"/memories/{kept}", other, expect=404)
    world.call("GET", f"/memories/{kept}/history", other, expect=404)
    assert world.call("GET", f"/memories/{kept}", world.user)["id"] == kept
