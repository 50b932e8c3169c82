"""A simulation foretells what an activation does to memories; a second, small reading of time agrees."""

import random
from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path
from typing import Any

import pytest
from activations_world import admin_of, send
from authoring_world import add_memories, files, project_id_of, unit_of
from conftest import FixedClock
from memories_world import MemoryWorld, memory_world
from sqlmodel import select

from service.core.database import Database
from service.memories.tables import MemoryRow

DAY = timedelta(days=1)
STANDS = "expiry: {days: 365, counted_from: confirmation}"
CANDIDATES: list[tuple[int, dict[str, Any]]] = [
    (0, {"days": 30, "counted_from": "confirmation"}),
    (7, {"days": 30, "counted_from": "creation"}),
    (7, {"days": 400, "counted_from": "confirmation"}),
    (7, {"days": 380, "counted_from": "creation", "idle_days": 90}),
    (30, {"days": 365, "counted_from": "confirmation", "last_day": "2026-12-05"}),
]


@pytest.fixture(params=CANDIDATES, ids=lambda given: f"{given[1]}-after-{given[0]}")
def given(request: pytest.FixtureRequest) -> tuple[int, dict[str, Any]]:
    return request.param  # type: ignore[no-any-return]


@pytest.fixture
def guards(given: tuple[int, dict[str, Any]]) -> tuple[str, str]:
    """How the policy is changed that counts: how long the grace is, and that much may be affected."""
    grace = f"guards: {{shortening_grace_days: {given[0]}, max_affected_percent: 100}}"
    return ("classes:\n", f"{grace}\nclasses:\n")


@pytest.fixture
def world(
    database: Database, tmp_path: Path, clock: FixedClock, guards: tuple[str, str]
) -> Iterator[MemoryWorld]:
    with memory_world(database, tmp_path, clock, changes=dict([guards])) as world:
        yield world


def wanted(row: Mapping[str, Any], says: Mapping[str, Any]) -> datetime:
    """When a memory ends by what a class says: the earliest of its moments."""
    ends: list[datetime] = [
        row["created_at" if says["counted_from"] == "creation" else "confirmed_at"] + says["days"] * DAY
    ]
    if "idle_days" in says:
        last = max(moment for moment in (row["last_used_at"], row["confirmed_at"]) if moment)
        ends.append(last + says["idle_days"] * DAY)
    if "last_day" in says:
        ends.append(datetime.combine(date.fromisoformat(says["last_day"]), time(), UTC) + DAY)
    return min(ends)


def _remember(world: MemoryWorld) -> dict[str, dict[str, Any]]:
    """Keep memories of many ages, some in their grace after an earlier change; answer those by id."""
    chance, rows = random.Random(11), {}  # noqa: S311 - not for secrets
    with unit_of(world, writes=True) as unit:
        project = project_id_of(unit)
        for _ in range(120):
            made = unit.now - chance.randrange(1, 360) * DAY
            confirmed = chance.choice((made, made + (unit.now - made) * chance.random()))
            used = chance.choice((None, made + (unit.now - made) * chance.random()))
            stands = confirmed + 365 * DAY + chance.choice((0, 0, 0, 5, -20)) * DAY
            fields = {"created_at": made, "confirmed_at": confirmed, "last_used_at": used}
            fields["expires_at"] = max(stands, unit.now + chance.randrange(1, 40) * DAY)
            rows[add_memories(unit, project, 1, **fields)[0]] = fields
        # These live no more, or no rule says when they end: neither a plan nor an activation touches them.
        add_memories(unit, project, 3, status="expired")
        add_memories(unit, project, 4, expires_at=unit.now)
        add_memories(unit, project, 5, class_name="gone_class")
        add_memories(unit, project, 6, class_name="workflow_setting", purpose="service")
    return rows


def _ends(world: MemoryWorld) -> dict[str, datetime]:
    with unit_of(world) as unit:
        return dict(unit.session.exec(select(MemoryRow.id, MemoryRow.expires_at)).all())


def test_a_simulation_counts_what_an_activation_then_does(
    world: MemoryWorld, clock: FixedClock, given: tuple[int, dict[str, Any]], guards: tuple[str, str]
) -> None:
    _, says = given
    author, rows, before = world.of("policy_author", "ann"), _remember(world), _ends(world)
    body = {"files": files(guards, (STANDS, f"expiry: {_yaml(says)}"))}

    plan = world.call("POST", "/policies/simulations", author, body, expect=201)
    asked = send(world, "/activations", {"plan": plan["id"], "hash": plan["hash"]}, admin_of(world), 1)
    if asked.json()["status"] != "active":
        path = f"/activations/{asked.json()['id']}/approve"
        assert send(world, path, None, admin_of(world, "admin-b"), None).status_code == 200
    world.site.runtime.relay.drain(world.site.tenants["acme"])

    now, after = clock(), _ends(world)
    found = Counter(
        "unchanged"
        if after[name] == before[name]
        else "later"
        if after[name] > before[name]
        else "now"
        if wanted(row, says) <= now
        else "sooner"
        for name, row in rows.items()
    )
    counts = plan["affected"]["memories"]
    assert found.total() > found["unchanged"]
    assert {name: counts[name] for name in ("sooner", "later", "now")} == {
        name: found[name] for name in ("sooner", "later", "now")
    }
    assert counts["unchanged"] == found["unchanged"] + 5 + 6
    assert counts["total"] == len(rows) + 5 + 6
    # By the second reading an end is what is wanted, or stands for as long as the grace lasts.
    effective = now + given[0] * DAY
    for name, row in rows.items():
        end = wanted(row, says)
        stood = before[name]
        assert after[name] == (end if end >= stood else max(end, min(stood, effective)))
    for sample in plan["samples"]["memories"]:
        name = sample["id"]
        assert datetime.fromisoformat(sample["before"]) == before[name]
        assert datetime.fromisoformat(sample["after"]) == wanted(rows[name], says)


def _yaml(says: Mapping[str, Any]) -> str:
    written = (f'{key}: "{value}"' if key == "last_day" else f"{key}: {value}" for key, value in says.items())
    return "{" + ", ".join(written) + "}"
