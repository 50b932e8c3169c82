"""Affected-only revalidation in a run: what the log and the request say decides which checks still count."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from acceptance_world import (
    LOGIN,
    ORDERS,
    OTHER_ARTIFACT,
    ask,
    fail,
    find_environment,
    standing,
    submit_made_of,
)
from conftest import FixedClock
from executions_world import ARTIFACT, BUNDLE, OPERATOR, World, open_world

from service.core.database import Database
from service.executions.acceptance.model import CheckStatus
from service.executions.handoff import compose_handoff
from service.executions.model import Status, Transition
from service.policies.words import Revalidation


@pytest.fixture
def world(database: Database, tmp_path: Path, clock: FixedClock) -> Iterator[World]:
    with open_world(database, tmp_path, clock) as world:
        yield world


def test_only_what_changed_is_checked_again_and_the_run_completes(world: World) -> None:
    run = world.open(requirements=(LOGIN, ORDERS))
    submit_made_of(world, run, ARTIFACT, src__login="a", src__orders="b", schema_sql="c")
    world.grade(run, "login")
    fail(world, run, "orders")

    submit_made_of(world, run, OTHER_ARTIFACT, src__login="a", src__orders="mended", schema_sql="c")
    login, orders = standing(world, run), standing(world, run, "orders")
    asked, _ = ask(world, run)
    completed = world.grade(run, "orders", artifact_hash=OTHER_ARTIFACT)

    assert (login.status, login.carried_from) == (CheckStatus.PASSED, ARTIFACT)
    assert (orders.status, orders.carried_from) == (CheckStatus.STALE, None)
    assert [one.requirement for one in asked] == ["orders"]
    assert completed.status is Status.COMPLETED


def test_the_last_check_of_an_earlier_candidate_completes_a_run_while_it_is_carried(world: World) -> None:
    run = world.open(requirements=(LOGIN, ORDERS))
    made_of = {"src__login": "a", "src__orders": "b", "schema_sql": "c"}
    submit_made_of(world, run, ARTIFACT, **made_of)
    world.grade(run, "login")
    submit_made_of(world, run, OTHER_ARTIFACT, **made_of)
    world.grade(run, "orders", artifact_hash=ARTIFACT)

    assert world.get(run).status is Status.COMPLETED
    assert [one.carried_from for one in compose_handoff(world.facts(run)).checks] == [ARTIFACT, ARTIFACT]


def test_the_log_tells_what_an_artifact_was_made_of_and_the_request_overrules_it(world: World) -> None:
    run = world.open(requirements=(LOGIN, ORDERS))
    world.step(run, "write-login", makes={"src/login": "a"})
    submit_made_of(world, run, ARTIFACT)
    world.grade(run, "login")

    submit_made_of(world, run, OTHER_ARTIFACT)
    by_log = standing(world, run)
    submit_made_of(world, run, ARTIFACT, src__login="changed by hand")
    submit_made_of(world, run, OTHER_ARTIFACT, src__login="changed by hand")
    by_request = standing(world, run)

    assert (by_log.status, by_log.carried_from) == (CheckStatus.PASSED, ARTIFACT)
    assert by_request.status is CheckStatus.STALE


def test_submitting_the_present_candidate_again_changes_nothing_of_it(world: World) -> None:
    run = world.open(requirements=(LOGIN,))
    first = submit_made_of(world, run, ARTIFACT, src__login="a")

    assert submit_made_of(world, run, ARTIFACT, src__login="b") == first


def test_a_policy_of_full_revalidation_carries_nothing_over(world: World) -> None:
    stopping = BUNDLE.stopping.model_copy(update={"revalidation": Revalidation.FULL})
    world.bundle = BUNDLE.model_copy(update={"stopping": stopping})
    run = world.open(requirements=(LOGIN, ORDERS))
    submit_made_of(world, run, ARTIFACT, src__login="a")
    world.grade(run, "login")
    submit_made_of(world, run, OTHER_ARTIFACT, src__login="a")

    assert standing(world, run).status is CheckStatus.STALE


def test_requirements_stand_alike_for_those_who_may_not_read_their_texts(world: World) -> None:
    run = world.open(requirements=(LOGIN, ORDERS))
    submit_made_of(world, run, ARTIFACT, src__login="a")
    world.grade(run, "login", environment={"commit": "1"})
    find_environment(world, run, commit="1")
    submit_made_of(world, run, OTHER_ARTIFACT, src__login="a")

    assert world.facts(run, OPERATOR).standings == world.facts(run).standings
    assert world.facts(run, OPERATOR).execution.requirements == ()
    assert standing(world, run).carried_from == ARTIFACT


def test_a_check_in_another_environment_than_the_one_found_neither_counts_nor_completes(
    world: World,
) -> None:
    run = world.open()
    world.submit(run)
    world.grade(run, "login", environment={"commit": "1"})
    find_environment(world, run, commit="2")
    stale = standing(world, run).status

    waiting = world.grade(run, "orders", environment={"commit": "2"})
    asked, _ = ask(world, run)
    finished = world.move(run, Transition.FINISH, version=1)
    completed = world.grade(run, "login", environment={"commit": "2"})

    assert (stale, waiting.status, finished.status) == (CheckStatus.STALE, Status.OPEN, Status.RUNNING)
    assert [one.requirement for one in asked] == ["login"]
    assert completed.status is Status.COMPLETED
