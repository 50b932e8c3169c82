"""Asking for checks: what waits for graders, for how long, and who sees it."""

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path

import pytest
from acceptance_world import OTHER_ARTIFACT, ask, fail
from conftest import FixedClock
from executions_world import (
    ARTIFACT,
    COLLEAGUE,
    GRADER,
    STRANGER,
    USER,
    World,
    caller,
    open_world,
)

from service.core.database import Database
from service.core.errors import NotFound
from service.core.paging import page_request
from service.executions.acceptance.model import CheckRequest, FailureKind
from service.executions.cancel import cancel
from service.executions.model import Execution
from service.executions.refusals import (
    ActingUserOnly,
    CandidateMissing,
    ExecutionEnded,
    RequirementUnknown,
)
from service.identity.model import Caller, Role


@pytest.fixture
def world(database: Database, tmp_path: Path, clock: FixedClock) -> Iterator[World]:
    with open_world(database, tmp_path, clock) as world:
        yield world


def _listed(
    world: World, *, who: Caller = GRADER, limit: int = 100, **filters: str
) -> Sequence[CheckRequest]:
    """All open requests, page by page."""
    found: list[CheckRequest] = []
    cursor = None
    while True:
        request = page_request(limit, cursor, tenant_id=who.tenant_id, filters=())
        with world.store(who) as store:
            page = store.page_check_requests(request, **filters)
        found += [asked for asked, _ in page.items]
        cursor = page.next_cursor
        if cursor is None:
            return found


def _waiting(world: World, run: Execution) -> list[str]:
    return [one.requirement for one in _listed(world, execution_id=run.id)]


def test_a_request_waits_once_and_bound_to_candidate_and_contract(world: World) -> None:
    run = world.open()
    world.submit(run)

    [first], is_new = ask(world, run, "login", "login")
    [again], is_new_again = ask(world, run, "login", who=USER)

    assert (is_new, is_new_again) == (True, False)
    assert again == first
    assert (first.artifact_hash, first.contract_hash, first.by) == (ARTIFACT, run.contract_hash, "agent-1")
    assert _listed(world) == [first]


def test_asking_for_nothing_by_name_asks_for_all_that_has_not_passed(world: World) -> None:
    run = world.open()
    world.submit(run)
    world.grade(run, "login")

    asked, _ = ask(world, run)
    fail(world, run, "orders")
    asked_again, is_new = ask(world, run)

    assert [one.requirement for one in asked] == [one.requirement for one in asked_again] == ["orders"]
    assert is_new


def test_a_request_is_refused_without_a_candidate_and_for_an_unknown_requirement(world: World) -> None:
    run = world.open()

    with pytest.raises(CandidateMissing):
        ask(world, run, "login")
    world.submit(run)
    with pytest.raises(RequirementUnknown) as refused:
        ask(world, run, "login", "speed")
    for who, refusal in ((COLLEAGUE, ActingUserOnly), (STRANGER, NotFound)):
        with pytest.raises(refusal):
            ask(world, run, "login", who=who)
    assert [fault["pointer"] for fault in refused.value.extra["errors"]] == ["/requirements/1"]
    assert _listed(world) == []


def test_a_request_goes_with_its_answer_and_may_be_made_again(world: World) -> None:
    run = world.open()
    world.submit(run)
    ask(world, run)

    fail(world, run, "login", FailureKind.FLAKY)
    after_answer = _waiting(world, run)
    ask(world, run, "login")

    assert after_answer == ["orders"]
    assert _waiting(world, run) == ["orders", "login"]


def test_an_answer_on_an_earlier_candidate_leaves_the_request_of_the_present_one(world: World) -> None:
    run = world.open()
    world.submit(run)
    ask(world, run, "login")
    world.submit(run, OTHER_ARTIFACT)
    after_new_candidate = _waiting(world, run)
    ask(world, run, "login")

    fail(world, run, "login", artifact_hash=ARTIFACT)

    assert after_new_candidate == []
    assert [one.artifact_hash for one in _listed(world)] == [OTHER_ARTIFACT]


@pytest.mark.parametrize("end", ["cancelled", "completed", "expired"])
def test_requests_of_a_run_that_has_ended_are_not_listed(world: World, clock: FixedClock, end: str) -> None:
    run = world.open(deadline=clock() + timedelta(hours=1))
    world.submit(run)
    ask(world, run)

    if end == "cancelled":
        with world.unit(USER) as unit:
            cancel(run.id, reason="not wanted", expected_version=1, unit=unit)
    elif end == "completed":
        for requirement in ("login", "orders"):
            world.grade(run, requirement)
    else:
        clock.advance(hours=1)

    assert world.get(run).status == end
    assert _listed(world) == []
    with pytest.raises(ExecutionEnded):
        ask(world, run, "login")


def test_graders_see_the_requests_of_their_projects_page_by_page(world: World) -> None:
    runs = [world.open() for _ in range(3)]
    for run in runs:
        world.submit(run)
        ask(world, run)

    every = _listed(world, limit=2)

    assert [one.execution_id for one in every] == [run.id for run in runs for _ in range(2)]
    assert len({one.id for one in every}) == 6
    assert len(_listed(world, limit=1, requirement="login")) == 3
    assert _listed(world, who=caller("grader-2", role=Role.GRADER, projects=())) == []
    assert _listed(world, who=STRANGER) == []


def test_of_many_who_ask_at_once_one_makes_the_request(world: World) -> None:
    run = world.open()
    world.submit(run)

    with ThreadPoolExecutor(8) as threads:
        answers = list(threads.map(lambda _: ask(world, run, "login"), range(8)))

    assert [is_new for _, is_new in answers].count(True) == 1
    assert len({asked[0].id for asked, _ in answers}) == 1
    assert len(_listed(world)) == 1
