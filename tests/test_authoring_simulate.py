"""A simulation says what a candidate would do to what is there, and changes nothing."""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from authoring_world import add_memories, add_package, files, project_id_of, unit_of
from conftest import FixedClock
from memories_world import MemoryWorld, memory_world
from sqlalchemy import select, update
from sqlmodel import SQLModel, col

from service.authoring.distinct import Distinct
from service.authoring.model import Effect
from service.authoring.simulate import simulate
from service.core.database import Database
from service.core.errors import Invalid
from service.governance.tables import HoldRow
from service.identity.unit import Unit
from service.memories.tables import ProposalRow
from service.policies.active import active_bundle
from service.policies.load import load_bundle

SHORTER = (
    "expiry: {days: 365, counted_from: confirmation}",
    "expiry: {days: 10, counted_from: confirmation}",
)
LONGER = (
    "expiry: {days: 365, counted_from: confirmation}",
    "expiry: {days: 400, counted_from: confirmation}",
)
NOBODY_ELSE = ("readers: [agent, user]", "readers: [user]")


@pytest.fixture
def world(database: Database, tmp_path: Path, clock: FixedClock) -> Iterator[MemoryWorld]:
    with memory_world(database, tmp_path, clock) as world:
        yield world


def effect_of(unit: Unit, *changes: tuple[str, str], days: int = 30) -> Effect:
    candidate = load_bundle(files(*changes))
    return simulate(candidate, active_bundle(unit), unit=unit, days=days, progress=lambda _done, _all: None)


def test_memories_are_told_apart_by_what_becomes_of_them(world: MemoryWorld) -> None:
    with unit_of(world, "globex", writes=True) as unit:
        add_memories(unit, project_id_of(unit), 9, age=timedelta(days=50))
    with unit_of(world, writes=True) as unit:
        project = project_id_of(unit)
        add_memories(unit, project, 3, age=timedelta(days=50))
        add_memories(unit, project, 2, age=timedelta(days=1))
        add_memories(unit, project, 1, class_name="gone_class")
        held = add_memories(unit, project, 1, age=timedelta(days=50))[0]
        unit.session.add(
            HoldRow(
                tenant_id=unit.tenant_id,
                id=unit.ids(),
                scope="memory",
                ref=held,
                basis=b"",
                by="x",
                created_at=unit.now,
            )
        )
    with unit_of(world) as unit:
        shorter = effect_of(unit, SHORTER).affected
        longer = effect_of(unit, LONGER).affected["memories"]
        hidden = effect_of(unit, NOBODY_ELSE)
        same = effect_of(unit).affected

    assert shorter["memories"] == {
        "sooner": 2, "later": 0, "now": 3, "hidden": 0, "revealed": 0, "held": 1, "unchanged": 1, "total": 7,
    }  # fmt: skip
    assert (shorter["subjects"], shorter["subjects_are"]) == (6, "exact")
    assert (longer["later"], longer["unchanged"]) == (6, 1)
    assert hidden.affected["memories"]["hidden"] == 6
    assert {sample["class"] for sample in hidden.samples["memories"]} == {"preference"}
    assert (same["memories"]["unchanged"], same["subjects"]) == (7, 0)


def test_proposals_are_judged_again_and_those_without_facts_are_counted(world: MemoryWorld) -> None:
    world.consent()
    turn = world.turn()
    approved = world.propose(turn)["id"]
    world.propose(None, key="other")

    with unit_of(world) as unit:
        stricter = effect_of(unit, ("confidence_min: 0.5", "confidence_min: 0.95"))
        elsewhere = effect_of(unit, ("    quota: 200", "    quota: 300"))

    assert stricter.affected["proposals"] == {"otherwise": 2, "judged": 2, "not_judged": 0}
    sample = next(one for one in stricter.samples["proposals"] if one["id"] == approved)
    assert (sample["before"], sample["after"]) == ("approved", "denied")
    assert sample["codes"] == ["confidence_too_low"]
    assert elsewhere.affected["proposals"]["otherwise"] == 0

    with unit_of(world, writes=True) as unit:
        unit.session.connection().execute(
            update(ProposalRow).where(col(ProposalRow.id) == approved).values(facts=None)
        )
        without = effect_of(unit, ("confidence_min: 0.5", "confidence_min: 0.95"))
    assert without.affected["proposals"] == {"otherwise": 1, "judged": 1, "not_judged": 1}


def test_a_package_counts_that_showed_what_would_be_hidden(world: MemoryWorld) -> None:
    with unit_of(world, writes=True) as unit:
        project = project_id_of(unit)
        memory = add_memories(unit, project, 1)[0]
        item = {"kind": "memory", "id": memory, "trust": "first_party"}
        package = add_package(unit, project, [item])
        add_package(unit, project, [])
        add_package(unit, project, [item], created_at=unit.now - timedelta(days=31))

    with unit_of(world) as unit:
        hidden, same = effect_of(unit, NOBODY_ELSE), effect_of(unit)

    assert hidden.affected["packages"] == {"otherwise": 1, "looked_at": 2}
    assert [(one["id"], one["codes"]) for one in hidden.samples["packages"]] == [(package, ["memory"])]
    assert same.affected["packages"]["otherwise"] == 0


def test_a_simulation_changes_no_table_and_bounds_its_samples(world: MemoryWorld) -> None:
    with unit_of(world, writes=True) as unit:
        add_memories(unit, project_id_of(unit), 50, age=timedelta(days=50))
    with unit_of(world) as unit:
        before = _everything(unit)

        effect = effect_of(unit, SHORTER)

        assert _everything(unit) == before
        assert effect.affected["memories"]["now"] == 50
        assert len(effect.samples["memories"]) == 20


@pytest.mark.parametrize("days", [0, 366])
def test_days_have_bounds(world: MemoryWorld, days: int) -> None:
    with unit_of(world) as unit, pytest.raises(Invalid):
        effect_of(unit, days=days)


def test_persons_are_counted_exactly_while_few_and_nearly_when_many(world: MemoryWorld) -> None:
    few, many = Distinct(), Distinct()
    with unit_of(world) as unit:
        hashes = [unit.cipher.keyed_hash(str(number)) for number in range(20_000)]
    for one in hashes[:4_096] * 2:
        few.add(one)
    for one in hashes:
        many.add(one)

    assert (few.count, few.is_exact) == (4_096, True)
    assert abs(many.count - 20_000) < 1_000
    assert not many.is_exact


def _everything(unit: Unit) -> dict[str, list[Any]]:
    tables = SQLModel.metadata.sorted_tables
    return {
        table.name: sorted(map(repr, unit.session.connection().execute(select(table)).all()))
        for table in tables
    }
