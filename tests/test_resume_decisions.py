"""The order of recovery, on a real record: the first step that holds is the answer."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import FixedClock
from executions_world import ARTIFACT, BUNDLE, World, open_world
from resume_world import decision, settle_by_operator, take

from service.core.database import Database
from service.core.hashing import hash_text
from service.executions.acceptance.model import FailureKind
from service.executions.delivery.model import Outcome
from service.executions.leases.model import LeaseMode
from service.executions.ledger.model import EffectStatus
from service.executions.model import Budgets, Execution, Requirement, Status, Transition
from service.executions.recovery.model import MODES, Verb
from service.executions.work.model import DeclaredTask, ExitStatus
from service.policies.words import ContractConfirmation

REBUILT = hash_text("build 18")
HERE = {"commit": "4be1c07"}


@pytest.fixture
def world(database: Database, tmp_path: Path, clock: FixedClock) -> Iterator[World]:
    with open_world(database, tmp_path, clock) as opened:
        yield opened


def dispatch(world: World, run: Execution, operation_id: str) -> None:
    world.intend(run, operation_id)
    world.settle(run, EffectStatus.DISPATCHED, operation=operation_id)


def test_the_reference_run_gives_revalidate_then_reconcile_then_verify(world: World) -> None:
    run = world.open()
    world.submit(run, ARTIFACT)
    world.grade(run, "login")
    dispatch(world, run, "seed-order-8")

    changed = take(world, run, artifact_hash=REBUILT, environment=HERE)
    unknown = take(world, run, artifact_hash=ARTIFACT, environment=HERE)
    settle_by_operator(world, run, "seed-order-8")
    missing = take(world, run, artifact_hash=ARTIFACT, environment=HERE)

    assert [str(one.decision) for one in (changed, unknown, missing)] == [
        "revalidate",
        "reconcile:seed-order-8",
        "verify:orders",
    ]
    counted = [reason.ref for reason in changed.decision.reasons if reason.code == "check_no_longer_counts"]
    assert len(counted) == 1


def test_what_is_recorded_and_not_given_is_revalidated(world: World) -> None:
    run = world.open()
    world.submit(run, ARTIFACT)
    world.grade(run, "login")

    def codes(**found: Any) -> set[str]:
        return {reason.code for reason in take(world, run, **found).decision.reasons}

    assert codes(artifact_hash=ARTIFACT, contract_hash=None) >= {"contract_hash_not_given"}
    assert codes() >= {"artifact_hash_not_given", "environment_not_given"}
    assert codes(artifact_hash=ARTIFACT, environment={"commit": "f00"}) == {"environment_differs"}
    assert decision(world, run, artifact_hash=ARTIFACT, environment=HERE) == "verify:orders"


def test_an_artifact_that_was_written_and_never_submitted_is_submitted_first(world: World) -> None:
    run = world.open()

    first = take(world, run, artifact_hash=ARTIFACT)

    assert str(first.decision) == "revalidate"
    assert [reason.code for reason in first.decision.reasons] == ["artifact_not_submitted"]


def test_checks_of_another_environment_count_again_when_that_is_found_again(world: World) -> None:
    run = world.open()
    world.submit(run, ARTIFACT)
    world.grade(run, "login", environment={"commit": "a"})
    token = take(world, run, artifact_hash=ARTIFACT, environment={"commit": "b"}).lease
    assert token is not None

    checks = {one.requirement: one.status.value for one in world.facts(run).standings}
    again = take(world, run, token=token.fencing_token, artifact_hash=ARTIFACT, environment={"commit": "a"})

    assert checks["login"] == "stale"
    assert str(again.decision) == "verify:orders"
    assert {one.requirement: one.status.value for one in world.facts(run).standings}["login"] == "passed"


def test_an_escalated_effect_goes_after_an_unknown_one_and_before_everything_else(world: World) -> None:
    run = world.open()
    dispatch(world, run, "first")
    dispatch(world, run, "second")
    settle_by_operator(world, run, "first", Outcome.UNDETERMINED)

    assert decision(world, run) == "reconcile:second"
    settle_by_operator(world, run, "second")
    assert decision(world, run) == "escalated:first"


def test_a_started_task_goes_before_one_that_is_only_declared(world: World) -> None:
    run = world.open()
    world.plan(run, DeclaredTask("read"), DeclaredTask("draft"), version=1)
    assert decision(world, run) == "continue:read"

    world.step(run, "draft", ExitStatus.STARTED)

    assert decision(world, run) == "continue:draft"
    world.step(run, "aside", ExitStatus.STARTED)
    assert decision(world, run) == "continue:aside"


def test_a_failed_run_that_holds_everything_is_completed_by_its_retry(world: World) -> None:
    run = world.open()
    world.submit(run, ARTIFACT)
    world.grade(run, "login")
    world.move(run, Transition.FAIL, version=1)
    world.grade(run, "orders")
    assert decision(world, run, artifact_hash=ARTIFACT, environment=HERE) == "continue:objective"

    assert world.move(run, Transition.RETRY, version=2).status is Status.COMPLETED

    assert decision(world, run) == "ended:completed"


def test_an_empty_contract_never_completes(world: World) -> None:
    run = world.open(requirements=())

    assert decision(world, run) == "continue:objective"
    assert world.get(run).status is Status.OPEN


def test_a_contract_that_nobody_confirmed_is_confirmed_last(world: World) -> None:
    stopping = BUNDLE.stopping.model_copy(update={"contract_confirmation": ContractConfirmation.ALWAYS})
    world.bundle = BUNDLE.model_copy(update={"stopping": stopping})
    run = world.open(requirements=(Requirement("login", "Login works"),))
    world.submit(run, ARTIFACT)
    world.grade(run, "login")

    assert decision(world, run, artifact_hash=ARTIFACT, environment=HERE) == "verify:contract"


def test_more_failures_than_revisions_escalate(world: World) -> None:
    run = world.open(budgets=Budgets(revisions=1))
    world.submit(run, ARTIFACT)
    fail(world, run)
    assert decision(world, run, artifact_hash=ARTIFACT) == "verify:login"

    fail(world, run)

    escalated = take(world, run, artifact_hash=ARTIFACT)
    assert (str(escalated.decision), escalated.lease) == ("escalate:login", None)


def test_a_lease_is_full_where_work_may_go_on_and_for_recovery_before_that(world: World) -> None:
    run, other = world.open(), world.open()
    dispatch(world, other, "order-8")

    full, recovery = take(world, run).lease, take(world, other).lease

    assert full is not None
    assert recovery is not None
    assert (full.mode, recovery.mode) == (LeaseMode.FULL, LeaseMode.RECOVERY)
    assert MODES[Verb.REFRESH] is MODES[Verb.REAPPROVE] is MODES[Verb.REVALIDATE] is LeaseMode.RECOVERY
    assert MODES[Verb.ESCALATE] is MODES[Verb.ENDED] is MODES[Verb.COMPLETED] is None


def fail(world: World, run: Execution) -> None:
    world.grade(
        run,
        passed=False,
        expected="the start page",
        observed="500",
        reproduce="sign in",
        failure_kind=FailureKind.WRONG_RESULT,
    )
