"""A class may give a deleted memory a time of grace: hidden, restorable until it ends, then destroyed."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from pathlib import Path
from typing import Any

import pytest
from conftest import FixedClock
from erasure_world import CANARY, ErasureWorld, Traces, erasure_world
from memories_world import POLICIES
from sqlmodel import select

from service.core.database import Database
from service.core.locks import lock_names
from service.governance.tables import ErasureRow
from service.memories.model import MemoryStatus
from service.memories.tables import MemoryRow
from service.policies.read_folder import read_folder
from service.policies.seed import seed_bundle


@pytest.fixture
def world(database: Database, tmp_path: Path, clock: FixedClock) -> Iterator[ErasureWorld]:
    with erasure_world(database, tmp_path / "data", clock) as world:
        with_grace(world)
        yield world


def with_grace(world: ErasureWorld) -> None:
    """Give the tenant a policy whose first class gives a week of grace."""
    site = world.memories.site
    site.headers("user", subject="user-1")
    files = read_folder(POLICIES)
    classes = files["classes.yaml"].replace(
        "    conflict: supersede", "    conflict: supersede\n    grace_days: 7", 1
    )
    tenant_id = site.tenants["acme"]
    with site.runtime.database.write(tenant_id) as session:
        seed_bundle(session, tenant_id, {**files, "classes.yaml": classes}, now=site.runtime.clock())


def delete(world: ErasureWorld, left: Traces, expect: int = 200) -> Any:
    return world.call("DELETE", f"/memories/{left.memory}", world.user(), expect=expect).get("receipt")


def test_a_deleted_memory_is_hidden_for_its_time_of_grace_and_then_destroyed(
    world: ErasureWorld, clock: FixedClock
) -> None:
    left = world.leave_traces()

    receipt = delete(world, left)

    assert (receipt["status"], receipt["stores"]) == ("pending", [])
    assert world.memories.search(world.agent()) == []
    assert world.call("POST", "/memory-proposals", left.keyed, left.body, expect=410)["code"] == "erased"
    (shown,) = world.call("GET", "/memories", world.user())["items"]
    assert (shown["status"], shown["grace_until"]) == ("grace", "2026-12-07T10:00:00Z")
    assert delete(world, left) == receipt
    clock.advance(days=6)
    world.carry_out()
    followed = world.call("GET", f"/erasures/{receipt['id']}", world.user())
    assert (followed["status"], followed["starts_at"]) == ("pending", "2026-12-07T10:00:00Z")

    clock.advance(days=2)
    world.carry_out()

    assert world.call("GET", f"/erasures/{receipt['id']}", world.user())["status"] == "completed"
    assert world.call("GET", "/memories", world.user())["items"] == []


def test_a_deletion_that_is_taken_back_destroys_nothing(world: ErasureWorld, clock: FixedClock) -> None:
    left = world.leave_traces()
    receipt = delete(world, left)
    clock.advance(days=3)

    world.call("POST", f"/memories/{left.memory}/resume", world.user())
    clock.advance(days=5)
    world.carry_out()

    assert world.memories.search(world.agent()) == [f"Likes {CANARY}"]
    followed = world.call("GET", f"/erasures/{receipt['id']}", world.user())
    assert (followed["status"], followed["failure"]) == ("failed", "taken_back")
    again = delete(world, left)
    assert (again["status"], again["id"] != receipt["id"]) == ("pending", True)


def test_what_was_superseded_gets_no_grace_and_does_not_come_back(world: ErasureWorld) -> None:
    left = world.leave_traces()
    newer = {**left.body, "text": "Likes tea instead"}
    kept = world.call("POST", "/memory-proposals", world.agent(), newer, expect=201)["memory"]["id"]

    receipt = delete(world, left)

    assert receipt["status"] == "completed"
    world.call("POST", f"/memories/{left.memory}/resume", world.user(), expect=404)
    assert [item["id"] for item in world.call("GET", "/memories", world.user())["items"]] == [kept]


def test_what_is_deleted_again_waits_from_the_last_deletion_on(
    world: ErasureWorld, clock: FixedClock
) -> None:
    left = world.leave_traces()
    receipt = delete(world, left)
    clock.advance(days=5)
    world.call("POST", f"/memories/{left.memory}/resume", world.user())
    again = delete(world, left)
    path = f"/erasures/{receipt['id']}"

    clock.advance(days=4)
    world.carry_out()
    waiting = world.call("GET", path, world.user())
    clock.advance(days=4)
    world.carry_out()

    assert again["id"] == receipt["id"]
    assert (waiting["status"], waiting["starts_at"]) == ("pending", "2026-12-12T10:00:00Z")
    assert world.call("GET", path, world.user())["status"] == "completed"


def test_a_hold_that_is_placed_in_the_time_of_grace_wins(world: ErasureWorld, clock: FixedClock) -> None:
    left = world.leave_traces()
    receipt = delete(world, left)
    path = f"/erasures/{receipt['id']}"
    body = {"scope": "memory", "ref": left.memory, "basis": "Claim 12/2026"}
    hold = world.call("POST", "/holds", world.admin(), body, expect=201)

    clock.advance(days=8)
    world.carry_out()
    held = world.call("GET", path, world.user())
    world.call("DELETE", f"/holds/{hold['id']}", world.admin())
    clock.advance(hours=2)
    world.carry_out()

    assert (held["status"], held["failure"]) == ("pending", "held")
    assert world.call("GET", path, world.user())["status"] == "completed"


def test_erasing_the_person_waits_for_no_grace(world: ErasureWorld) -> None:
    left = world.leave_traces()
    delete(world, left)

    assert world.erase_subject()["status"] == "completed"

    assert world.call("GET", "/memories", world.user())["items"] == []


def test_a_deletion_waits_for_a_value_that_takes_its_place_and_still_destroys(
    world: ErasureWorld, clock: FixedClock
) -> None:
    left = world.leave_traces()
    tenant_id = world.memories.site.tenants["acme"]
    with ThreadPoolExecutor(1) as threads:
        with world.memories.site.runtime.database.write(tenant_id) as session:
            # What a newer value of the slot does, stopped between looking and writing.
            row = session.get_one(MemoryRow, (tenant_id, left.memory))
            lock_names(session, tenant_id, [f"memories/{row.scope_key}/{row.class_name}"])
            deletion = threads.submit(delete, world, left)
            wait([deletion], timeout=0.5)
            row.status, row.ended_at = MemoryStatus.SUPERSEDED, clock.now
            session.add(row)
        receipt = deletion.result()

    # Superseded by the time it was its turn: destroyed at once, since nothing is left to take back.
    assert receipt["status"] == "completed"
    assert world.call("GET", "/memories", world.user())["items"] == []


def test_a_deletion_at_the_end_of_the_time_of_grace_and_the_job_never_wait_for_each_other(
    world: ErasureWorld, clock: FixedClock
) -> None:
    receipt = delete(world, world.leave_traces())
    clock.advance(days=8)
    site = world.memories.site
    tenant_id = site.tenants["acme"]
    with ThreadPoolExecutor(1) as threads:
        with site.runtime.database.write(tenant_id) as session:
            # As a deletion does: the lock of all deletions, then the erasure's row.
            lock_names(session, tenant_id, ["holds"])
            job = threads.submit(world.carry_out)
            wait([job], timeout=0.5)
            query = select(ErasureRow).where(ErasureRow.id == receipt["id"]).with_for_update()
            assert session.exec(query).one().status == "pending"
        job.result()

    assert world.call("GET", f"/erasures/{receipt['id']}", world.user())["status"] == "completed"
