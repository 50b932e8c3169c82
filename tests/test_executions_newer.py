"""A run that a newer release has written is left alone by every job, and holds up no other run."""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from conftest import FixedClock
from executions_world import ACME, ALPHA, World, caller, open_world
from test_executions_schemas import rewrite

from service.audit.record import record
from service.core.database import Database
from service.core.ids import new_id
from service.executions.approvals.model import ApprovalStatus, NewApproval
from service.executions.ask import ask
from service.executions.expire import EXPIRE_TOPIC
from service.executions.lapse import LAPSE_TOPIC
from service.executions.model import STATE_SCHEMA_VERSION, EndedReason, Execution, Status
from service.identity.model import Role
from service.identity.projects import MEMBER_REMOVED_TOPIC, add_member, remove_member
from service.jobs.expire_executions import ExpireExecutions
from service.jobs.lapse_approvals import LapseApprovals
from service.jobs.relay import Relay
from service.jobs.review_executions import ReviewExecutions
from service.jobs.system_unit import SystemUnits

ADMIN = caller("admin-1", role=Role.ADMIN)


@pytest.fixture
def world(database: Database, tmp_path: Path, clock: FixedClock) -> Iterator[World]:
    with open_world(database, tmp_path, clock) as opened:
        yield opened


def drain(world: World) -> int:
    """Deliver what is due; answer how many messages were dealt with."""
    units = SystemUnits(world.database, world.ciphers, world.tokens, world.clock, new_id)
    handlers = {
        EXPIRE_TOPIC: ExpireExecutions(units),
        LAPSE_TOPIC: LapseApprovals(units),
        MEMBER_REMOVED_TOPIC: ReviewExecutions(units),
    }
    return Relay(world.database, handlers, world.clock).drain(ACME)


def test_a_deadline_of_one_run_waits_for_the_newer_release_and_the_other_runs_end(world: World) -> None:
    deadline = world.clock() + timedelta(hours=1)
    newer, run = world.open(deadline=deadline), world.open(deadline=deadline)
    rewrite(world, newer, STATE_SCHEMA_VERSION + 1)
    world.clock.advance(hours=1)

    assert drain(world) == 2
    assert world.get(run).ended_reason is EndedReason.DEADLINE

    rewrite(world, newer, STATE_SCHEMA_VERSION)
    world.clock.advance(seconds=31)
    assert drain(world) == 1
    assert world.get(newer).ended_reason is EndedReason.DEADLINE


def test_an_approval_of_one_run_waits_for_the_newer_release_and_the_others_lapse(world: World) -> None:
    newer, run = world.open(), world.open()
    of_newer, of_run = ask_to_pay(world, newer), ask_to_pay(world, run)
    rewrite(world, newer, STATE_SCHEMA_VERSION + 1)
    world.clock.advance(minutes=10)

    assert drain(world) == 2
    assert is_lapsed(world, of_run)

    rewrite(world, newer, STATE_SCHEMA_VERSION)
    world.clock.advance(seconds=31)
    assert drain(world) == 1
    assert is_lapsed(world, of_newer)


def ask_to_pay(world: World, run: Execution) -> str:
    new = NewApproval({"kind": "payments.create"}, expires_at=world.clock() + timedelta(minutes=10))
    with world.unit() as unit:
        return ask(run.id, new, unit=unit, bundle=world.bundle)[0].id


def is_lapsed(world: World, approval_id: str) -> bool:
    with world.store() as store:
        found = store.find_approval(approval_id)
    assert found is not None
    return found.is_written and found.status is ApprovalStatus.EXPIRED


def test_one_run_of_a_former_member_waits_for_the_newer_release_and_the_others_stop(world: World) -> None:
    newer, run = world.open(), world.open()
    rewrite(world, newer, STATE_SCHEMA_VERSION + 1)
    with world.unit(ADMIN) as unit:
        remove_member(ALPHA, "user-1", unit=unit, trail=record)

    assert drain(world) == 1
    assert world.get(run).status is Status.REVIEW_REQUIRED

    rewrite(world, newer, STATE_SCHEMA_VERSION)
    world.clock.advance(seconds=31)
    assert drain(world) == 1
    assert world.get(newer).status is Status.REVIEW_REQUIRED


def test_a_former_member_who_is_back_keeps_what_was_left_for_the_newer_release(world: World) -> None:
    newer = world.open()
    rewrite(world, newer, STATE_SCHEMA_VERSION + 1)
    with world.unit(ADMIN) as unit:
        remove_member(ALPHA, "user-1", unit=unit, trail=record)
    drain(world)
    with world.unit(ADMIN) as unit:
        add_member(ALPHA, "user-1", unit=unit, trail=record)

    rewrite(world, newer, STATE_SCHEMA_VERSION)
    world.clock.advance(seconds=31)

    assert drain(world) == 1
    assert world.get(newer).status is Status.OPEN
