"""A shadow tells what a candidate would have decided otherwise, and decides, delays and breaks nothing."""

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from activations_world import activate, admin_of, keep_plan
from conftest import FixedClock
from memories_world import MemoryWorld, memory_world

from service.core.database import Database
from service.core.ids import new_id
from service.entry.cli import main

SURER = ("automatic_when: {confidence_min: 0.7}", "automatic_when: {confidence_min: 0.95}")
LOOSER = ("automatic_when: {confidence_min: 0.7}", "automatic_when: {confidence_min: 0.6}")


@pytest.fixture
def world(database: Database, tmp_path: Path, clock: FixedClock) -> Iterator[MemoryWorld]:
    with memory_world(database, tmp_path, clock) as world:
        world.consent()
        yield world


def _begin(world: MemoryWorld, *changes: tuple[str, str], expect: int = 201, **body: Any) -> Any:
    plan = keep_plan(world, *changes)
    body = {"plan": plan.id, "hash": plan.hash, **body}
    return world.call("POST", "/policies/shadow", admin_of(world), body, expect=expect)


def _look(world: MemoryWorld, expect: int = 200) -> Any:
    return world.call("GET", "/policies/shadow", world.of("auditor", "auditor-1"), expect=expect)


def _propose(world: MemoryWorld, key: str, **changes: Any) -> Any:
    return world.propose(world.turn(), key=key, **changes)


def test_what_would_be_decided_otherwise_is_told_and_what_counts_decides(
    world: MemoryWorld, clock: FixedClock
) -> None:
    before = _propose(world, "before")
    clock.advance(seconds=1)
    begun = _begin(world, SURER)

    during = [_propose(world, f"key-{number}") for number in range(3)]
    sure = _propose(world, "sure", confidence=0.99)

    found = _look(world)
    assert {one["decision"] for one in (before, sure, *during)} == {"approved"}
    assert (begun["status"], begun["affected"]["proposals"]["judged"]) == ("running", 0)
    assert found["affected"]["proposals"] == {"otherwise": 3, "judged": 4, "not_judged": 0}
    assert {one["id"] for one in found["samples"]["proposals"]} == {one["id"] for one in during}
    assert {(one["before"], one["after"]) for one in found["samples"]["proposals"]} == {
        ("approved", "pending_review")
    }
    # Neither words nor names.
    for word in ("concise", "user-1", "key-1"):
        assert word not in json.dumps(found)


def test_a_decision_in_the_shadow_is_the_decision_without_it(world: MemoryWorld, clock: FixedClock) -> None:
    plain = _propose(world, "one", confidence=0.65)
    clock.advance(seconds=1)
    _begin(world, LOOSER)
    shadowed = _propose(world, "two", confidence=0.65)

    assert plain["decision"] == "pending_review"
    assert {**plain, "id": None} == {**shadowed, "id": None}
    assert _look(world)["affected"]["proposals"]["otherwise"] == 1


def test_decisions_at_once_are_each_compared_once(world: MemoryWorld) -> None:
    _begin(world, SURER)
    turn = world.turn()

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda number: world.propose(turn, key=f"key-{number}"), range(8)))

    assert _look(world)["affected"]["proposals"] == {"otherwise": 8, "judged": 8, "not_judged": 0}


def test_it_ends_when_it_is_stopped_when_another_version_counts_and_when_its_days_are_over(
    world: MemoryWorld, clock: FixedClock
) -> None:
    _begin(world, SURER)
    _propose(world, "first")
    clock.advance(seconds=1)
    world.site.client.delete("/v1/policies/shadow", headers=admin_of(world)).raise_for_status()
    clock.advance(seconds=1)
    _propose(world, "second")
    stopped = _look(world)
    world.call("DELETE", "/policies/shadow", admin_of(world), expect=404)
    clock.advance(seconds=1)

    _begin(world, SURER, days=2)
    _propose(world, "third")
    clock.advance(days=3)
    over = _look(world)

    _begin(world, SURER)
    plan = keep_plan(world, ("quota: 200", "quota: 199"))
    assert activate(world, plan).status_code == 201
    superseded = _look(world)

    assert (stopped["status"], stopped["affected"]["proposals"]["otherwise"]) == ("stopped", 1)
    assert (over["status"], over["affected"]["proposals"]["otherwise"]) == ("over", 1)
    assert superseded["status"] == "superseded"


