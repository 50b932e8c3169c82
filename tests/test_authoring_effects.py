"""What a simulation says beside memories: packages, approvals, runs; and what it never touches or counts."""

import json
import subprocess
import sys
import tracemalloc
from collections.abc import Iterator, Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from authoring_world import add_memories, add_package, files, project_id_of, unit_of
from conftest import FixedClock
from memories_world import MemoryWorld, memory_world
from sqlalchemy import select
from sqlmodel import SQLModel

from service.authoring.kept_versions import REMEMBERED_MAX, KeptVersions
from service.authoring.simulate import simulate
from service.core.database import Database
from service.core.failpoints import arm
from service.core.hashing import hash_bytes
from service.entry.demo.local_service import environment_of
from service.policies.active import active_bundle
from service.policies.load import load_bundle
from service.policies.store import PolicyStore

SHORTER = (
    "expiry: {days: 365, counted_from: confirmation}",
    "expiry: {days: 10, counted_from: confirmation}",
)
STRICT = ("confidence_min: 0.5", "confidence_min: 0.95")
ORDER = {"kind": "orders.create", "sku": "A1", "quantity": 2}


@pytest.fixture
def world(database: Database, tmp_path: Path, clock: FixedClock) -> Iterator[MemoryWorld]:
    with memory_world(database, tmp_path, clock) as world:
        yield world


@pytest.fixture
def _disarm() -> Iterator[None]:
    yield
    arm({})


def said_otherwise(path: str, old: str, new: str) -> dict[str, str]:
    """Answer the default policy with one thing said otherwise in a file."""
    candidate = files()
    assert old in candidate[path]
    return {**candidate, path: candidate[path].replace(old, new, 1)}


def plan_of(world: MemoryWorld, candidate: Mapping[str, str], *, expect: int = 201, **body: Any) -> Any:
    author = world.of("policy_author", "ann")
    sent = {"files": dict(candidate), **body}
    return world.call("POST", "/policies/simulations", author, sent, expect=expect)


def live(world: MemoryWorld, tenant: str = "acme") -> None:
    """Leave what a simulation looks at: memories, a proposal, a package, an approval, runs."""
    agent = world.of("agent", "agent-1", for_user="user-1", tenant=tenant)
    user = world.of("user", "user-1", tenant=tenant)
    granted = {"subject": "user-1", "granted": True, "text_version": "2026-11"}
    world.call("PUT", "/consents/personalisation", user, granted)
    opened = {"project": "alpha", "objective": "answer", "requirements": []}
    runs = [world.call("POST", "/executions", agent, opened, expect=201)["id"] for _ in range(2)]
    turn = {"role": "user", "text": "Please keep it short."}
    turn_id = world.call("POST", f"/executions/{runs[0]}/turns", agent, turn, expect=201)["id"]
    world.call("POST", "/memory-proposals", agent, world.proposal(turn_id), expect=201)
    world.call("POST", f"/executions/{runs[0]}/approvals", agent, {"command": ORDER}, expect=201)
    operator = world.of("operator", "operator-1", tenant=tenant)
    cancelled = {**operator, "If-Match": '"1"'}
    world.call("POST", f"/executions/{runs[1]}/cancel", cancelled, {"reason": "not wanted"})
    with unit_of(world, tenant, writes=True) as unit:
        project = project_id_of(unit)
        [memory] = add_memories(unit, project, 1, age=timedelta(days=50))
        add_package(unit, project, [{"kind": "memory", "id": memory, "trust": "first_party"}])


def everything(world: MemoryWorld) -> dict[str, list[str]]:
    """Answer the hash of each row of each table."""
    with unit_of(world) as unit:
        connection = unit.session.connection()
        return {
            table.name: sorted(hash_bytes(repr(row).encode()) for row in connection.execute(select(table)))
            for table in SQLModel.metadata.sorted_tables
        }


def test_it_changes_no_row_but_keeps_its_plan_and_the_candidates_text(world: MemoryWorld) -> None:
    live(world)
    world.of("policy_author", "ann")
    before = everything(world)
    assert all(before[name] for name in ("memories", "memory_proposals", "packages", "approvals"))

    plan_of(world, files(SHORTER, STRICT))
    first = everything(world)
    plan_of(world, files(SHORTER, STRICT))
    second = everything(world)
    world.call("POST", "/policies/differences", world.of("policy_author", "ann"), {"files": files(SHORTER)})

    assert {name for name in before if first[name] != before[name]} == {"policy_plans", "policy_versions"}
    assert set(before["policy_versions"]) < set(first["policy_versions"])
    assert {name for name in before if second[name] != first[name]} == {"policy_plans"}
    assert everything(world) == second


def test_what_another_tenant_keeps_is_never_counted(world: MemoryWorld) -> None:
    live(world)
    alone = plan_of(world, files(SHORTER, STRICT))

    for _ in range(2):
        live(world, "globex")
    beside = plan_of(world, files(SHORTER, STRICT))

    affected = alone["affected"]
    assert affected["memories"]["total"] == 2
    assert affected["proposals"]["judged"] == affected["packages"]["looked_at"] == 1
    assert affected["approvals"]["stale"] == 1
    # The hash covers every count and every sample.
    assert beside["hash"] == alone["hash"]


