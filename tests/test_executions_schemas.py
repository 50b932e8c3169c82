"""Checkpoints of earlier releases are upgraded when read; too old and too new ones end in words."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import FixedClock
from executions_world import ACME, ALPHA, OUTSIDER, World, caller, open_world
from resume_world import ask, decision, take
from sqlalchemy import text

from service.audit.record import record
from service.core.database import Database
from service.executions.model import STATE_SCHEMA_VERSION, Execution, Status, Transition
from service.executions.refusals import ExecutionEnded, SchemaNewer
from service.executions.schemas import UPGRADES, upgrade
from service.executions.sealed import stable_json
from service.identity.model import Role
from service.identity.projects import remove_member

FIXTURES = sorted((Path(__file__).parent / "fixtures").glob("checkpoint-schema-*.json"))


@pytest.fixture
def world(database: Database, tmp_path: Path, clock: FixedClock) -> Iterator[World]:
    with open_world(database, tmp_path, clock) as opened:
        yield opened


def rewrite(world: World, run: Execution, version: int, payload: dict[str, Any] | None = None) -> None:
    """Make a run look as another release has left it."""
    place = f"checkpoints/{run.id}/2/state"
    with world.database.write(ACME) as session:
        values = {"version": version, "run": run.id}
        session.connection().execute(
            text("UPDATE executions SET schema_version = :version WHERE id = :run"), values
        )
        if payload is not None:
            cipher = world.ciphers.for_tenant(ACME)
            sealed = cipher.seal(stable_json(payload), subjects=("user-1",), place=place)
            session.connection().execute(
                text(
                    "UPDATE checkpoints SET schema_version = :version, state = :sealed"
                    " WHERE execution_id = :run AND version = 2"
                ),
                {**values, "sealed": sealed},
            )


def test_every_older_schema_has_a_step_and_a_stored_payload() -> None:
    stored = {json.loads(path.read_text())["schema_version"] for path in FIXTURES}

    assert stored == set(UPGRADES) == set(range(1, STATE_SCHEMA_VERSION))


@pytest.mark.parametrize("path", FIXTURES, ids=lambda path: path.stem)
def test_a_stored_payload_becomes_one_of_the_present_schema(path: Path) -> None:
    fixture = json.loads(path.read_text())

    payload = upgrade(fixture["payload"], fixture["schema_version"])

    assert payload["state"] == fixture["payload"]
    assert [ref for ref, _, _ in payload["sources"]] == fixture["payload"]["derived_from"]


@pytest.mark.parametrize("path", FIXTURES, ids=lambda path: path.stem)
def test_a_run_of_an_older_release_is_gone_on_with(world: World, path: Path) -> None:
    fixture = json.loads(path.read_text())
    run = world.open()
    world.move(run, Transition.ADVANCE, version=1, state={"plan": []})
    rewrite(world, run, fixture["schema_version"], fixture["payload"])

    lease = take(world, run).lease
    assert world.facts(run).state == fixture["payload"]
    assert lease is not None
    world.clock.advance(seconds=120)
    world.move(run, Transition.ADVANCE, version=2, step=3)

    # Its state is still of the older form, and a release that cannot read that has to see it.
    assert world.facts(run).state == fixture["payload"]
    assert world.get(run).schema_version == fixture["schema_version"]
    world.move(run, Transition.ADVANCE, version=3, state={"plan": []})
    assert world.get(run).schema_version == STATE_SCHEMA_VERSION


def test_a_run_that_is_too_old_ends_in_words(world: World) -> None:
    run = world.open()
    world.move(run, Transition.ADVANCE, version=1, state={"plan": []})
    rewrite(world, run, 0)

    assert world.get(run).status is Status.UNSUPPORTED_SCHEMA
    with pytest.raises(ExecutionEnded):
        world.move(run, Transition.ADVANCE, version=2)
    assert decision(world, run) == "ended:unsupported_schema"
    with world.database.read(ACME) as session:
        kept = session.connection().execute(text("SELECT status, ended_reason FROM executions")).one()
    assert tuple(kept) == ("unsupported_schema", "schema")


def test_a_run_of_a_newer_release_is_left_alone(world: World) -> None:
    run = world.open()
    world.move(run, Transition.ADVANCE, version=1, state={"plan": []})
    rewrite(world, run, STATE_SCHEMA_VERSION + 1)
    with world.unit(caller("admin-1", role=Role.ADMIN)) as unit:
        remove_member(ALPHA, "user-1", unit=unit, trail=record)

    for attempt in (
        lambda: world.get(run),
        lambda: take(world, run),
        lambda: ask(world, run, OUTSIDER),
        lambda: world.move(run, Transition.FAIL, version=2),
    ):
        with pytest.raises(SchemaNewer):
            attempt()

    with world.database.read(ACME) as session:
        kept = session.connection().execute(text("SELECT status, version FROM executions")).one()
    assert tuple(kept) == ("running", 2)
