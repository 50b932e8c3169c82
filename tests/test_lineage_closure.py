"""What was made from a source, step after step: each thing once, in circles too, and nobody else's."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import FixedClock
from evidence_world import STRANGER, World, new, open_world

from service.core.database import Database
from service.core.lineage import Lineage, Node
from service.evidence.model import Reference
from service.governance.closure import closure
from service.identity.unit import Unit


@pytest.fixture
def world(database: Database, tmp_path: Path, clock: FixedClock) -> Iterator[World]:
    with open_world(database, tmp_path, clock) as made:
        yield made


def note(unit: Unit, *pairs: tuple[str, str]) -> None:
    lineage = Lineage(unit.session, unit.tenant_id)
    for made, source in pairs:
        made_node, source_node = Node.parse(made), Node.parse(source)
        assert made_node is not None
        assert source_node is not None
        lineage.note(made_node, [source_node])


def reached(unit: Unit, start: str) -> list[str]:
    node = Node.parse(start)
    assert node is not None
    return [f"{one.kind}:{one.id}" for one in closure(node, unit)]


def test_nearer_things_come_first_and_each_comes_once(world: World) -> None:
    with world.unit() as unit:
        note(unit, ("memory:b", "evidence:a"), ("summary:c", "evidence:a"), ("execution:d", "memory:b"))
        note(unit, ("execution:d", "summary:c"), ("memory:e", "observation:x"))

        assert reached(unit, "evidence:a") == ["memory:b", "summary:c", "execution:d"]


def test_a_circle_ends_where_it_began(world: World) -> None:
    with world.unit() as unit:
        note(unit, ("memory:b", "evidence:a"), ("evidence:a", "memory:b"), ("memory:b", "memory:b"))

        assert reached(unit, "evidence:a") == ["memory:b"]
        assert reached(unit, "memory:b") == ["evidence:a"]


def test_evidence_brings_what_any_of_its_readers_made_from_it(world: World) -> None:
    source = world.add(new("The plot is empty.", "doc://a"))
    made = world.add(new("A note.", "doc://b", derived_from=(Reference("evidence", source.id),)))
    again = world.add(new("A digest.", "doc://c", derived_from=(Reference("evidence", made.id),)))

    with world.unit() as unit:
        assert reached(unit, f"evidence:{source.id}") == [f"evidence:{made.id}", f"evidence:{again.id}"]


def test_another_tenant_reaches_nothing_by_the_same_name(world: World) -> None:
    with world.unit() as unit:
        note(unit, ("memory:b", "evidence:a"))

    with world.unit(STRANGER) as unit:
        assert reached(unit, "evidence:a") == []


def test_more_things_than_one_query_asks_about_are_all_followed(world: World) -> None:
    with world.unit() as unit:
        lineage = Lineage(unit.session, unit.tenant_id)
        for number in range(1_201):
            lineage.note(Node("memory", f"m{number:04}"), [Node("evidence", "a")])
        note(unit, ("summary:last", "memory:m1200"))

        found = reached(unit, "evidence:a")

    assert len(found) == len(set(found)) == 1_202
    assert found[-1] == "summary:last"