def test_runs_that_ended_count_by_how_long_their_content_is_kept(world: MemoryWorld) -> None:
    live(world)
    kept = "    text: full\n    days: 90"

    shorter = plan_of(world, said_otherwise("retention.yaml", kept, kept.replace("90", "30")))
    longer = plan_of(world, said_otherwise("retention.yaml", kept, kept.replace("90", "120")))

    # The other run has not ended.
    assert shorter["affected"]["executions"] == {"sooner": 1, "later": 0}
    assert longer["affected"]["executions"] == {"sooner": 0, "later": 1}


def test_proposals_of_other_days_are_not_looked_at(world: MemoryWorld, clock: FixedClock) -> None:
    live(world)
    clock.advance(days=8)
    world.keys.clear()

    week, month = plan_of(world, files(STRICT), days=7), plan_of(world, files(STRICT), days=30)

    assert week["affected"]["proposals"] == {"otherwise": 0, "judged": 0, "not_judged": 0}
    assert month["affected"]["proposals"] == {"otherwise": 1, "judged": 1, "not_judged": 0}
    assert week["affected"]["packages"]["looked_at"] == 0


def test_a_package_counts_under_another_profile_or_with_another_trust(world: MemoryWorld) -> None:
    with unit_of(world, writes=True) as unit:
        project = project_id_of(unit)
        add_package(unit, project, [{"kind": "evidence", "id": unit.ids(), "trust": "first_party"}])
        add_package(unit, project, [{"kind": "evidence", "id": unit.ids(), "trust": "third_party"}])

    profile = plan_of(world, said_otherwise("profiles.yaml", "evidence_depth: 50", "evidence_depth: 40"))
    source = plan_of(
        world,
        said_otherwise("sources.yaml", "trust: first_party", "trust: external_tool"),
    )

    assert profile["affected"]["packages"] == {"otherwise": 2, "looked_at": 2}
    assert {tuple(sample["codes"]) for sample in profile["samples"]["packages"]} == {("profile",)}
    assert source["affected"]["packages"] == {"otherwise": 1, "looked_at": 2}
    assert [sample["codes"] for sample in source["samples"]["packages"]] == [["source"]]


@pytest.mark.usefixtures("_disarm")
@pytest.mark.parametrize("point", ["simulate.rows", "simulate.before_plan"])
def test_a_failure_on_the_way_keeps_nothing(world: MemoryWorld, point: str) -> None:
    world.of("policy_author", "ann")
    with unit_of(world, writes=True) as unit:
        add_memories(unit, project_id_of(unit), 1_100)
    before = everything(world)
    arm({point: "raise"})

    plan_of(world, files(SHORTER), expect=500)

    assert everything(world) == before


@pytest.mark.parametrize("point", ["simulate.rows", "simulate.before_plan"])
def test_a_process_that_is_killed_on_the_way_keeps_nothing(
    world: MemoryWorld, tmp_path: Path, point: str
) -> None:
    world.of("policy_author", "ann")
    with unit_of(world, writes=True) as unit:
        add_memories(unit, project_id_of(unit), 1_100)
    before = everything(world)
    folder = tmp_path / "candidate"
    for path, text in files(SHORTER).items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    armed = {
        "MUNIMENT_DATABASE_URL": world.site.runtime.settings.record_url,
        "MUNIMENT_DATA_DIR": str(tmp_path),
        "MUNIMENT_FAILPOINTS": json.dumps({point: "kill"}),
        "MUNIMENT_FAILPOINTS_ALLOWED": "true",
    }
    command = ["policy", "simulate", str(folder), "--tenant", "acme", "--json"]

    ended = subprocess.run(
        [sys.executable, "-m", "service.entry.cli", *command],
        env={**environment_of(tmp_path, folder), **armed},
        capture_output=True,
        check=False,
    )

    assert (ended.returncode, ended.stdout) == (-9, b"")
    assert everything(world) == before


def test_versions_are_remembered_in_a_bounded_number(world: MemoryWorld) -> None:
    with unit_of(world, writes=True) as unit:
        bundles = []
        for number in range(REMEMBERED_MAX + 2):
            text = files(("    quota: 200", f"    quota: {201 + number}"))
            bundles.append(load_bundle(text))
            PolicyStore.of(unit).add_version(bundles[-1].version, text, now=unit.now)
        versions = KeptVersions(unit)

        found = [versions.find(bundle.version) for bundle in bundles]

        assert found == bundles
        assert versions.find(bundles[-1].version) is found[-1]
        assert versions.find(bundles[0].version) is not found[0]
        assert versions.find("sha256:" + "0" * 64) is None


def test_memory_does_not_grow_with_what_is_kept(tmp_path: Path, clock: FixedClock) -> None:
    database = Database(f"sqlite:///{tmp_path / 'record.db'}")
    with memory_world(database, tmp_path, clock) as world:
        peaks = [_peak_bytes(world, more) for more in (3_000, 9_000)]
    database.close()

    # A tenth more for four times as much; a list of all of them would take four times as much.
    assert peaks[1] < peaks[0] * 1.1


def _peak_bytes(world: MemoryWorld, more: int) -> int:
    with unit_of(world, writes=True) as unit:
        add_memories(unit, project_id_of(unit), more, age=timedelta(days=50), subject_hash="ab" * 32)
    with unit_of(world) as unit:
        candidate, base = load_bundle(files(SHORTER)), active_bundle(unit)
        tracemalloc.start()
        simulate(candidate, base, unit=unit, days=30, progress=lambda _done, _total: None)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    return peak
