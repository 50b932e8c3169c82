"""The sweep reclaims space and nothing else: whether or not it runs, everybody reads the same."""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from conftest import FixedClock
from memories_world import MemoryWorld, memory_world
from sqlmodel import select

from service.core.database import Database
from service.governance.tables import ErasureRow
from service.jobs.sweep_memories import SWEEP_EVERY, SweepMemories, destroy
from service.jobs.system_unit import SystemUnits
from service.memories.tables import MemoryRow, MemoryVersionRow

OLD = "Prefers concise explanations"
NEW = "Prefers detailed explanations"


@pytest.fixture
def world(database: Database, tmp_path: Path, clock: FixedClock) -> Iterator[MemoryWorld]:
    with memory_world(database, tmp_path, clock) as world:
        world.consent()
        yield world


def sweep(world: MemoryWorld) -> None:
    runtime = world.site.runtime
    units = SystemUnits(runtime.database, runtime.ciphers, runtime.tokens, runtime.clock, runtime.ids)
    SweepMemories(units).sweep(world.site.tenants["acme"])
    runtime.relay.drain(world.site.tenants["acme"])


def row(world: MemoryWorld, memory_id: str) -> MemoryRow | None:
    tenant_id = world.site.tenants["acme"]
    with world.site.runtime.database.read(tenant_id) as session:
        return session.exec(select(MemoryRow).where(MemoryRow.id == memory_id)).first()


def change(world: MemoryWorld, memory_id: str, **fields: Any) -> None:
    tenant_id = world.site.tenants["acme"]
    with world.site.runtime.database.write(tenant_id) as session:
        found = session.exec(select(MemoryRow).where(MemoryRow.id == memory_id)).one()
        for name, value in fields.items():
            setattr(found, name, value)
        session.add(found)


def held(world: MemoryWorld, memory_id: str) -> Any:
    body = {"scope": "memory", "ref": memory_id, "basis": "a court asked for it"}
    return world.call("POST", "/holds", world.of("admin", "admin-1"), body, expect=201)


def test_what_has_run_out_is_marked_at_the_moment_at_which_it_did(
    world: MemoryWorld, clock: FixedClock
) -> None:
    memory = world.propose(world.turn())["memory"]["id"]
    clock.advance(days=370)
    before = (world.search(world.agent), world.call("GET", "/memories", world.user)["items"])

    sweep(world)
    sweep(world)

    found = row(world, memory)
    assert found is not None
    assert (found.status, found.ended_at) == ("expired", clock.now - timedelta(days=5))
    assert (world.search(world.agent), world.call("GET", "/memories", world.user)["items"]) == before


def test_what_has_ended_is_destroyed_when_its_class_keeps_it_no_longer(
    world: MemoryWorld, clock: FixedClock
) -> None:
    turn = world.turn()
    first = world.propose(turn)["memory"]["id"]
    second = world.propose(turn, text=NEW)["memory"]["id"]
    clock.advance(days=29)
    sweep(world)
    assert row(world, first) is not None

    clock.advance(days=2)
    sweep(world)

    assert row(world, first) is None
    world.call("GET", f"/memories/{first}", world.user, expect=404)
    assert world.search(world.agent) == [NEW]
    assert world.site.count(MemoryVersionRow) == 1
    assert [item["id"] for item in world.call("GET", "/memories", world.user)["items"]] == [second]


def test_what_another_process_destroyed_meanwhile_is_not_destroyed_again(
    world: MemoryWorld, clock: FixedClock
) -> None:
    memory = world.propose(world.turn())["memory"]["id"]
    clock.advance(days=365 + 31)
    sweep(world)
    runtime = world.site.runtime
    units = SystemUnits(runtime.database, runtime.ciphers, runtime.tokens, runtime.clock, runtime.ids)

    with units.write(world.site.tenants["acme"]) as unit:
        destroy(memory, unit)

    assert world.site.count(ErasureRow) == 1


def test_what_is_held_stays_and_one_bad_row_stops_no_other(world: MemoryWorld, clock: FixedClock) -> None:
    turns = world.turn()
    kept, broken, newer, gone = (
        world.propose(turns, key=key)["memory"]["id"] for key in ("held", "broken", "newer", "gone")
    )
    held(world, kept)
    change(world, broken, class_name="a_class_that_is_gone")
    change(world, newer, status="archived")
    clock.advance(days=365 + 31)

    sweep(world)
    sweep(world)

    marked = row(world, kept)
    assert marked is not None
    assert marked.status == "expired"
    assert row(world, gone) is None
    assert row(world, broken) is None
    left = row(world, newer)
    assert left is not None
    assert left.status == "archived"


def test_it_runs_now_and_then_by_itself(world: MemoryWorld, clock: FixedClock) -> None:
    memory = world.propose(world.turn())["memory"]["id"]
    world.site.runtime.relay.sweep()
    clock.advance(days=366)

    world.site.runtime.relay.sweep()

    found = row(world, memory)
    assert found is not None
    assert found.status == "expired"
    assert timedelta(minutes=1) <= SWEEP_EVERY <= timedelta(hours=1)
