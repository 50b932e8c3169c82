"""A legal hold keeps what it names from every deletion, and from use."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import FixedClock
from erasure_world import CANARY, ErasureWorld, Traces, erasure_world
from sqlalchemy import update
from sqlmodel import col

from service.core.clock import format_time
from service.core.database import Database
from service.core.ids import new_id
from service.governance.hold import end_hold
from service.governance.store_holds import HoldStore
from service.governance.tables import HoldRow
from service.jobs.system_unit import SystemUnits

BASIS = "Claim 12/2026"


@pytest.fixture
def world(database: Database, tmp_path: Path, clock: FixedClock) -> Iterator[ErasureWorld]:
    with erasure_world(database, tmp_path / "data", clock) as world:
        yield world


def place(world: ErasureWorld, scope: str, ref: str, **more: Any) -> Any:
    body = {"scope": scope, "ref": ref, "basis": BASIS, **more}
    return world.call("POST", "/holds", world.admin(), body, expect=201)


def deletions(world: ErasureWorld, left: Traces) -> list[int]:
    """Try each deletion that would reach the memory, and answer what it says."""
    paths = (f"/memories/{left.memory}", "/subjects/user-1")
    client, user = world.memories.site.client, world.user()
    answers = [client.delete(f"/v1{path}", headers=user) for path in paths]
    for answer in answers:
        if answer.status_code == 409:
            assert (answer.json()["code"], BASIS in answer.json()["detail"]) == ("held", True)
    return [answer.status_code for answer in answers]


@pytest.mark.parametrize("scope", ["memory", "subject", "project"])
def test_what_is_held_is_neither_deleted_nor_used_until_it_is_released(
    world: ErasureWorld, scope: str
) -> None:
    left = world.leave_traces()
    ref = {"memory": left.memory, "subject": "user-1", "project": "alpha"}[scope]
    assert world.memories.search(world.agent()) == [f"Likes {CANARY}"]

    hold = place(world, scope, ref)

    assert deletions(world, left) == [409, 409]
    assert world.memories.search(world.agent()) == []
    # Its subject still sees that it is kept.
    assert len(world.call("GET", "/memories", world.user())["items"]) == 1
    released = world.call("DELETE", f"/holds/{hold['id']}", world.admin())
    assert released["released_at"] is not None
    assert world.memories.search(world.agent()) == [f"Likes {CANARY}"]
    assert deletions(world, left) == [200, 202]
    world.call("DELETE", f"/holds/{hold['id']}", world.admin(), expect=404)


@pytest.mark.parametrize("scope", ["evidence", "execution"])
def test_a_hold_over_a_source_or_a_run_keeps_all_that_would_reach_it(world: ErasureWorld, scope: str) -> None:
    left = world.leave_traces()
    path = {"evidence": f"/evidence/{left.evidence}", "execution": f"/executions/{left.run}/content"}[scope]
    place(world, scope, {"evidence": left.evidence, "execution": left.run}[scope])
    asked = {"project": "alpha", "query": CANARY}

    world.call("DELETE", path, world.user(), expect=409)
    world.call("DELETE", "/subjects/user-1", world.user(), expect=409)
    world.call("DELETE", "/subjects/user-1", world.admin(), expect=409)

    found = world.call("POST", "/evidence/search", world.user(), asked)["items"]
    assert (left.evidence in [item["id"] for item in found]) is (scope == "execution")
    assert left.derived in [item["id"] for item in found]
    world.call("GET", f"/evidence/{left.evidence}", world.user())
    assert world.call("GET", f"/executions/{left.run}", world.user())["status"] != "cancelled"


def test_a_hold_ends_when_it_says(world: ErasureWorld, clock: FixedClock) -> None:
    left = world.leave_traces()
    until = format_time(clock().replace(year=2027))
    hold = place(world, "subject", "user-1", until=until)
    assert deletions(world, left) == [409, 409]

    clock.advance(days=400)
    world.carry_out()

    listed = world.call("GET", "/holds", world.admin())["items"]
    assert [(one["id"], one["released_at"] is not None) for one in listed] == [(hold["id"], True)]
    assert deletions(world, left)[1] == 202


def test_a_refused_deletion_changes_nothing(world: ErasureWorld) -> None:
    world.leave_traces()
    place(world, "subject", "user-1")
    before = world.rows("acme")

    world.call("DELETE", "/subjects/user-1", world.user(), expect=409)
    world.carry_out()

    assert world.rows("acme") == before


def test_only_an_administrator_places_sees_and_releases_holds(world: ErasureWorld) -> None:
    hold = place(world, "project", "alpha")
    body = {"scope": "project", "ref": "alpha", "basis": BASIS}

    for who in (world.user(), world.agent(), world.memories.of("reviewer", "reviewer-1")):
        world.call("POST", "/holds", who, body, expect=403)
        world.call("GET", "/holds", who, expect=403)
        world.call("DELETE", f"/holds/{hold['id']}", who, expect=403)
    world.call("DELETE", f"/holds/{hold['id']}", world.admin("globex"), expect=404)
    assert world.call("GET", "/holds", world.admin("globex"))["items"] == []
    past = body | {"until": "2026-01-01T00:00:00Z"}
    assert world.call("POST", "/holds", world.admin(), past, expect=422)["code"] == "hold_ended"
    world.call("POST", "/holds", world.admin(), body | {"ref": "no-such"}, expect=404)
    world.call("POST", "/holds", world.admin(), body | {"scope": "memory", "ref": "no-id"}, expect=404)


@pytest.mark.parametrize("scope", ["execution", "subject", "project"])
def test_a_hold_over_a_run_keeps_the_large_results_that_it_observed(world: ErasureWorld, scope: str) -> None:
    left = world.leave_traces()
    source = {"uri": "tool://register", "kind": "tool", "observed_at": "2026-11-30T10:00:00Z"}
    body = {"source": source, "content": "granted " * 2_000, "summary": "granted"}
    path = f"/executions/{left.run}/observations"
    kept = world.call("POST", path, world.agent(), body, expect=201)["evidence_id"]
    hold = place(world, scope, {"execution": left.run, "subject": "user-1", "project": "alpha"}[scope])

    for query in ("", "?derived=true"):
        world.call("DELETE", f"/evidence/{kept}{query}", world.user(), expect=409)

    world.call("DELETE", f"/holds/{hold['id']}", world.admin())
    world.call("DELETE", f"/evidence/{kept}", world.user())


@pytest.mark.parametrize("scope", ["execution", "subject", "project"])
def test_no_package_is_built_of_a_run_under_a_hold(world: ErasureWorld, scope: str) -> None:
    left = world.leave_traces()
    ref = {"execution": left.run, "subject": "user-1", "project": "alpha"}[scope]
    asked = {
        "project": "alpha",
        "execution_id": left.run,
        "purpose": "personalisation",
        "query": "what was said?",
        "encoding": "o200k_base",
        "max_tokens": 2000,
        "profile": "default",
        "render": "markdown",
    }
    assert (
        CANARY
        in world.call("POST", "/context-packages", world.agent(), asked, expect=201)["rendered"]["text"]
    )

    hold = place(world, scope, ref)

    refused = world.call("POST", "/context-packages", world.agent(), asked, expect=409)
    assert (refused["code"], CANARY in str(refused)) == ("execution_held", False)
    world.call("DELETE", f"/holds/{hold['id']}", world.admin())
    world.call("POST", "/context-packages", world.agent(), asked, expect=201)


def test_of_two_releases_at_once_one_counts(world: ErasureWorld, clock: FixedClock) -> None:
    hold = place(world, "subject", "user-1", until=format_time(clock().replace(year=2027)))
    clock.advance(days=400)
    tenant_id = world.memories.site.tenants["acme"]
    runtime = world.memories.site.runtime
    units = SystemUnits(runtime.database, runtime.ciphers, runtime.tokens, clock, new_id)

    with units.write(tenant_id) as unit:
        # Read before it is locked, as the job does; somebody else releases it in between.
        assert HoldStore.of(unit).find(hold["id"]) is not None
        unit.session.connection().execute(
            update(HoldRow).where(col(HoldRow.id) == hold["id"]).values(released_at=clock(), released_by="x")
        )
        end_hold(hold["id"], unit=unit)

    assert world.call("GET", "/holds", world.admin())["items"][0]["released_at"] is not None
    events = world.call("GET", "/audit?action=hold.released", world.memories.of("auditor", "auditor-1"))
    assert events["items"] == []
