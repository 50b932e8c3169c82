"""Retrying runs, and stopping those whose acting user has lost access to the project."""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from conftest import FixedClock
from executions_world import (
    ACME,
    ALPHA,
    BETA,
    LONE_AGENT,
    OPERATOR,
    STRANGER,
    USER,
    World,
    caller,
    open_world,
)

from service.audit.record import record
from service.audit.store import AuditStore
from service.core.database import Database
from service.core.errors import NotFound, Stale
from service.core.ids import new_id
from service.core.outbox import Message, Outbox
from service.executions import review
from service.executions.interventions import InterventionKind
from service.executions.leases.model import Lease, LeaseMode
from service.executions.model import Execution, Status, Transition
from service.executions.refusals import AccessStillGone, ExecutionEnded, ReviewRequired, TransitionRefused
from service.executions.retry import retry
from service.identity.model import Role
from service.identity.projects import MEMBER_REMOVED_TOPIC, add_member, remove_member
from service.jobs.relay import Relay
from service.jobs.review_executions import ReviewExecutions
from service.jobs.system_unit import SystemUnits

ADMIN = caller("admin-1", role=Role.ADMIN)


@pytest.fixture
def world(database: Database, tmp_path: Path, clock: FixedClock) -> Iterator[World]:
    with open_world(database, tmp_path, clock) as world:
        _join(world)
        yield world


def _join(world: World, subject: str = "user-1") -> None:
    with world.unit(ADMIN) as unit:
        add_member(ALPHA, subject, unit=unit, trail=record)


def _leave(world: World, subject: str = "user-1") -> None:
    with world.unit(ADMIN) as unit:
        remove_member(ALPHA, subject, unit=unit, trail=record)


def _deliver(world: World) -> int:
    units = SystemUnits(world.database, world.ciphers, world.tokens, world.clock, new_id)
    handlers = {MEMBER_REMOVED_TOPIC: ReviewExecutions(units)}
    return Relay(world.database, handlers, world.clock).drain(ACME)


def _retry(world: World, run: Execution, *, version: int, reason: str = "The register is back") -> Execution:
    with world.unit(OPERATOR) as unit:
        return retry(run.id, reason=reason, expected_version=version, unit=unit)


def test_a_failed_run_goes_on_where_it_stood(world: World) -> None:
    run = world.open()
    world.move(run, Transition.FAIL, version=1, step=3)

    with pytest.raises(Stale):
        _retry(world, run, version=1)
    retried = _retry(world, run, version=2)

    assert (retried.status, retried.version, retried.step) == (Status.RUNNING, 3, 3)
    assert world.move(run, Transition.ADVANCE, version=3).version == 4
    with world.store() as store:
        [kept] = store.interventions.newest(run.id, last=10)
    assert (kept.action, kept.reason) == (InterventionKind.RETRY, "The register is back")


def test_a_run_that_neither_failed_nor_waits_for_review_is_not_retried(
    world: World, clock: FixedClock
) -> None:
    working, over = world.open(), world.open(deadline=clock() + timedelta(hours=1))

    with pytest.raises(TransitionRefused):
        _retry(world, working, version=1)
    clock.advance(hours=2)
    with pytest.raises(ExecutionEnded):
        _retry(world, over, version=1)
    with world.unit(STRANGER) as unit, pytest.raises(NotFound):
        retry(working.id, reason="mine", expected_version=1, unit=unit)


def test_runs_are_stopped_when_their_acting_user_leaves_the_project(world: World) -> None:
    mine, failed, ended, agents = (world.open(who) for who in (USER, USER, USER, LONE_AGENT))
    elsewhere = world.open(caller("user-1", role=Role.USER, projects=[BETA]), project="beta")
    world.move(failed, Transition.FAIL, version=1, who=USER)
    world.submit(ended, who=USER)
    for requirement in ("login", "orders"):
        world.grade(ended, requirement)
    with world.store() as store:
        now = world.clock()
        store.leases.keep(Lease(mine.id, 1, LeaseMode.FULL, "user-1", now, now + timedelta(seconds=120)))

    _leave(world)
    delivered = _deliver(world)

    beta = caller("operator-1", role=Role.OPERATOR, projects=[ALPHA, BETA])
    assert delivered == 1
    assert [world.get(run, beta).status for run in (mine, failed, ended, agents, elsewhere)] == [
        Status.REVIEW_REQUIRED,
        Status.REVIEW_REQUIRED,
        Status.COMPLETED,
        Status.OPEN,
        Status.OPEN,
    ]
    assert [world.get(run).version for run in (mine, failed)] == [1, 2]
    with world.store() as store:
        lease = store.leases.find(mine.id)
    assert lease is not None
    assert lease.released


def test_a_reviewed_run_goes_on_once_its_acting_user_is_a_member_again(world: World) -> None:
    run = world.open()
    _leave(world)
    _deliver(world)

    with pytest.raises(AccessStillGone):
        _retry(world, run, version=1)
    _join(world)
    with pytest.raises(ReviewRequired):
        world.intend(run)
    retried = _retry(world, run, version=1)

    assert (retried.status, retried.version) == (Status.RUNNING, 2)


def test_a_review_is_ended_by_no_checkpoint_of_the_runs_own_people(world: World) -> None:
    run = world.open()
    _leave(world)
    _deliver(world)
    _join(world)

    for transition in set(Transition) - {Transition.WAIT}:
        with pytest.raises(TransitionRefused):
            world.move(run, transition, version=1)
    assert world.move(run, Transition.WAIT, version=1).status is Status.REVIEW_REQUIRED


def test_a_late_message_leaves_the_runs_of_somebody_who_is_back(world: World) -> None:
    run = world.open()
    _leave(world)
    _join(world)

    assert _deliver(world) == 1
    assert world.get(run).status is Status.OPEN


def test_a_message_delivered_twice_stops_a_run_once(world: World) -> None:
    run = world.open()
    _leave(world)
    units = SystemUnits(world.database, world.ciphers, world.tokens, world.clock, new_id)
    message = Message(new_id(), MEMBER_REMOVED_TOPIC, {"project_id": ALPHA.id, "subject": "user-1"}, 1)

    for _ in range(2):
        ReviewExecutions(units)(ACME, [message])

    assert world.get(run).status is Status.REVIEW_REQUIRED
    with world.unit() as unit:
        links = AuditStore(unit.session, ACME).links_of("execution", run.id, after=0, limit=100)
    assert [link.event.action for link in links] == ["execution.opened", "execution.review_required"]
    assert links[1].event.principal == "system:muniment"


def test_all_runs_are_stopped_however_many_there_are(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(review, "REVIEW_RUNS_MAX", 2)
    runs = [world.open() for _ in range(5)]
    _leave(world)

    _deliver(world)

    assert {world.get(run).status for run in runs} == {Status.REVIEW_REQUIRED}
    with world.unit(ADMIN) as unit:
        assert not Outbox(unit.session, ACME).has_due(now=unit.now)
