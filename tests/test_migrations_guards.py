"""What the database itself refuses about runs, whatever code asks it."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import FixedClock
from executions_world import ACME, OTHER, World, open_world
from resume_world import take
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError
from sqlmodel import SQLModel

from service.core.database import Database
from service.executions.ledger.model import EffectStatus
from service.executions.model import Execution, Transition
from service.migrations.guards import GUARDS


@pytest.fixture
def world(database: Database, tmp_path: Path, clock: FixedClock) -> Iterator[World]:
    with open_world(database, tmp_path, clock) as opened:
        yield opened


@pytest.fixture
def run(world: World) -> Execution:
    """A run with one of everything that a guard watches."""
    opened = world.open()
    world.move(opened, Transition.ADVANCE, version=1, step=3, state={"plan": []})
    world.say(opened, "Keep it short.")
    world.submit(opened)
    world.grade(opened)
    world.intend(opened)
    world.settle(opened, EffectStatus.DISPATCHED, EffectStatus.COMMITTED)
    world.intend(opened, "order-9")
    take(world, opened, artifact_hash=None)
    return opened


def execute(world: World, statement: str, tenant_id: str = ACME) -> int:
    with world.database.write(tenant_id) as session:
        return session.connection().execute(text(statement)).rowcount


def copy(world: World, name: str, *, tenant_id: str) -> None:
    """Add a row like the table's first one, under keys of its own."""
    table = SQLModel.metadata.tables[name]
    with world.database.read(ACME) as session:
        row = dict(session.connection().execute(table.select()).mappings().first() or {})
    fresh = {"id": "copied", "sequence": 99, "version": 99, "operation_id": "copied", "tenant_id": tenant_id}
    row |= {column: value for column, value in fresh.items() if column in row}
    with world.database.write(tenant_id) as session:
        session.connection().execute(table.insert(), row)


@pytest.mark.parametrize(
    ("statement", "code"),
    [
        ("UPDATE executions SET step = step - 1", "step_backwards"),
        ("UPDATE executions SET version = version - 1", "version_backwards"),
        ("UPDATE executions SET contract_hash = 'sha256:0'", "contract_fixed"),
        ("UPDATE checkpoints SET step = 9", "record_fixed"),
        ("UPDATE candidates SET artifact_hash = 'sha256:0'", "record_fixed"),
        ("UPDATE checks SET passed = NOT passed", "record_fixed"),
        ("UPDATE effects SET kind = 'other'", "record_fixed"),
        ("UPDATE effects SET status = 'unknown' WHERE operation_id = 'order-8'", "effect_settled"),
        ("UPDATE effects SET status = 'committed' WHERE operation_id = 'order-9'", "effect_not_dispatched"),
        ("UPDATE leases SET fencing_token = 0", "fencing"),
    ],
)
def test_the_record_of_a_run_only_goes_forwards(
    world: World, run: Execution, statement: str, code: str
) -> None:
    with pytest.raises(DBAPIError, match=code):
        execute(world, statement)

    assert world.get(run).step == 3


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE executions SET status = 'running'",
        "UPDATE executions SET version = version + 1",
        "UPDATE executions SET cost_used_micros = 7",
        "UPDATE effects SET status = 'dispatched' WHERE operation_id = 'order-9'",
    ],
)
def test_an_ended_run_is_immutable(world: World, run: Execution, statement: str) -> None:
    execute(world, "UPDATE executions SET status = 'cancelled'")

    with pytest.raises(DBAPIError, match="_ended"):
        execute(world, statement)

    assert execute(world, "UPDATE executions SET objective = NULL") == 1
    assert execute(world, "UPDATE turns SET text = NULL") == 1
    assert run.id


@pytest.mark.parametrize("table", ["turns", "candidates", "checks", "effects", "checkpoints"])
def test_nothing_is_added_to_an_ended_run(world: World, run: Execution, table: str) -> None:
    execute(world, "UPDATE executions SET status = 'cancelled'")

    with pytest.raises(DBAPIError, match="execution_ended"):
        copy(world, table, tenant_id=ACME)
    assert run.id


def test_an_effect_left_unknown_is_settled_also_in_an_ended_run(world: World, run: Execution) -> None:
    execute(world, "UPDATE effects SET status = 'dispatched' WHERE operation_id = 'order-9'")
    execute(world, "UPDATE executions SET status = 'cancelled'")

    assert execute(world, "UPDATE effects SET status = 'absent' WHERE operation_id = 'order-9'") == 1
    with pytest.raises(DBAPIError, match="run_ended"):
        execute(world, "UPDATE effects SET status = 'dispatched' WHERE operation_id = 'order-9'")
    assert run.id


@pytest.mark.parametrize("table", ["turns", "candidates", "checks", "effects", "checkpoints", "leases"])
def test_nothing_refers_to_a_run_of_another_tenant(world: World, run: Execution, table: str) -> None:
    with pytest.raises(DBAPIError, match=r"(?i)foreign key"):
        copy(world, table, tenant_id=OTHER)
    assert run.id


def test_one_approval_of_a_command_is_pending_and_an_operation_exists_once(
    world: World, run: Execution
) -> None:
    ask = (
        "INSERT INTO approvals (tenant_id, id, execution_id, kind, command_hash, status, approver_role,"
        " requested_by, acting_user, evidence, policy_version, expires_at, moved, created_at, updated_at)"
        " SELECT tenant_id, '{id}', id, 'orders.create', 'sha256:1', '{status}', 'reviewer', 'x', 'x', '[]',"
        " 'sha256:2', created_at, '[]', created_at, created_at FROM executions"
    )
    execute(world, ask.format(id="a", status="pending"))
    execute(world, ask.format(id="b", status="rejected"))

    with pytest.raises(DBAPIError, match=r"(?i)unique"):
        execute(world, ask.format(id="c", status="pending"))
    with pytest.raises(DBAPIError, match="approval_settled"):
        execute(world, "UPDATE approvals SET status = 'approved' WHERE id = 'b'")
    with pytest.raises(DBAPIError, match=r"(?i)unique"):
        execute(world, "UPDATE effects SET operation_id = 'order-8' WHERE operation_id = 'order-9'")
    assert run.id


def test_every_guard_stands(world: World) -> None:
    catalogue = (
        "SELECT name FROM sqlite_master WHERE type = 'trigger'"
        if world.database.is_sqlite
        else "SELECT tgname FROM pg_trigger WHERE NOT tgisinternal"
    )
    with world.database.read(None) as session:
        names = set(session.connection().execute(text(catalogue)).scalars())

    assert names == {guard.name for guard in GUARDS}
    assert len(GUARDS) >= 20
