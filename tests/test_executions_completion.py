"""A run is completed when a resume would find that all holds, by whatever takes away the last obstacle."""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from conftest import FixedClock
from executions_world import (
    AGENT,
    ALPHA,
    ARTIFACT,
    COLLEAGUE,
    OPERATOR,
    USER,
    World,
    open_world,
)
from resume_world import decision, settle_by_operator
from test_executions_schemas import rewrite
from test_resume_sources import keep, rest_on, summarise_all

from service.context.references import RecordReferences
from service.core.database import Database
from service.executions.approvals.model import NewApproval
from service.executions.ask import ask
from service.executions.ledger.model import EffectStatus
from service.executions.model import STATE_SCHEMA_VERSION, Execution, Requirement, Status
from service.executions.withdraw import withdraw
from service.executions.work.model import DeclaredTask
from service.identity.model import Caller
from service.identity.store import IdentityStore

HERE = {"commit": "4be1c07"}
PAYMENT = {"kind": "payments.create", "amount": 5}


@pytest.fixture
def world(database: Database, tmp_path: Path, clock: FixedClock) -> Iterator[World]:
    with open_world(database, tmp_path, clock) as opened:
        yield opened


def begin(world: World) -> Execution:
    """Open a run that one check of its candidate completes, unless something stands in the way."""
    run = world.open(requirements=(Requirement("login", "Login works"),))
    world.submit(run)
    return run


def now_says(world: World, run: Execution) -> str:
    return decision(world, run, artifact_hash=ARTIFACT, environment=HERE)


def ask_to_pay(world: World, run: Execution) -> str:
    new = NewApproval(PAYMENT, expires_at=world.clock() + timedelta(minutes=10))
    with world.unit() as unit:
        return ask(run.id, new, unit=unit, bundle=world.bundle)[0].id


def cancel_approval(world: World, approval_id: str, who: Caller) -> None:
    with world.unit(who) as unit:
        withdraw(approval_id, unit=unit, bundle=world.bundle, references=RecordReferences)


def test_a_state_whose_source_has_moved_keeps_the_run_open_until_a_checkpoint_rests_on_it(
    world: World,
) -> None:
    run, evidence_id = begin(world), keep(world, "Plot 18: outline consent.")
    rest_on(world, run, f"evidence:{evidence_id}")
    keep(world, "Plot 18: consent refused.")

    assert world.grade(run).status is Status.RUNNING
    assert now_says(world, run) == f"refresh:{evidence_id}"

    assert rest_on(world, run, f"evidence:{evidence_id}", version=2).status is Status.COMPLETED


@pytest.mark.parametrize("who", [AGENT, USER, OPERATOR], ids=lambda who: who.role.value)
def test_an_approval_that_lapsed_keeps_the_run_open_until_it_is_cancelled(world: World, who: Caller) -> None:
    run = begin(world)
    approval_id = ask_to_pay(world, run)
    world.clock.advance(minutes=11)

    assert world.grade(run).status is Status.OPEN
    assert now_says(world, run) == f"reapprove:{approval_id}"

    cancel_approval(world, approval_id, who)
    assert world.get(run).status is Status.COMPLETED


def test_a_newer_request_is_a_way_out_too_and_the_next_resume_completes(world: World) -> None:
    run = begin(world)
    ask_to_pay(world, run)
    world.clock.advance(minutes=11)
    world.grade(run)

    ask_to_pay(world, run)

    assert now_says(world, run) == "completed"
    assert world.get(run).status is Status.COMPLETED


def test_the_last_undone_task_completes_a_run_that_was_checked_before(world: World) -> None:
    run = begin(world)
    world.plan(run, DeclaredTask("read"), DeclaredTask("draft"), version=1)
    world.step(run, "read")
    assert world.grade(run).status is Status.OPEN
    assert now_says(world, run) == "continue:draft"

    step, is_new = world.step(run, "draft")

    assert (step.task_id, is_new, world.get(run).status) == ("draft", True, Status.COMPLETED)


def test_a_summary_of_what_has_moved_keeps_the_run_open_until_there_is_another(world: World) -> None:
    run, evidence_id = begin(world), keep(world, "Plot 18: outline consent.")
    world.say(run, "What is the status of plot 18?")
    first = summarise_all(world, run, f"evidence:{evidence_id}")
    keep(world, "Plot 18: consent refused.")
    assert world.grade(run).status is Status.OPEN
    assert now_says(world, run) == f"refresh:{first}"

    summarise_all(world, run, f"evidence:{evidence_id}")

    assert now_says(world, run) == "completed"
    assert world.get(run).status is Status.COMPLETED


def test_a_reconciliation_completes_nothing_that_resume_would_not(world: World) -> None:
    run, evidence_id = begin(world), keep(world, "Plot 18: outline consent.")
    moved = rest_on(world, run, f"evidence:{evidence_id}")
    world.intend(run)
    world.settle(run, EffectStatus.DISPATCHED)
    world.grade(run)
    keep(world, "Plot 18: consent refused.")

    settle_by_operator(world, run, "order-8")

    assert world.get(run).status is moved.status
    assert rest_on(world, run, f"evidence:{evidence_id}", version=2).status is Status.COMPLETED


def test_what_the_grader_may_not_read_stands_in_nobodys_way(world: World) -> None:
    evidence_id = keep(world, "For the acting user only.", readers=("user:user-1",))
    run = begin(world)
    rest_on(world, run, f"evidence:{evidence_id}")

    assert world.grade(run).status is Status.COMPLETED


def test_what_the_worker_may_read_no_more_keeps_the_run_open_whoever_grades(world: World) -> None:
    run, evidence_id = begin(world), keep(world, "Readable by all.", who=COLLEAGUE)
    moved = rest_on(world, run, f"evidence:{evidence_id}")
    keep(world, "Now for one reader.", who=COLLEAGUE, readers=("user:user-2",))

    assert world.grade(run).status is moved.status
    assert now_says(world, run) == f"refresh:{evidence_id}"
    assert rest_on(world, run, version=2).status is Status.COMPLETED


def test_a_run_whose_acting_user_may_enter_no_more_is_not_completed(world: World) -> None:
    run = begin(world)
    with world.unit() as unit:
        IdentityStore.of(unit).remove_member(ALPHA.id, "user-1")

    assert world.grade(run).status is Status.OPEN

    with world.unit() as unit:
        IdentityStore.of(unit).add_member(ALPHA.id, "user-1", now=unit.now)
    assert now_says(world, run) == "completed"


def test_a_source_in_a_run_of_a_newer_release_refuses_no_check(world: World) -> None:
    other, run = world.open(), begin(world)
    turn, _ = world.say(other, "Keep every reply short.")
    moved = rest_on(world, run, f"turn:{turn.id}")
    rewrite(world, other, STATE_SCHEMA_VERSION + 1)

    assert world.grade(run).status is moved.status

    rewrite(world, other, STATE_SCHEMA_VERSION)
    assert now_says(world, run) == "completed"
