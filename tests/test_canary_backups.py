"""A backup made before a person's erasure is put back after it, and no byte of what they said comes back."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from canary_bytes import found_in
from canary_doors import enter_by_every_door
from canary_server import Server, open_server
from canary_world import PERSON, PROJECT, STEM, CanaryWorld, found_world
from recovery_matrix import on
from test_canary_bytes import REFERENCES

pytestmark = pytest.mark.timeout(600)


@pytest.fixture
def server(request: pytest.FixtureRequest) -> Iterator[Server | None]:
    if request.param == "sqlite":
        yield None
        return
    address = request.getfixturevalue("postgresql_address")
    template = request.getfixturevalue("postgresql_template")
    with open_server(address, template) as server:
        yield server


@pytest.fixture
def world(server: Server | None, tmp_path: Path) -> CanaryWorld:
    return found_world(tmp_path / "site", None if server is None else server.url)


@pytest.mark.parametrize("server", on("sqlite"), indirect=True)
def test_no_byte_of_an_erased_person_comes_back_with_a_backup(
    world: CanaryWorld, server: Server | None, tmp_path: Path
) -> None:
    backup = tmp_path / "backup"
    with world.serving():
        enter_by_every_door(world)
        world.command("backup", "--to", str(backup))
        # Its rows are the record's: words are sealed there, and names stand as they stand in it.
        assert _doors(backup) <= REFERENCES
        world.await_erased(world.erase(account=False))

    restored = world.command("restore", "--from", str(backup), "--replace")

    assert restored["erased"] > 0
    with world.serving():
        _assert_nothing_shown(world)
    folders = [world.place.folder]
    if server is not None:
        server.vacuum()
        folders.append(server.folder)
    assert found_in(folders, STEM) == {}
    for name in world.ids.values():
        assert found_in([world.place.data / "index"], name) == {}


def _doors(folder: Path) -> set[str]:
    return {door for doors in found_in([folder], STEM).values() for door in doors}


def _assert_nothing_shown(world: CanaryWorld) -> None:
    """Assert that the person, who still has an account, is shown nothing of then by any door."""
    for kind, name in (("memories", world.ids["memory"]), ("evidence", world.ids["evidence"])):
        world.call("GET", f"/{kind}/{name}", "user", expect=404)
    assert world.call("GET", "/memories", "user", expect=200).json()["items"] == []
    sought = {"query": "what is liked and preferred?"}
    remembered = {**sought, "purpose": "personalisation"}
    found = world.call("POST", "/memories/search", "agent", remembered, expect=200)
    assert found.json()["items"] == []
    read = world.call("POST", "/evidence/search", "user", {**sought, "project": PROJECT}, expect=200)
    assert read.json()["items"] == []
    exported = world.call("GET", f"/subjects/{PERSON}/export", "user", expect=200)
    packed = world.call(
        "POST",
        "/context-packages",
        "agent",
        {**remembered, "project": PROJECT, "max_tokens": 6_000},
        expect=201,
    )
    for answer in (exported, packed):
        assert STEM not in answer.text
        assert world.ids["memory"] not in answer.text
