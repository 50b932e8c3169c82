"""Deadlines: a run is over for its readers at once, and durably by a message that is due then."""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from acceptance_world import ask
from conftest import FixedClock
from executions_world import ACME, OTHER, USER, World, open_world

from service.audit.store import AuditStore
from service.core.database import Database
from service.core.ids import new_id
from service.core.outbox import Message, Outbox
from service.executions.cancel import cancel
from service.executions.expire import EXPIRE_TOPIC, expire_at_deadline
from service.executions.model import EndedReason, Execution, Status
from service.executions.tables import ExecutionRow
from service.jobs.expire_executions import ExpireExecutions
from service.jobs.relay import Relay
from service.jobs.system_unit import SystemUnits


@pytest.fixture
def world(database: Database, tmp_path: Path, clock: FixedClock) -> Iterator[World]:
    with open_world(database, tmp_path, clock) as world:
        yield world


def _open(world: World) -> Execution:
    return world.open(deadline=world.clock() + timedelta(hours=1))


def _units(world: World) -> SystemUnits:
    return SystemUnits(world.database, world.ciphers, world.tokens, world.clock, new_id)


def _deliver(world: World) -> int:
    handlers = {EXPIRE_TOPIC: ExpireExecutions(_units(world))}
    return Relay(world.database, handlers, world.clock).drain(ACME)


def _stored(world: World, run: Execution) -> str:
    with world.database.read(ACME) as session:
        return session.get_one(ExecutionRow, (ACME, run.id)).status


def _happened(world: World, run: Execution) -> list[str]:
    with world.database.read(ACME) as session:
        links = AuditStore(session, ACME).links_of("execution", run.id, after=0, limit=100)
        return [link.event.action for link in links]


def test_the_message_is_due_at_the_deadline_and_makes_the_end_durable(
    world: World, clock: FixedClock
) -> None:
    run = _open(world)
    world.submit(run)
    ask(world, run)

    before = _deliver(world)
    clock.advance(hours=1)
    read, stored = world.get(run), _stored(world, run)
    delivered = _deliver(world)
    ended = world.get(run)

    assert (before, delivered) == (0, 1)
    assert (read.status, stored) == (Status.EXPIRED, Status.OPEN)
    assert (_stored(world, run), ended.ended_reason, ended.version) == ("expired", EndedReason.DEADLINE, 1)
    assert _happened(world, run)[-1] == "execution.expired"
    with world.store() as store:
        assert store.check_requests.of_run(run.id) == []


def test_a_run_without_a_deadline_leaves_no_message(world: World) -> None:
    world.open()

    with world.unit() as unit:
        assert Outbox(unit.session, ACME).waiting() == 0


def test_a_run_that_has_ended_otherwise_stays_as_it_is(world: World, clock: FixedClock) -> None:
    run = _open(world)
    with world.unit(USER) as unit:
        cancel(run.id, reason="not wanted", expected_version=1, unit=unit)
    clock.advance(hours=1)

    assert _deliver(world) == 1
    assert world.get(run).status is Status.CANCELLED
    assert "execution.expired" not in _happened(world, run)


def test_a_message_delivered_twice_ends_a_run_once(world: World, clock: FixedClock) -> None:
    run = _open(world)
    clock.advance(hours=1)
    messages = [Message(new_id(), EXPIRE_TOPIC, {"execution_id": run.id}, 1)] * 2

    ExpireExecutions(_units(world))(ACME, messages)

    assert _happened(world, run).count("execution.expired") == 1


def test_a_message_that_comes_too_early_waits_for_the_deadline(world: World, clock: FixedClock) -> None:
    run = _open(world)

    with _units(world).write(ACME) as unit:
        expire_at_deadline(run.id, unit=unit)
    early = _deliver(world)
    clock.advance(hours=1)

    assert (early, _deliver(world)) == (0, 2)
    assert world.get(run).ended_reason is EndedReason.DEADLINE


def test_a_message_of_another_tenant_or_of_no_run_ends_nothing(world: World, clock: FixedClock) -> None:
    run = _open(world)
    clock.advance(hours=1)

    ExpireExecutions(_units(world))(OTHER, [Message(new_id(), EXPIRE_TOPIC, {"execution_id": run.id}, 1)])
    ExpireExecutions(_units(world))(ACME, [Message(new_id(), EXPIRE_TOPIC, {"execution_id": new_id()}, 1)])

    assert _stored(world, run) == Status.OPEN
