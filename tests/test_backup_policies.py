"""A backup that is put back brings no former policy back: what persons decided last counts."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from activations_world import activate, admin_of, keep_plan, send
from backup_world import BackupWorld, backup_world
from conftest import FixedClock

from service.core.database import Database
from service.core.tombstones import RememberedPolicy

STRICTER = ("days: 365", "days: 364")
LOOSER = ("days: 365", "days: 366")


@pytest.fixture
def world(database: Database, tmp_path: Path, clock: FixedClock) -> Iterator[BackupWorld]:
    with backup_world(database, tmp_path, clock) as world:
        _ = world.site.user()
        yield world


def _activate(world: BackupWorld, *changes: tuple[str, str], revision: int = 1) -> str:
    done = activate(world.site.memories, keep_plan(world.site.memories, *changes), revision=revision)
    assert done.status_code == 201, done.text
    world.site.carry_out()
    world.runtime.relay.drain(world.site.memories.site.tenants["acme"])
    return str(done.json()["to_version"])


def _policy(world: BackupWorld) -> tuple[str, int]:
    found = world.site.call("GET", "/policies", admin_of(world.site.memories))
    return found["version"], found["revision"]


def _history(world: BackupWorld) -> list[Any]:
    path = "/policies/activations"
    return list(world.site.call("GET", path, admin_of(world.site.memories))["items"])


def test_what_counted_last_counts_again(world: BackupWorld) -> None:
    waiting = activate(world.site.memories, keep_plan(world.site.memories, LOOSER)).json()
    folder = world.back_up()
    stricter = _activate(world, STRICTER)

    world.restore(folder)

    assert _policy(world) == (stricter, 3)
    restored, called_off = _history(world)
    assert (restored["kind"], restored["status"], restored["direction"]) == ("restore", "active", "stricter")
    assert (called_off["id"], called_off["status"]) == (waiting["id"], "cancelled")
    late = send(
        world.site.memories,
        f"/activations/{waiting['id']}/approve",
        None,
        admin_of(world.site.memories, "admin-b"),
        None,
    )
    assert late.json()["code"] == "activation_settled"
    # Twice is no different, and what is decided afterwards is remembered in its turn.
    world.restore(folder)
    assert _policy(world) == (stricter, 3)
    world.runtime.relay.drain(world.site.memories.site.tenants["acme"])
    newer = _activate(world, STRICTER, ("quota: 200", "quota: 199"), revision=3)
    world.restore(folder)
    assert _policy(world) == (newer, 5)


def test_a_backup_of_the_present_policy_is_left_as_it_is(world: BackupWorld) -> None:
    stricter = _activate(world, STRICTER)
    folder = world.back_up()

    world.restore(folder)

    assert _policy(world) == (stricter, 2)
    assert [one["kind"] for one in _history(world)] == ["activate"]


def test_a_tenant_that_never_activated_keeps_its_first_version(world: BackupWorld) -> None:
    before = _policy(world)
    folder = world.back_up()

    world.restore(folder)

    assert _policy(world) == before
    assert _history(world) == []


def test_the_newest_is_remembered_in_whatever_order_they_are_told(world: BackupWorld) -> None:
    ledger, tenant_id = world.runtime.erasing.ledger, world.site.memories.site.tenants["acme"]
    newer, older = (
        RememberedPolicy(f"sha256:{number:064x}", number, {"a.yaml": f"# {number}"}) for number in (7, 6)
    )

    for told in (newer, older, newer):
        ledger.remember_policy(tenant_id, told)

    assert ledger.find_policy(tenant_id) == newer
    assert ledger.find_policy("another") is None
