"""The service is killed in an erasure, and after a restart no byte of what was said is left."""

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import httpx
import pytest
from canary_bytes import found_in
from canary_doors import enter_by_every_door
from canary_server import Server, open_server
from canary_world import PERSON, PROJECT, STEM, TENANT, CanaryWorld, found_world
from recovery_matrix import DATABASES, on

from service.entry.demo.local_service import LocalServiceFailed
from service.governance.erase import steps_of
from service.governance.model import Kind, Target

pytestmark = pytest.mark.timeout(1_800)

KILLS: Final = [
    *(
        f"erase.{step}.{side}"
        for step in steps_of(Target("", Kind.SUBJECT, ""))
        for side in ("before", "after")
    ),
    "erase.verify.before",
]
"""Where the job of an erasure may die before it is complete, in its own order."""
_DEATH_SECONDS_MAX: Final = 90


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
    return found_world(tmp_path, None if server is None else server.url)


@pytest.mark.parametrize("server", on("sqlite"), indirect=True)
def test_an_erasure_that_dies_between_two_stores_leaves_nothing(
    world: CanaryWorld, server: Server | None, tmp_path: Path
) -> None:
    with world.serving(armed={"erase.evidence.after": "kill"}) as service:
        enter_by_every_door(world)
        world.erase()
        service.process.wait(_DEATH_SECONDS_MAX)

    with world.serving():
        erasure = world.await_erased(world.erase())

    _assert_nothing_left(world, server, tmp_path, erasure)


@pytest.mark.torture
@pytest.mark.parametrize("server", DATABASES, indirect=True)
def test_an_erasure_that_dies_at_each_step_in_turn_leaves_nothing(
    world: CanaryWorld, server: Server | None, tmp_path: Path
) -> None:
    with world.serving():
        enter_by_every_door(world)
    for kill in KILLS:
        # The key dies before the answer, and what a dead one left may be taken up before anybody asks.
        with suppress(httpx.HTTPError, LocalServiceFailed):
            with world.serving(armed={kill: "kill"}) as service:
                world.erase()
            service.process.wait(_DEATH_SECONDS_MAX)

    with world.serving():
        erasure = world.await_erased(world.erase())

    _assert_nothing_left(world, server, tmp_path, erasure)


@pytest.mark.torture
@pytest.mark.parametrize("server", DATABASES, indirect=True)
@pytest.mark.parametrize("kill", ["erase.verify.after", "erase.tidy.before", "erase.tidy.after"])
def test_an_erasure_that_dies_when_it_is_complete_leaves_no_bytes_either(
    world: CanaryWorld, server: Server | None, tmp_path: Path, kill: str
) -> None:
    with world.serving():
        enter_by_every_door(world)
    erasure_id = _die_at(world, kill)

    # Nobody asks again: another worker takes the message over once the dead one's claim has run out, and
    # dies where all has been tidied.
    with world.serving(armed={"erase.tidy.after": "kill"}) as service:
        erasure = world.await_erased(erasure_id)
        service.process.wait(_DEATH_SECONDS_MAX)

    _assert_nothing_left(world, server, tmp_path, erasure)


@pytest.mark.torture
@pytest.mark.parametrize("server", DATABASES, indirect=True)
def test_an_index_worker_that_dies_beside_an_erasure_leaves_nothing(
    world: CanaryWorld, server: Server | None, tmp_path: Path
) -> None:
    with world.serving():
        enter_by_every_door(world)
    with world.serving(armed={"index.before_fence": "kill"}) as service:
        world.erase()
        # News of anything makes the worker write to the index while the erasure goes on, and die.
        source = {"uri": "doc://else", "kind": "document", "observed_at": "2026-11-30T10:00:00Z"}
        with suppress(httpx.HTTPError):
            world.call("POST", "/evidence", "other", {"project": PROJECT, "text": "else", "source": source})
        service.process.wait(_DEATH_SECONDS_MAX)

    with world.serving():
        erasure = world.await_erased(world.erase())

    # It fails where the index and the record differ.
    world.command("index", "verify", "--tenant", TENANT)
    _assert_nothing_left(world, server, tmp_path, erasure)


def _die_at(world: CanaryWorld, kill: str) -> str:
    """Ask for the erasure and let the service die there; answer the erasure's id."""
    with world.serving(armed={kill: "kill"}) as service:
        erasure_id = world.erase()
        service.process.wait(_DEATH_SECONDS_MAX)
    return erasure_id


def _assert_nothing_left(
    world: CanaryWorld, server: Server | None, folder: Path, erasure: dict[str, Any]
) -> None:
    assert all(store["verified"] for store in erasure["receipt"]["stores"])
    folders = [folder]
    if server is not None:
        server.vacuum()
        folders.append(server.folder)
    assert found_in(folders, STEM) == {}
    assert found_in(folders, PERSON) == {}
    for name in world.ids.values():
        assert found_in([world.place.data / "index"], name) == {}