def test_the_next_shadow_takes_the_place_of_the_one_before(world: MemoryWorld) -> None:
    first = _begin(world, SURER)
    second = _begin(world, LOOSER)

    assert (_look(world)["id"], second["id"] != first["id"]) == (second["id"], True)


def test_only_a_plan_for_what_counts_as_it_was_looked_at(world: MemoryWorld) -> None:
    plan = keep_plan(world, SURER)
    wrong = {"plan": plan.id, "hash": "sha256:" + "0" * 64}
    ask = {"plan": plan.id, "hash": plan.hash}

    mismatch = world.call("POST", "/policies/shadow", admin_of(world), wrong, expect=409)
    unknown = world.call("POST", "/policies/shadow", admin_of(world), {**ask, "plan": new_id()}, expect=404)
    world.call("POST", "/policies/shadow", admin_of(world), {**ask, "days": 91}, expect=422)
    assert activate(world, keep_plan(world, ("quota: 200", "quota: 199"))).status_code == 201
    outdated = world.call("POST", "/policies/shadow", admin_of(world), ask, expect=409)

    assert [mismatch["code"], unknown["code"], outdated["code"]] == [
        "plan_mismatch",
        "not_found",
        "plan_outdated",
    ]
    _look(world, expect=404)


@pytest.mark.parametrize("role", ["policy_author", "agent", "user", "auditor", "admin", "operator"])
def test_nobody_else_begins_or_stops_one(world: MemoryWorld, role: str) -> None:
    running = _begin(world, SURER)
    plan = keep_plan(world, LOOSER)
    who = world.of(role, "somebody", for_user="user-1" if role == "agent" else None)

    world.call("POST", "/policies/shadow", who, {"plan": plan.id, "hash": plan.hash}, expect=403)
    world.call("DELETE", "/policies/shadow", who, expect=403)

    assert _look(world)["id"] == running["id"]


def test_another_tenant_sees_none(world: MemoryWorld) -> None:
    _begin(world, SURER)
    stranger = admin_of(world, tenant="globex")

    world.call("GET", "/policies/shadow", stranger, expect=404)
    world.call("DELETE", "/policies/shadow", stranger, expect=404)

    assert _look(world)["status"] == "running"


def test_the_trail_and_the_command_line_tell_of_it(
    world: MemoryWorld, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    plan = keep_plan(world, SURER)
    settings = world.site.runtime.settings
    monkeypatch.setenv("MUNIMENT_DATA_DIR", str(settings.data_dir))
    assert settings.database_url is not None
    monkeypatch.setenv("MUNIMENT_DATABASE_URL", settings.database_url.get_secret_value())
    monkeypatch.delenv("MUNIMENT_TOKEN", raising=False)
    token = admin_of(world)["Authorization"].removeprefix("Bearer ")
    acme = ("--tenant", "acme")

    assert main(["policy", "shadow", *acme]) == 1
    assert main(["policy", "shadow", plan.id, *acme]) == 2
    assert main(["policy", "shadow", plan.id, *acme, "--as", token]) == 0
    # Commands go by the machine's clock; this one begins by that of the test.
    _begin(world, SURER)
    _propose(world, "one")
    capsys.readouterr()
    assert main(["policy", "shadow", *acme]) == 0
    told = capsys.readouterr()
    assert main(["policy", "shadow", "--stop", *acme, "--as", token, "--json"]) == 0
    stopped = json.loads(capsys.readouterr().out)

    assert "1 of 1 would be decided otherwise" in told.out
    assert "approved -> pending_review" in told.err
    assert stopped["status"] == "stopped"
    events = world.call("GET", "/audit?kind=policy", world.of("auditor", "auditor-1"))["items"]
    assert [event["action"] for event in events] == [
        "policy.shadowed",
        "policy.shadowed",
        "policy.unshadowed",
    ]
