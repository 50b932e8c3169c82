"""Two at once: of corrections one wins, and of a pause taken back and a new value one has the slot."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from conftest import FixedClock
from memories_world import MemoryWorld, memory_world

from service.core.database import Database
from service.memories.tables import MemoryVersionRow


@pytest.fixture
def world(database: Database, tmp_path: Path, clock: FixedClock) -> Iterator[MemoryWorld]:
    with memory_world(database, tmp_path, clock) as world:
        world.consent()
        yield world


def at_once(*calls: Callable[[], int]) -> list[int]:
    with ThreadPoolExecutor(len(calls)) as threads:
        return sorted(future.result() for future in [threads.submit(call) for call in calls])


def test_of_eight_corrections_of_the_same_version_one_is_kept(world: MemoryWorld) -> None:
    memory = world.propose(world.turn())["memory"]["id"]
    headers = {**world.user, "If-Match": '"1"'}
    client = world.site.client

    def correct(number: int) -> Callable[[], int]:
        path, body = f"/v1/memories/{memory}/corrections", {"text": f"Prefers style {number}"}
        return lambda: client.post(path, headers=headers, json=body).status_code

    assert at_once(*(correct(number) for number in range(8))) == [201] + [412] * 7
    assert world.site.count(MemoryVersionRow) == 2
    assert len(world.search(world.agent)) == 1


def test_a_slot_never_has_two_values_however_they_come_at_once(world: MemoryWorld) -> None:
    turn = world.turn()
    memory = world.propose(turn)["memory"]["id"]

    def send(path: str, who: dict[str, str], body: object = None) -> Callable[[], int]:
        return lambda: world.site.client.post(f"/v1{path}", headers=who, json=body).status_code

    for number in range(4):
        send(f"/memories/{memory}/pause", world.user)()
        body = world.proposal(turn, text=f"Prefers style {number}")

        at_once(send(f"/memories/{memory}/resume", world.user), send("/memory-proposals", world.agent, body))

        active = world.call("GET", "/memories?status=active", world.user)["items"]
        assert len(active) == 1
        memory = active[0]["id"]
