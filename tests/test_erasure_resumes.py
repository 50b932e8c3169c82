"""An erasure that is stopped anywhere goes on by itself, and of two that work at once neither does harm."""

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from conftest import FixedClock
from erasure_world import CANARY, ErasureWorld, erasure_world
from sqlmodel import select

from service.core import failpoints
from service.core.database import Database
from service.core.failpoints import Action
from service.governance.erase import begin_erasure, count_overdue, steps_of
from service.governance.model import Kind, Target
from service.governance.tables import ErasureItemRow, ErasureRow
from service.identity.model import Role
from service.jobs.system_unit import SystemUnits

STEPS = steps_of(Target("", Kind.SUBJECT, ""))


@pytest.fixture
def world(database: Database, tmp_path: Path, clock: FixedClock) -> Iterator[ErasureWorld]:
    with erasure_world(database, tmp_path / "data", clock) as world:
        yield world


def test_an_erasure_stopped_before_and_after_each_step_goes_on_where_it_was(
    world: ErasureWorld, clock: FixedClock
) -> None:
    world.leave_traces()
    begun = world.call("DELETE", "/subjects/user-1", world.user(), expect=202)
    path = f"/erasures/{begun['id']}"
    stops = [f"erase.{step}.{place}" for step in (*STEPS[1:], "verify") for place in ("before", "after")]

    seen = set()
    for stop in stops:
        failpoints.arm({stop: Action.RAISE})
        clock.advance(hours=2)
        world.carry_out()
        # Whatever it stops at, nobody reads a word.
        assert CANARY not in str(world.call("GET", "/memories", world.user()))
        seen.add(world.call("GET", path, world.user())["status"])
    failpoints.arm({})
    clock.advance(hours=2)
    world.carry_out()

    # After many attempts it counts as failed, and is tried on all the same.
    assert seen == {"running", "failed", "completed"}
    finished = world.call("GET", path, world.user())
    assert (finished["status"], finished["failure"]) == ("completed", None)
    assert all(store["verified"] for store in finished["receipt"]["stores"])


def test_a_key_that_does_not_die_at_once_dies_with_the_job(world: ErasureWorld, clock: FixedClock) -> None:
    world.leave_traces()
    failpoints.arm({"erase.keys.before": Action.RAISE})

    begun = world.call("DELETE", "/subjects/user-1", world.user(), expect=202)
    world.carry_out()
    stopped = world.call("GET", f"/erasures/{begun['id']}", world.user())
    # Hidden by the first transaction, with or without the key.
    assert world.call("GET", "/memories", world.user())["items"] == []
    failpoints.arm({})
    clock.advance(minutes=10)
    world.carry_out()

    assert (stopped["status"], stopped["failure"]) == ("running", "FailpointReached")
    assert world.call("GET", f"/erasures/{begun['id']}", world.user())["status"] == "completed"


def test_what_arrives_while_the_job_runs_goes_too(world: ErasureWorld, clock: FixedClock) -> None:
    world.leave_traces()
    failpoints.arm({"erase.index.before": Action.RAISE})
    begun = world.call("DELETE", "/subjects/user-1", world.user(), expect=202)
    world.carry_out()

    late = world.memories.turn()
    world.memories.consent()
    memory = world.memories.propose(late, text="Arrived late")["memory"]["id"]
    failpoints.arm({})
    clock.advance(minutes=10)
    world.carry_out()

    found = world.call("GET", f"/erasures/{begun['id']}", world.user())
    assert (found["status"], found["failure"]) == ("completed", None)
    world.call("GET", f"/memories/{memory}", world.user(), expect=404)
    assert world.memories.search(world.agent()) == []


def test_of_two_requests_at_once_there_is_one_erasure(world: ErasureWorld) -> None:
    world.leave_traces()
    user = world.user()
    client = world.memories.site.client

    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(lambda _: client.delete("/v1/subjects/user-1", headers=user), range(4)))

    assert {answer.status_code for answer in answers} == {202}
    assert len({answer.json()["id"] for answer in answers}) == 1


def test_of_two_workers_at_once_each_row_is_removed_once(world: ErasureWorld) -> None:
    world.leave_traces()
    begun = world.call("DELETE", "/subjects/user-1", world.user(), expect=202)
    eraser = world.memories.site.runtime.erasing.eraser
    tenant_id = world.memories.site.tenants["acme"]

    threads = [threading.Thread(target=eraser.run, args=(tenant_id, begun["id"])) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    stores = world.call("GET", f"/erasures/{begun['id']}", world.user())["receipt"]["stores"]
    removed = {store["store"]: store["removed"] for store in stores}
    assert (removed["memories"], removed["states"]) == (2, 2)
    assert all(store["verified"] for store in stores)


def test_nothing_leads_to_what_was_erased_once_it_is_over(world: ErasureWorld) -> None:
    world.leave_traces()
    world.erase_subject()

    tenant_id = world.memories.site.tenants["acme"]
    with world.memories.site.runtime.database.read(tenant_id) as session:
        assert session.exec(select(ErasureItemRow)).all() == []
        assert [row.subject for row in session.exec(select(ErasureRow)).all()] == [None]


def test_an_erasure_that_is_late_is_counted(world: ErasureWorld, clock: FixedClock) -> None:
    world.leave_traces()
    runtime, tenant_id = world.memories.site.runtime, world.memories.site.tenants["acme"]
    units = SystemUnits(runtime.database, runtime.ciphers, runtime.tokens, clock, runtime.ids)
    with units.write(tenant_id) as unit:
        assert unit.caller.role is Role.SYSTEM
        begin_erasure(Kind.SUBJECT, unit.cipher.keyed_hash("user-1"), unit=unit, subject="user-1")
    with units.read(tenant_id) as unit:
        assert count_overdue(unit) == 0

    clock.advance(days=29)

    with units.read(tenant_id) as unit:
        assert count_overdue(unit) == 1
    world.carry_out()
    with units.read(tenant_id) as unit:
        assert count_overdue(unit) == 0
