"""Cancelling runs: who may, what goes with them, and that it happens once."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from acceptance_world import ask
from conftest import FixedClock
from executions_world import (
    ACME,
    AGENT,
    COLLEAGUE,
    LONE_AGENT,
    OPERATOR,
    STRANGER,
    USER,
    World,
    caller,
    open_world,
)

from service.audit.store import AuditStore
from service.core.database import Database
from service.core.errors import NotFound, Stale
from service.executions.cancel import cancel
from service.executions.hold import hold
from service.executions.interventions import InterventionKind
from service.executions.leases.model import Lease, LeaseMode
from service.executions.ledger.model import EffectStatus
from service.executions.model import EndedReason, Execution, Status, Transition
from service.executions.refusals import ActingUserOnly, ExecutionEnded
from service.executions.review import require_review
from service.executions.store import ExecutionStore
from service.identity.model import Caller, Role

REASON = "The customer withdrew the order"


@pytest.fixture
def world(database: Database, tmp_path: Path, clock: FixedClock) -> Iterator[World]:
    with open_world(database, tmp_path, clock) as world:
        yield world


def _cancel(world: World, run: Execution, *, who: Caller = OPERATOR, version: int = 1) -> Execution:
    with world.unit(who) as unit:
        return cancel(run.id, reason=REASON, expected_version=version, unit=unit)


@pytest.mark.parametrize(
    ("who", "because"), [(OPERATOR, EndedReason.OPERATOR), (USER, EndedReason.ACTING_USER)]
)
def test_operators_cancel_any_run_and_users_their_own(
    world: World, who: Caller, because: EndedReason
) -> None:
    run = world.open()

    cancelled = _cancel(world, run, who=who)

    assert cancelled == world.get(run, who)
    assert (cancelled.status, cancelled.version, cancelled.ended_reason) == (Status.CANCELLED, 2, because)


def test_others_are_refused_by_what_they_may_see(world: World) -> None:
    run = world.open()

    with pytest.raises(ActingUserOnly):
        _cancel(world, run, who=COLLEAGUE)
    for who in (STRANGER, caller("operator-2", role=Role.OPERATOR, projects=())):
        with pytest.raises(NotFound):
            _cancel(world, run, who=who)
    assert world.get(run).status is Status.OPEN


def test_a_stale_version_and_a_repeat_change_nothing(world: World) -> None:
    run = world.open()

    with pytest.raises(Stale):
        _cancel(world, run, version=2)
    _cancel(world, run)
    with pytest.raises(Stale):
        _cancel(world, run)
    with pytest.raises(ExecutionEnded):
        _cancel(world, run, version=2)

    assert world.get(run).version == 2
    with world.store(OPERATOR) as store:
        assert len(store.interventions.newest(run.id, last=10)) == 1


def test_a_run_is_cancelled_from_every_state_that_is_not_an_end(world: World) -> None:
    waiting, failed, unknown, reviewed = (world.open() for _ in range(4))
    world.move(waiting, Transition.WAIT, version=1)
    world.move(failed, Transition.FAIL, version=1)
    world.intend(unknown)
    world.settle(unknown, EffectStatus.DISPATCHED, EffectStatus.UNKNOWN)
    world.move(unknown, Transition.WAIT, version=1)
    with world.unit() as unit:
        require_review(ExecutionStore.of(unit).get(reviewed.id, lock=True), unit=unit)

    ends = [
        _cancel(world, run, version=version).status
        for run, version in ((waiting, 2), (failed, 2), (unknown, 2), (reviewed, 1))
    ]

    assert ends == [Status.CANCELLED] * 4


def test_the_reason_is_kept_sealed_and_nowhere_else(world: World, database: Database) -> None:
    run = world.open()

    _cancel(world, run, who=USER)

    with world.store() as store:
        [told] = store.interventions.newest(run.id, last=10)
    with world.store(OPERATOR) as store:
        [shown] = store.interventions.newest(run.id, last=10)
    with database.read(ACME) as session:
        events = list(AuditStore(session, ACME).links())
    assert (told.action, told.reason, told.by) == (InterventionKind.CANCEL, REASON, "user:user-1")
    assert (shown.reason, shown.by) == (None, "user:user-1")
    assert "withdrew" not in repr(events)


def test_what_waits_for_a_run_goes_with_it(world: World) -> None:
    run = world.open()
    world.submit(run)
    ask(world, run)
    with world.store() as store:
        now = world.clock()
        lease = Lease(run.id, 1, LeaseMode.FULL, "agent-1", now, now + timedelta(seconds=120))
        store.leases.keep(lease)

    _cancel(world, run)

    with world.store() as store:
        assert store.check_requests.of_run(run.id) == []
        assert store.leases.find(run.id) == replace(lease, released=True)
    for token in (1, None):
        with world.unit(AGENT, token=token) as unit, pytest.raises(ExecutionEnded):
            hold(ExecutionStore.of(unit), run.id, unit=unit)


def test_of_a_cancel_and_checkpoints_at_once_one_wins(world: World) -> None:
    run = world.open(LONE_AGENT)

    def race(number: int) -> bool:
        try:
            if number == 0:
                _cancel(world, run)
            else:
                world.move(run, Transition.ADVANCE, version=1, who=LONE_AGENT)
        except (Stale, ExecutionEnded):
            return False
        return True

    with ThreadPoolExecutor(6) as threads:
        won = list(threads.map(race, range(6)))

    assert won.count(True) == 1
    assert world.get(run, LONE_AGENT).version == 2
