"""Plans over HTTP: authors and admins make them, and nobody else; they are kept as they were worked out."""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from authoring_world import add_memories, files, project_id_of, unit_of
from conftest import FixedClock
from memories_world import MemoryWorld, memory_world

from service.authoring.model import hash_plan
from service.authoring.store_plans import PlanStore
from service.authoring.tables import PolicyPlanRow
from service.core.database import Database

SHORTER = (
    "expiry: {days: 365, counted_from: confirmation}",
    "expiry: {days: 10, counted_from: confirmation}",
)


@pytest.fixture
def world(database: Database, tmp_path: Path, clock: FixedClock) -> Iterator[MemoryWorld]:
    with memory_world(database, tmp_path, clock) as world:
        yield world


def simulate(world: MemoryWorld, who: dict[str, str], *, expect: int = 201, **body: Any) -> Any:
    return world.call("POST", "/policies/simulations", who, {"files": files(SHORTER), **body}, expect=expect)


def test_a_plan_says_what_would_happen_and_is_read_again_as_it_was(world: MemoryWorld) -> None:
    author, outsider = world.of("policy_author", "ann"), world.of("policy_admin", "bob", tenant="globex")
    with unit_of(world, writes=True) as unit:
        add_memories(unit, project_id_of(unit), 2, age=timedelta(days=50))

    plan = simulate(world, author)

    assert plan["affected"]["memories"]["now"] == 2
    assert plan["direction"] == "stricter"
    assert [change["path"] for change in plan["changes"]] == ["classes.preference.expiry.days"]
    assert {sample["project"] for sample in plan["samples"]["memories"]} == {"alpha"}
    assert plan["base_revision"] == 1
    assert world.call("GET", f"/policies/simulations/{plan['id']}", author) == plan
    assert world.call("GET", f"/policies/simulations/{plan['id']}", world.of("auditor", "aud"))["hash"]
    world.call("GET", f"/policies/simulations/{plan['id']}", outsider, expect=404)
    assert world.call("GET", "/policies", author)["version"] == plan["base_version"]


def test_a_repeat_with_the_same_key_is_the_same_plan(world: MemoryWorld, clock: FixedClock) -> None:
    author = {**world.of("policy_author", "ann"), "Idempotency-Key": "once"}

    first = simulate(world, author)
    clock.advance(minutes=1)
    again = simulate(world, author)
    other = simulate(world, author, expect=422, days=31)

    assert again == first
    assert other["code"] == "idempotency_key_reused"
    assert world.site.count(PolicyPlanRow) == 1


def test_a_hash_covers_what_was_found_and_not_when(world: MemoryWorld, clock: FixedClock) -> None:
    author = world.of("policy_author", "ann")

    first, second = simulate(world, author), simulate(world, author)
    clock.advance(seconds=1)
    with unit_of(world, writes=True) as unit:
        add_memories(unit, project_id_of(unit), 1)
    third = simulate(world, author)

    assert first["id"] != second["id"]
    assert first["hash"] == second["hash"] != third["hash"]
    with unit_of(world) as unit:
        kept = PlanStore.of(unit).get(third["id"])
        assert kept.hash == hash_plan(
            candidate_version=kept.candidate_version,
            base_version=kept.base_version,
            base_revision=kept.base_revision,
            days=kept.days,
            direction=kept.direction,
            changes=kept.changes,
            effect=kept.effect,
        )


def test_a_broken_candidate_is_refused_with_its_findings_and_keeps_nothing(world: MemoryWorld) -> None:
    author = world.of("policy_author", "ann")

    refusal = simulate(world, author, expect=422, files={"a.yaml": "classes: {x: {}}\n"})
    simulate(world, author, expect=422, days=0)
    simulate(world, author, expect=422, days=366)
    simulate(world, author, expect=422, tenant="globex")
    simulate(world, author, expect=422, files={"a.yaml": 1})
    simulate(world, author, expect=413, files={"a.yaml": "# " + "x" * 2**20})

    assert refusal["code"] == "bundle_invalid"
    assert refusal["errors"]
    assert world.site.count(PolicyPlanRow) == 0


def test_a_difference_is_told_rule_by_rule_and_keeps_nothing(world: MemoryWorld) -> None:
    author = world.of("policy_author", "ann")
    longer = (SHORTER[0], SHORTER[0].replace("365", "366"))

    def difference(*changes: tuple[str, str]) -> Any:
        return world.call("POST", "/policies/differences", author, {"files": files(*changes)})

    stricter, looser, same = difference(SHORTER), difference(longer), difference()
    active = world.call("GET", "/policies", author)
    broken = {"files": {"a.yaml": "classes: {x: {}}\n"}}
    refusal = world.call("POST", "/policies/differences", author, broken, expect=422)

    assert stricter["changes"] == [
        {"path": "classes.preference.expiry.days", "before": 365, "after": 10, "direction": "stricter"}
    ]
    assert [one["direction"] for one in (stricter, looser, same)] == ["stricter", "looser", "neutral"]
    assert (stricter["base_version"], stricter["base_revision"]) == (active["version"], 1)
    assert stricter["candidate_version"] == simulate(world, author)["candidate_version"]
    assert refusal["code"] == "bundle_invalid"
    assert world.site.count(PolicyPlanRow) == 1


@pytest.mark.parametrize("role", ["agent", "user", "reviewer", "auditor", "admin", "operator", "grader"])
def test_others_make_no_plans(world: MemoryWorld, role: str) -> None:
    simulate(world, world.of(role, "eve"), expect=403)
    world.call("POST", "/policies/differences", world.of(role, "eve"), {"files": files()}, expect=403)

    assert world.site.count(PolicyPlanRow) == 0


def test_an_agent_makes_none_in_an_authors_name(world: MemoryWorld) -> None:
    world.of("policy_author", "ann")
    simulate(world, world.of("agent", "agent-1", for_user="ann"), expect=403)


def test_a_project_is_named_to_its_members_alone(world: MemoryWorld) -> None:
    stranger = world.site.headers("policy_author", subject="sam", projects=("beta",))
    with unit_of(world, writes=True) as unit:
        add_memories(unit, project_id_of(unit), 1, age=timedelta(days=50))

    plan = simulate(world, stranger)

    assert [sample["project"] for sample in plan["samples"]["memories"]] == [None]
