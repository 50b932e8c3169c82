"""Moving runs: one transition at a time, budgets, deadlines, and one winner."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from decimal import Decimal
from pathlib import Path

import pytest
from conftest import FixedClock
from executions_world import ACME, AGENT, SEEN, STRANGER, World, open_world
from sqlalchemy.exc import IntegrityError

from service.core.database import Database
from service.core.errors import Stale
from service.core.paging import PageRequest, page_request
from service.executions.model import Budgets, Execution, Status, Transition
from service.executions.refusals import (
    BudgetExhausted,
    CostTooLarge,
    ExecutionEnded,
    StateTooLarge,
    StepBackwards,
    TransitionRefused,
)
from service.executions.tables import CheckpointRow
from service.identity.model import Caller


@pytest.fixture
def world(database: Database, tmp_path: Path, clock: FixedClock) -> Iterator[World]:
    with open_world(database, tmp_path, clock) as world:
        yield world


def _page(limit: int = 100) -> PageRequest:
    return page_request(limit, None, tenant_id="t", filters=())


def test_a_move_keeps_its_state_and_the_next_one_may_leave_it_out(world: World) -> None:
    run = world.open()
    state = {"plan": ["read"], "big": 2**63 - 1, "deep": {"ключ": [None, 1.5, True]}}

    world.move(run, Transition.ADVANCE, version=1, state=state, step=1, cost=Decimal("0.12"))
    moved = world.move(run, Transition.ADVANCE, version=2, cost=Decimal("0.000001"))

    with world.store() as store:
        assert store.latest_state(run.id) == state
    assert (moved.version, moved.step, moved.cost_used) == (3, 1, Decimal("0.120001"))


def test_of_twenty_moves_from_one_version_exactly_one_is_taken(world: World) -> None:
    run = world.open()

    def attempt(step: int) -> str:
        try:
            moved = world.move(run, Transition.ADVANCE, version=1, step=step, cost=Decimal(1))
        except Stale as refused:
            return f"refused, now at {refused.extra['current_version']}"
        return f"taken as {moved.version}"

    with ThreadPoolExecutor(20) as pool:
        outcomes = list(pool.map(attempt, range(20)))

    found = world.get(run)
    assert sorted(outcomes) == ["refused, now at 2"] * 19 + ["taken as 2"]
    assert (found.version, found.cost_used) == (2, Decimal(1))


def test_a_step_never_goes_backwards(world: World) -> None:
    run = world.open()
    world.move(run, Transition.ADVANCE, version=1, step=3)

    with pytest.raises(StepBackwards):
        world.move(run, Transition.ADVANCE, version=2, step=2)
    assert world.get(run).version == 2


def test_cost_past_the_budget_is_recorded_and_only_wait_and_fail_are_left(world: World) -> None:
    run = world.open(budgets=Budgets(cost=Decimal("1.00")))

    at_limit = world.move(run, Transition.ADVANCE, version=1, cost=Decimal("1.00"))
    past = world.move(run, Transition.ADVANCE, version=2, cost=Decimal("0.01"))

    assert (at_limit.cost_used, past.cost_used) == (Decimal("1.00"), Decimal("1.01"))
    for refused in (Transition.ADVANCE, Transition.FINISH):
        with pytest.raises(BudgetExhausted):
            world.move(run, refused, version=3)
    assert world.move(run, Transition.WAIT, version=3, cost=Decimal(1)).cost_used == Decimal("2.01")
    assert world.move(run, Transition.FAIL, version=4).status is Status.FAILED


def test_a_step_past_its_budget_is_not_taken(world: World) -> None:
    run = world.open(budgets=Budgets(steps=2))
    world.move(run, Transition.ADVANCE, version=1, step=2)

    with pytest.raises(BudgetExhausted):
        world.move(run, Transition.ADVANCE, version=2, step=3)


def test_a_cost_beyond_what_can_be_counted_is_refused(world: World) -> None:
    run = world.open()
    most = Decimal("999999999999.999999")
    for version in range(1, 10):
        world.move(run, Transition.ADVANCE, version=version, cost=most)

    with pytest.raises(CostTooLarge):
        world.move(run, Transition.ADVANCE, version=10, cost=most)


def test_a_state_beyond_64_kib_is_refused_by_its_bytes(world: World) -> None:
    run = world.open()
    fits = {"a": "é" * (32 * 1024 - 4)}

    world.move(run, Transition.ADVANCE, version=1, state=fits)
    with pytest.raises(StateTooLarge):
        world.move(run, Transition.ADVANCE, version=2, state={"a": fits["a"] + "é"})


def _ended(world: World, clock: FixedClock) -> Execution:
    run = world.open(deadline=clock.now + timedelta(hours=1))
    clock.advance(hours=1)
    return run


def test_past_its_deadline_a_run_is_expired_and_immutable(world: World, clock: FixedClock) -> None:
    run = _ended(world, clock)

    assert world.get(run).status is Status.EXPIRED
    with pytest.raises(ExecutionEnded):
        world.move(run, Transition.START, version=1)
    with pytest.raises(ExecutionEnded):
        world.say(run, "hello")
    with world.store() as store:
        assert [one.id for one in store.page(_page(), status=Status.EXPIRED).items] == [run.id]
        assert store.page(_page(), status=Status.OPEN).items == []


def test_a_failed_run_may_be_retried_and_nothing_else(world: World) -> None:
    run = world.open()
    world.move(run, Transition.FAIL, version=1)

    with pytest.raises(TransitionRefused):
        world.move(run, Transition.ADVANCE, version=2)
    assert world.move(run, Transition.RETRY, version=2).status is Status.RUNNING


def test_the_database_itself_refuses_forks_other_tenants_and_steps_below_zero(world: World) -> None:
    run = world.open()
    world.move(run, Transition.START, version=1)
    fine = {
        "tenant_id": ACME, "execution_id": run.id, "version": 3, "transition": "advance", "status": "running",
        "step": 0, "cost_micros": 0, "schema_version": 1, "derived_from": [], "by": "x", "created_at": SEEN,
    }  # fmt: skip

    for fault in ({"version": 2}, {"tenant_id": STRANGER.tenant_id}, {"step": -1}):
        who = STRANGER if "tenant_id" in fault else AGENT
        with pytest.raises(IntegrityError):
            _insert(world, who, fine | fault)
    _insert(world, AGENT, fine)


def _insert(world: World, who: Caller, fields: dict[str, object]) -> None:
    with world.unit(who) as unit:
        unit.session.add(CheckpointRow(**fields))
