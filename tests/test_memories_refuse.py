"""Refusals: a person says once what is never to be remembered, and every door keeps to it."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import FixedClock
from memories_world import MemoryWorld, memory_world

from service.core.database import Database


@pytest.fixture
def world(database: Database, tmp_path: Path, clock: FixedClock) -> Iterator[MemoryWorld]:
    with memory_world(database, tmp_path, clock) as world:
        world.consent()
        yield world


def refuse(
    world: MemoryWorld, name: str | None, *, refused: bool = True, expect: int = 200, **who: Any
) -> Any:
    body = {"subject": "user-1", "class": name, "refused": refused}
    return world.call("PUT", "/refusals", who.get("who") or world.user, body, expect=expect)


def codes(answer: Any) -> list[str]:
    return [reason["code"] for reason in answer["reasons"]]


@pytest.mark.parametrize("name", ["preference", None])
def test_what_is_refused_is_denied_until_it_is_taken_back(world: MemoryWorld, name: str | None) -> None:
    turn = world.turn()
    answer = refuse(world, name)
    assert answer == {"subject": "user-1", "items": [{"class": name, "since": "2026-11-30T10:00:00Z"}]}
    assert refuse(world, name) == answer

    denied = world.propose(turn)

    assert (denied["decision"], codes(denied)) == ("denied", ["refused"])
    assert world.call("GET", "/refusals?subject=user-1", world.user) == answer
    assert refuse(world, name, refused=False)["items"] == []
    assert world.propose(turn)["decision"] == "approved"


def test_another_class_and_another_person_are_not_touched(world: MemoryWorld) -> None:
    refuse(world, "workflow_setting")

    assert world.propose(world.turn())["decision"] == "approved"
    setting = {"class": "workflow_setting", "purpose": "service", "key": "branch", "text": "Uses main"}
    assert codes(world.propose(world.turn(), **setting)) == ["refused"]


def test_it_counts_for_what_waits_and_for_corrections_of_what_is_kept(world: MemoryWorld) -> None:
    memory = world.propose(world.turn())["memory"]["id"]
    waiting = world.propose(world.turn(), key="language", text="Writes German", confidence=0.6)
    assert waiting["decision"] == "pending_review"

    refuse(world, "preference")

    path = f"/memory-proposals/{waiting['id']}/decision"
    assert codes(world.call("POST", path, world.user, {"decision": "approve"})) == ["refused"]
    headers = {**world.user, "If-Match": '"1"'}
    corrected = world.call("POST", f"/memories/{memory}/corrections", headers, {"text": "Other"})
    assert (corrected["decision"], codes(corrected)) == ("denied", ["refused"])
    assert world.search(world.agent) == ["Prefers concise explanations"]


def test_nobody_refuses_for_another_and_only_classes_that_there_are(world: MemoryWorld) -> None:
    assert refuse(world, "mood", expect=422)["code"] == "class_not_in_policy"
    refuse(world, "preference", who=world.agent, expect=403)
    refuse(world, "preference", who=world.of("user", "user-2"), expect=404)
    world.call("GET", "/refusals?subject=user-1", world.of("user", "user-2"), expect=404)
    other = world.of("user", "user-1", tenant="other")
    assert world.call("GET", "/refusals?subject=user-1", other)["items"] == []
