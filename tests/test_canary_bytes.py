"""What a person says enters by every door, and after their erasure no byte of it is left in any file."""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest
from canary_bytes import found_in
from canary_doors import enter_by_every_door
from canary_server import Server, open_server
from canary_world import PERSON, STEM, CanaryWorld, found_world

pytestmark = pytest.mark.timeout(300)

REFERENCES: Final = {
    "checkoutputref",
    "consent",
    "dependson",
    "downstreamref",
    "externalref",
    "largeobservationcallid",
    "madeof",
    "model",
    "observationcallid",
    "outputname",
    "outputref",
    "stepinput",
    "task",
    "taskinput",
    "toolcallid",
    "unknownclass",
}
"""Doors of short names and references, which programs give and look for: they rest in plain until erased.

Everything else is words: sealed from the moment that it comes in.
"""


@pytest.fixture(params=["sqlite", "postgresql"])
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
    return found_world(tmp_path, None if server is None else server.url)


def test_no_byte_of_what_a_person_said_is_left_once_they_are_erased(
    world: CanaryWorld, server: Server | None, tmp_path: Path
) -> None:
    folders = [tmp_path] if server is None else [tmp_path, server.folder]
    with world.serving():
        enter_by_every_door(world)
        assert _in_plain(folders) <= REFERENCES
        assert found_in(folders, PERSON) != {}

        erasure = world.await_erased(world.erase())

    assert all(store["verified"] for store in erasure["receipt"]["stores"])
    if server is not None:
        # Until it is vacuumed, PostgreSQL keeps removed rows: what was in plain there, and no word more.
        assert _in_plain(folders) <= REFERENCES
        server.vacuum()
    assert found_in(folders, STEM) == {}
    assert found_in(folders, PERSON) == {}
    for name in ("memory", "evidence"):
        assert found_in([world.place.data / "index"], world.ids[name]) == {}


def _in_plain(folders: list[Path]) -> set[str]:
    """Answer the doors whose canary is found, but for references that the end of a page cuts off."""
    doors = {door for doors in found_in(folders, STEM).values() for door in doors}
    cut = {door for door in doors if any(name.startswith(door) for name in REFERENCES - {door})}
    return doors - cut
