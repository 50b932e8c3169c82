"""Candidates and checks: when a run is completed, and by whose word."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from conftest import FixedClock
from executions_world import (
    ARTIFACT,
    BUNDLE,
    GRADER,
    STRANGER,
    USER,
    World,
    caller,
    open_world,
)

from service.core.database import Database
from service.core.errors import NotFound
from service.core.hashing import hash_text
from service.executions.acceptance.model import FailureKind
from service.executions.ledger.model import EffectStatus
from service.executions.model import Status, Transition
from service.executions.refusals import (
    CandidateUnknown,
    ContractDiffers,
    ExecutionEnded,
    FailureUnexplained,
    GraderDiffers,
    RequirementUnknown,
)
from service.executions.work.model import DeclaredTask
from service.identity.model import Role
from service.policies.model import Stopping
from service.policies.words import ContractConfirmation

OTHER_ARTIFACT = hash_text("build 18")


@pytest.fixture
def world(database: Database, tmp_path: Path, clock: FixedClock) -> Iterator[World]:
    with open_world(database, tmp_path, clock) as world:
        yield world


def test_all_candidates_are_kept_and_the_last_is_the_present_one(world: World) -> None:
    run = world.open()

    new = [world.submit(run, artifact) for artifact in (ARTIFACT, ARTIFACT, OTHER_ARTIFACT, ARTIFACT)]

    with world.store() as store:
        found = [candidate.artifact_hash for candidate in store.candidates(run.id)]
    assert new == [True, False, True, True]
    assert found == [ARTIFACT, OTHER_ARTIFACT, ARTIFACT]


def test_the_last_passing_check_completes_the_run(world: World) -> None:
    run = world.open()
    world.submit(run)

    assert world.grade(run, "login").status is Status.OPEN
    assert world.grade(run, "orders").status is Status.COMPLETED
    assert world.get(run).version == 1
    with pytest.raises(ExecutionEnded):
        world.move(run, Transition.ADVANCE, version=1)
    with pytest.raises(ExecutionEnded):
        world.grade(run, "login")


def test_an_empty_contract_never_completes(world: World) -> None:
    run = world.open(requirements=())
    world.submit(run)

    assert world.move(run, Transition.FINISH, version=1).status is Status.RUNNING


def test_undone_tasks_and_unknown_effects_keep_a_run_from_completing(world: World) -> None:
    run = world.open()
    world.plan(run, DeclaredTask("only"), version=1)
    world.intend(run)
    world.settle(run, EffectStatus.DISPATCHED)
    world.submit(run)
    checked = [world.grade(run, name).status for name in ("login", "orders")]

    world.step(run, "only")
    with_effect = world.move(run, Transition.FINISH, version=2).status
    world.settle(run, EffectStatus.COMMITTED)
    finished = world.move(run, Transition.FINISH, version=3).status

    assert (checked, with_effect) == ([Status.OPEN, Status.OPEN], Status.RUNNING)
    assert finished is Status.COMPLETED


def test_checks_of_an_older_candidate_do_not_complete(world: World) -> None:
    run = world.open()
    world.submit(run)
    world.grade(run, "login")
    world.submit(run, OTHER_ARTIFACT)

    assert world.grade(run, "orders").status is Status.OPEN
    assert [one.status for one in world.facts(run).standings] == ["stale", "stale"]


def test_a_contract_of_an_agent_waits_for_a_person_where_the_policy_says_so(world: World) -> None:
    rule = Stopping(contract_confirmation=ContractConfirmation.AGENT_WRITTEN)
    world.bundle = BUNDLE.model_copy(update={"stopping": rule})
    by_agent, by_person = world.open(), world.open(USER)
    for run in (by_agent, by_person):
        world.submit(run)
        world.grade(run, "login")

    assert world.grade(by_agent, "orders").status is Status.OPEN
    assert world.grade(by_person, "orders").status is Status.COMPLETED
    assert world.confirm(by_agent, caller("reviewer-1", role=Role.REVIEWER)).status is Status.COMPLETED


def test_a_check_is_bound_to_its_requirement_candidate_contract_and_grader(world: World) -> None:
    named = replace(world.open().requirements[0], grader="browser")
    run = world.open(requirements=(named,))
    world.submit(run)

    for refusal, fields in (
        (RequirementUnknown, {"requirement": "speed"}),
        (CandidateUnknown, {"artifact_hash": OTHER_ARTIFACT}),
        (ContractDiffers, {"contract_hash": hash_text("another")}),
        (GraderDiffers, {"grader_id": "myself"}),
        (FailureUnexplained, {"passed": False, "expected": "200", "observed": "403"}),
    ):
        with pytest.raises(refusal):
            world.grade(run, **fields)
    for who in (caller("grader-1", role=Role.GRADER, projects=()), STRANGER):
        with pytest.raises(NotFound):
            world.grade(run, who=who)
    with world.store(GRADER) as store:
        assert store.checks(run.id) == []


def test_a_failed_check_explains_itself_and_blocks(world: World) -> None:
    run = world.open()
    world.submit(run)
    told = {"expected": "200", "observed": "403", "reproduce": "sign in"}

    world.grade(run, passed=False, failure_kind=FailureKind.PERMISSION, **told)

    with world.store() as store:
        [check] = store.checks(run.id)
    assert (check.expected, check.observed, check.reproduce) == ("200", "403", "sign in")
    assert check.environment == {"commit": "4be1c07"}
    assert world.facts(run).standings[0].check_id == check.id
