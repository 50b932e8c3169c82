"""Runs: opening, finding, reading, and who may."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from conftest import FixedClock
from executions_world import (
    ACME,
    AGENT,
    COLLEAGUE,
    LONE_AGENT,
    OPERATOR,
    OUTSIDER,
    STRANGER,
    USER,
    World,
    open_world,
)

from service.core.database import Database
from service.core.errors import Invalid, NotFound
from service.core.paging import PageRequest, page_request
from service.executions.model import ContractOrigin, Requirement, Status, Transition
from service.executions.refusals import (
    ActingUserDiffers,
    ActingUserOnly,
    ExternalRefTaken,
    RetentionClassUnknown,
)
from service.executions.rules import hash_contract


@pytest.fixture
def world(database: Database, tmp_path: Path, clock: FixedClock) -> Iterator[World]:
    with open_world(database, tmp_path, clock) as world:
        yield world


def _page(limit: int = 100) -> PageRequest:
    return page_request(limit, None, tenant_id="t", filters=())


def test_a_run_is_opened_for_the_credentials_subject(world: World) -> None:
    run = world.open(external_ref="order-app-42", acting_user="user-1")

    found = world.get(run)
    assert (found.version, found.status, found.acting_user, found.agent) == (1, "open", "user-1", "agent-1")
    assert found.contract_hash == hash_contract(run.objective or "", run.requirements)
    assert found == run


def test_the_contracts_origin_is_who_holds_the_credential(world: World) -> None:
    by_agent, by_person = world.open(AGENT), world.open(USER)

    assert (by_agent.contract_origin, by_agent.contract_confirmed) == (ContractOrigin.AGENT, False)
    assert (by_person.contract_origin, by_person.contract_confirmed) == (ContractOrigin.PERSON, True)


def test_an_acting_user_who_is_not_the_credentials_is_refused(world: World) -> None:
    with pytest.raises(ActingUserDiffers):
        world.open(acting_user="user-2")


def test_a_run_that_cannot_be_is_not_opened(world: World, clock: FixedClock) -> None:
    twice = (Requirement("a", "x"), Requirement("a", "y"))
    faults: list[tuple[type[Exception], dict[str, object]]] = [
        (NotFound, {"project": "beta"}),
        (RetentionClassUnknown, {"retention_class": "for-ever"}),
        (Invalid, {"requirements": twice}),
        (Invalid, {"deadline": clock.now}),
    ]

    for refusal, fields in faults:
        with pytest.raises(refusal):
            world.open(**fields)
    with world.store() as store:
        assert store.page(_page()).items == []


def test_an_external_reference_is_taken_once_in_a_project_and_names_its_run(world: World) -> None:
    run = world.open(external_ref="order-app-42")

    with pytest.raises(ExternalRefTaken) as refused:
        world.open(external_ref="order-app-42")
    assert refused.value.extra == {"execution_id": run.id}


def test_another_tenant_may_use_the_same_reference(world: World) -> None:
    world.open(external_ref="order-app-42")

    assert world.open(STRANGER, external_ref="order-app-42").version == 1


def test_of_many_openings_at_once_one_is_kept_and_the_others_name_it(world: World) -> None:
    def attempt(_: int) -> str:
        try:
            return world.open(external_ref="once").id
        except ExternalRefTaken as refused:
            return str(refused.extra["execution_id"])

    with ThreadPoolExecutor(8) as pool:
        found = set(pool.map(attempt, range(8)))

    with world.store() as store:
        assert {run.id for run in store.page(_page()).items} == found
    assert len(found) == 1


def test_runs_are_listed_newest_first_in_pages_that_miss_nothing(world: World) -> None:
    runs = [world.open().id for _ in range(5)]

    with world.store() as store:
        first = store.page(_page(2))
        rest = store.page(page_request(100, first.next_cursor, tenant_id="t", filters=()))
    assert [run.id for run in [*first.items, *rest.items]] == sorted(runs, reverse=True)


def test_a_fresh_session_finds_a_run_by_its_reference(world: World) -> None:
    run = world.open(external_ref="order-app-42")
    world.open()

    with world.store(USER) as store:
        found = store.page(_page(), external_ref="order-app-42", status=Status.OPEN)
    assert [one.id for one in found.items] == [run.id]


def test_a_run_of_another_tenant_or_project_does_not_exist(world: World) -> None:
    run = world.open()

    for who in (STRANGER, OUTSIDER):
        with pytest.raises(NotFound):
            world.get(run, who)
        with pytest.raises(NotFound):
            world.move(run, Transition.START, version=1, who=who)
        with world.store(who) as store:
            assert store.page(_page()).items == []


def test_an_id_that_never_was_is_not_found(world: World) -> None:
    with world.store() as store:
        for never in ("", "x", "\x00", "\ud800", "01936D7E-0000-7000-8000-00000000ACEE", ACME):
            with pytest.raises(NotFound):
                store.get(never)


def test_who_may_read_a_run_may_not_move_it(world: World) -> None:
    run = world.open()

    for who in (COLLEAGUE, LONE_AGENT):
        assert world.get(run, who).id == run.id
        with pytest.raises(ActingUserOnly):
            world.move(run, Transition.START, version=1, who=who)


def test_an_operator_sees_a_run_without_its_text(world: World) -> None:
    run = world.open()
    world.move(run, Transition.START, version=1, state={"plan": ["secret"]})

    with world.store(OPERATOR) as store:
        found = store.get(run.id)
        state = store.latest_state(run.id)
    assert (found.objective, found.requirements, state) == (None, (), {})
    assert (found.status, list(found.requirement_ids)) == (Status.RUNNING, ["login", "orders"])


def test_erasing_the_person_leaves_the_run_readable_without_text(world: World) -> None:
    run = world.open()
    world.move(run, Transition.START, version=1, state={"plan": ["secret"]})

    world.keys.destroy(AGENT.tenant_id, "user-1")

    with world.store() as store:
        assert [(one.id, one.objective) for one in store.page(_page()).items] == [(run.id, None)]
        assert store.latest_state(run.id) == {}


def test_nothing_of_a_runs_text_rests_in_the_clear(world: World) -> None:
    run = world.open(objective="canary objective", requirements=(Requirement("a", "canary requirement"),))
    world.move(run, Transition.START, version=1, state={"plan": "canary state"})

    with world.unit() as unit:
        raw = [
            str(row)
            for name in ("executions", "checkpoints", "audit_events")
            for row in unit.session.connection().exec_driver_sql(f"SELECT * FROM {name}")  # noqa: S608 - our names
        ]
    assert raw
    assert not any("canary" in row for row in raw)
