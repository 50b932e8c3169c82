"""Looking back at a package: its manifest in words, without a word of its texts."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from context_world import AUDITOR, World, open_world
from executions_world import AGENT, COLLEAGUE, OUTSIDER, STRANGER, USER
from sqlmodel import select

from service.context.explain import Explanation, explain_package
from service.context.tables import PackageItemRow, PackageRow
from service.core.clock import Clock
from service.core.database import Database
from service.core.errors import NotFound
from service.identity.model import Caller

PLOT = "Plot 18: outline consent granted on 3 March."


@pytest.fixture
def world(database: Database, tmp_path: Path, clock: Clock) -> Iterator[World]:
    with open_world(database, tmp_path, clock) as world:
        yield world


def _explain(world: World, package_id: str, who: Caller = AGENT) -> Explanation:
    with world.unit(who) as unit:
        return explain_package(package_id, unit=unit)


def _named(explanation: Explanation) -> set[str]:
    sections = explanation.manifest["sections"]
    return {item["id"] for section in sections for item in section["items"]} | {
        omission["id"] for omission in explanation.manifest["omissions"]
    }


def test_the_manifest_says_why_each_item_is_in_or_out(world: World) -> None:
    kept = world.add(PLOT, "doc://plots/18")
    stale = world.add("Plot 18: refused.", "doc://old", fresh_until=world.clock())

    explanation = _explain(world, world.build().id)

    items = [item for section in explanation.manifest["sections"] for item in section["items"]]
    (evidence,) = [item for item in items if item["kind"] == "evidence"]
    (omission,) = explanation.manifest["omissions"]
    assert (evidence["id"], evidence["sha256"]) == (kept.id, kept.sha256)
    assert evidence["why"].startswith("in: ranked by score")
    assert (omission["id"], omission["why"]) == (
        stale.id,
        "left out: it was to be fresh until a time that has passed",
    )
    assert explanation.summary[0].endswith("of them in the stable prefix.")


def test_no_text_rests_in_the_manifest(world: World) -> None:
    run = world.runs.open(objective="Zebra crossing")
    world.runs.say(run, "My zebra is ill.")
    world.add(PLOT, "doc://plots/18")
    world.build(execution_id=run.id, query="plot 18 zebra")

    with world.database.read(AGENT.tenant_id) as session:
        row = session.exec(select(PackageRow)).one()

    assert "ebra" not in repr(row.manifest)
    assert "Plot" not in repr(row.manifest)
    assert b"zebra" not in row.request


def test_each_shown_item_is_listed_for_its_uses(world: World) -> None:
    kept = world.add(PLOT, "doc://plots/18")
    package = world.build()

    with world.database.read(AGENT.tenant_id) as session:
        rows = session.exec(select(PackageItemRow)).all()

    assert [(row.package_id, row.kind, row.item_id, row.version) for row in rows] == [
        (package.id, "evidence", kept.id, 1)
    ]


def test_the_project_may_read_a_manifest_and_nobody_else(world: World) -> None:
    package = world.build()

    for who in (AGENT, USER, COLLEAGUE, AUDITOR):
        assert _explain(world, package.id, who).package.id == package.id
    for who in (OUTSIDER, STRANGER):
        with pytest.raises(NotFound):
            _explain(world, package.id, who)
    with pytest.raises(NotFound):
        _explain(world, "01936d7e-0000-7000-8000-00000000dead")
    with pytest.raises(NotFound):
        _explain(world, "no-id")


def test_a_colleague_sees_no_evidence_that_only_the_packages_user_may_read(world: World) -> None:
    secret = world.add(PLOT, "doc://plots/18", readers=("user:user-1",))
    package = world.build()

    assert secret.id in _named(_explain(world, package.id, USER))
    assert secret.id not in _named(_explain(world, package.id, COLLEAGUE))


def test_the_digest_moves_with_the_content_and_not_with_the_call(world: World) -> None:
    run = world.runs.open()
    world.add(PLOT, "doc://plots/18")

    first, second = world.build(execution_id=run.id), world.build(execution_id=run.id)
    world.add("Plot 18: consent confirmed in May.", "doc://plots/18/may")
    third = world.build(execution_id=run.id)

    assert first.digest == second.digest != third.digest
