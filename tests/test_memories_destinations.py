"""A class says where its text may go: what it leaves out, search or package, shows none of it."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import FixedClock
from memories_world import MemoryWorld, memory_world

from service.core.database import Database

TEXT = "Prefers concise explanations"
ALL = "destinations: [package, search, export]"


@pytest.fixture(params=["search", "package", "export"])
def only(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def world(database: Database, tmp_path: Path, clock: FixedClock, only: str) -> Iterator[MemoryWorld]:
    changes = {ALL: f"destinations: [{only}]"}
    with memory_world(database, tmp_path, clock, changes=changes) as world:
        world.consent()
        yield world


def test_text_goes_only_where_its_class_lets_it_go(world: MemoryWorld, only: str) -> None:
    world.propose(world.turn())
    asked = {"project": "alpha", "purpose": "personalisation", "query": "style", "max_tokens": 2_000}

    package = str(world.call("POST", "/context-packages", world.agent, asked, expect=201))

    known_at = world.call("GET", "/memories", world.user)["items"][0]["created_at"]
    for who in (world.agent, world.user):
        assert world.search(who) == ([TEXT] if only == "search" else [])
        then = {"query": "style", "purpose": "personalisation", "known_at": known_at}
        found = world.call("POST", "/memories/search", who, then)["items"]
        assert len(found) == (1 if only == "search" else 0)
    assert (TEXT in package) is (only == "package")
    assert world.call("GET", "/memories", world.agent)["items"][0]["text"] == TEXT
