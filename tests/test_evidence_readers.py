"""Who may read evidence: the project first, labels inside it, and never more than both."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import FixedClock
from evidence_world import AGENT, ALPHA, BETA, REVIEWER, STRANGER, USER, World, caller, new, open_world

from service.core.database import Database
from service.core.errors import Forbidden, NotFound
from service.evidence.get import get_evidence
from service.evidence.model import ReaderUnknown
from service.evidence.store import EvidenceStore
from service.identity.model import Caller, Role

FOR_USER = caller(on_behalf_of="user-1")
FOR_ANOTHER = caller(on_behalf_of="user-2")
OUTSIDER = caller("user-9", role=Role.USER, projects=[BETA])
AUDITOR = caller("auditor-1", role=Role.AUDITOR, projects=[ALPHA, BETA])


@pytest.fixture
def world(database: Database, tmp_path: Path, clock: FixedClock) -> Iterator[World]:
    with open_world(database, tmp_path, clock) as opened:
        yield opened


def reads(world: World, evidence_id: str, who: Caller) -> bool:
    with world.unit(who) as unit:
        try:
            get_evidence(evidence_id, unit=unit)
        except NotFound:
            return False
    return True


def test_without_readers_all_of_the_project_read_and_nobody_else(world: World) -> None:
    kept = world.add(new("text"))

    assert all(reads(world, kept.id, who) for who in (AGENT, USER, REVIEWER, FOR_USER, AUDITOR))
    assert not any(reads(world, kept.id, who) for who in (OUTSIDER, STRANGER))


@pytest.mark.parametrize(
    ("reader", "readers"),
    [
        ("user:user-1", (USER, FOR_USER)),
        ("role:reviewer", (REVIEWER,)),
        # A delegated agent is not "an agent": what its user may not read, it may not read either.
        ("role:agent", (AGENT,)),
        ("role:user", (USER,)),
    ],
)
def test_a_label_opens_an_item_to_those_it_names(
    world: World, reader: str, readers: tuple[Caller, ...]
) -> None:
    kept = world.add(new("text", readers=(reader,)))
    everybody = (AGENT, USER, REVIEWER, FOR_USER, FOR_ANOTHER, AUDITOR, STRANGER)

    assert {who.principal for who in everybody if reads(world, kept.id, who)} == {
        who.principal for who in readers
    }
    assert [who for who in everybody if world.passages(kept, who)] == [
        who for who in everybody if who in readers
    ]


def test_a_label_never_widens_what_the_project_allows(world: World) -> None:
    both = caller(projects=[ALPHA, BETA])
    kept = world.add(new("text", readers=("user:user-9", "project:beta")), both)

    assert not reads(world, kept.id, OUTSIDER)
    assert world.passages(kept, OUTSIDER) == []
    assert reads(world, kept.id, both)


@pytest.mark.parametrize("reader", ["project:beta", "project:nowhere", "project:01936d7e"])
def test_a_reader_that_names_a_project_that_is_not_the_caller_s_is_not_found(
    world: World, reader: str
) -> None:
    with pytest.raises(NotFound):
        world.add(new("text", readers=("project:alpha", reader)))


@pytest.mark.parametrize("reader", ["role:system", "role:nobody", "user:", "project:", "everyone", "group:a"])
def test_a_reader_that_means_nothing_is_refused(world: World, reader: str) -> None:
    with pytest.raises(ReaderUnknown) as refused:
        world.add(new("text", readers=("project:alpha", reader)))

    assert refused.value.extra["errors"][0]["pointer"] == "/readers/1"  # type: ignore[index]  # a list of faults


def test_evidence_for_a_project_that_the_caller_is_not_in_is_not_found(world: World) -> None:
    with pytest.raises(NotFound):
        world.add(new("text"), OUTSIDER)


def test_an_older_version_is_read_only_by_those_who_may_read_both(world: World) -> None:
    kept = world.add(new("draft", readers=("user:user-1",)), USER)
    world.add(new("final"), USER)

    with world.unit(REVIEWER) as unit:
        assert get_evidence(kept.id, unit=unit).version == 2
        with pytest.raises(NotFound):
            get_evidence(kept.id, unit=unit, version=1)

    world.add(new("withdrawn", readers=("user:user-1",)), USER)
    with world.unit(REVIEWER) as unit, pytest.raises(NotFound):
        get_evidence(kept.id, unit=unit, version=2)


def test_a_lost_project_counts_from_the_next_request(world: World) -> None:
    kept = world.add(new("text"))

    assert world.passages(kept, caller(projects=[BETA])) == []
    assert world.passages(kept, caller(projects=[])) == []


def test_whoever_added_it_deletes_it_and_the_uri_is_free_again(world: World) -> None:
    kept = world.add(new("text"))

    world.forget(kept.id)

    assert not reads(world, kept.id, AGENT)
    assert world.passages(kept) == []
    assert ("evidence.deleted", {"item_id": kept.id}) in world.messages()
    with world.unit() as unit:
        assert EvidenceStore.of(unit).index_passages(kept.id) == []
    assert world.add(new("text")).id != kept.id


def test_what_may_only_be_read_is_forbidden_and_what_may_not_is_not_found(world: World) -> None:
    shared = world.add(new("text"))
    private = world.add(new("text", "doc://p", readers=("user:user-1",)), USER)

    with pytest.raises(Forbidden):
        world.forget(shared.id, REVIEWER)
    # The same agent for somebody is somebody else.
    with pytest.raises(Forbidden):
        world.forget(shared.id, FOR_USER)
    for evidence_id, who in ((private.id, REVIEWER), (shared.id, STRANGER), (shared.id, OUTSIDER)):
        with pytest.raises(NotFound):
            world.forget(evidence_id, who)
    assert reads(world, shared.id, AGENT)
    assert reads(world, private.id, USER)


def test_its_only_subject_deletes_it_in_person(world: World) -> None:
    about_one = world.add(new("text", "doc://1", subjects=("user-1",)))
    about_two = world.add(new("text", "doc://2", subjects=("user-1", "user-2")))

    for evidence_id, who in ((about_one.id, FOR_USER), (about_two.id, USER)):
        with pytest.raises(Forbidden):
            world.forget(evidence_id, who)
    world.forget(about_one.id, USER)
    assert not reads(world, about_one.id, AGENT)


def test_an_agent_deletes_what_it_added_for_others_to_read(world: World) -> None:
    kept = world.add(new("text", readers=("user:user-1",)))

    assert not reads(world, kept.id, AGENT)
    world.forget(kept.id)
    assert not reads(world, kept.id, USER)


def test_deleting_twice_is_not_found(world: World) -> None:
    kept = world.add(new("text"))
    world.forget(kept.id)

    with pytest.raises(NotFound):
        world.forget(kept.id)
