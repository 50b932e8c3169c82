"""One uri is one item: its versions, who may add them, and what leaves search."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from conftest import FixedClock
from evidence_world import (
    AGENT,
    BETA,
    REGISTRAR,
    REVIEWER,
    SEEN,
    STRANGER,
    USER,
    World,
    caller,
    new,
    open_world,
)

from service.core.database import Database
from service.core.errors import Invalid, NotFound
from service.evidence.get import get_evidence
from service.evidence.model import Group, ReferenceNotFound, SupersedeRefused


@pytest.fixture
def world(database: Database, tmp_path: Path, clock: FixedClock) -> Iterator[World]:
    with open_world(database, tmp_path, clock) as opened:
        yield opened


def test_a_new_text_under_the_same_uri_is_the_next_version_and_alone_in_search(world: World) -> None:
    first = world.add(new("Outline consent refused."))
    second = world.add(new("Outline consent granted."))

    assert (second.id, second.version, second.is_new) == (first.id, 2, True)
    assert world.passages(first) == []
    assert [passage.text for passage in world.passages(second)] == ["Outline consent granted."]


def test_an_older_version_can_still_be_read_by_its_number(world: World) -> None:
    kept = world.add(new("first"))
    world.add(new("second"))

    with world.unit() as unit:
        assert get_evidence(kept.id, unit=unit, version=1).sha256 == kept.sha256
        with pytest.raises(NotFound):
            get_evidence(kept.id, unit=unit, version=3)


def test_the_same_statement_again_writes_no_version_but_moves_when_it_was_seen(world: World) -> None:
    first = world.add(new("same", source_version="v1", metadata={"b": 1, "a": [2]}))
    later = SEEN + timedelta(hours=1)
    again = world.add(
        new("same", source_version="v1", seen=later, fresh_until=later, metadata={"a": [2], "b": 1})
    )

    assert (again.id, again.version, again.is_new) == (first.id, 1, False)
    with world.unit() as unit:
        found = get_evidence(first.id, unit=unit)
    assert (found.source.observed_at, found.fresh_until) == (later, later)


def test_seeing_an_older_sighting_never_moves_time_back(world: World) -> None:
    kept = world.add(new("same"))
    world.add(new("same", seen=SEEN - timedelta(days=1)))

    assert world.passages(kept)[0].source.observed_at == SEEN


@pytest.mark.parametrize(
    "change",
    [
        {"title": "Register"},
        {"source_version": "v2"},
        {"kind": "record"},
        {"subjects": ("user-1",)},
        {"metadata": {"page": 3}},
        {"group": Group("g", "G", 1)},
        {"readers": ("user:user-1", "project:alpha")},
    ],
)
def test_the_same_text_said_differently_is_a_new_version(world: World, change: dict[str, object]) -> None:
    first = world.add(new("same"))

    second = world.add(new("same", **change))

    assert (second.id, second.version) == (first.id, 2)


def test_two_tenants_and_two_projects_with_the_same_content_never_meet(world: World) -> None:
    agent = caller(projects=[*AGENT.projects, BETA])

    kept = [
        world.add(new("same")),
        world.add(new("same"), STRANGER),
        world.add(replace(new("same"), project="beta"), agent),
    ]

    assert len({each.id for each in kept}) == 3
    assert [each.version for each in kept] == [1, 1, 1]
    assert world.passages(kept[0], STRANGER) == []
    assert world.passages(kept[1], AGENT) == []


def test_less_trusted_text_never_displaces_what_is_more_trusted(world: World) -> None:
    record = world.add(new("granted", "register://plots/18"), REGISTRAR)

    claim = world.add(new("refused", "register://plots/18"))

    assert claim.id != record.id
    assert [passage.text for passage in world.passages(record)] == ["granted"]
    assert world.add(new("refused again", "register://plots/18")).id == claim.id


def test_more_trusted_text_takes_over_from_what_was_claimed_before(world: World) -> None:
    claim = world.add(new("refused", "register://plots/18"))

    record = world.add(new("granted", "register://plots/18"), REGISTRAR)

    assert (record.id, record.version) == (claim.id, 2)


def test_nobody_adds_a_version_that_hides_an_item_from_its_readers(world: World) -> None:
    shared = world.add(new("for all"))

    own = world.add(new("for me alone", readers=("user:user-1",)), USER)

    assert own.id != shared.id
    assert len(world.passages(shared, REVIEWER)) == 1
    assert world.add(new("for all, again"), USER).id == shared.id


def test_a_uri_that_is_taken_by_what_the_caller_may_not_read_tells_nothing(world: World) -> None:
    private = world.add(new("private", readers=("user:user-1",)), USER)

    guessed = world.add(new("mine", readers=("user:user-1",)))
    plain = world.add(new("mine"), REVIEWER)

    assert len({private.id, guessed.id, plain.id}) == 3
    assert guessed.version == plain.version == 1
    assert [passage.text for passage in world.passages(private, USER)] == ["private"]


def test_what_is_superseded_leaves_search_at_once_and_returns_with_a_new_version(world: World) -> None:
    old = world.add(new("old", "doc://a"))
    newer = world.add(new("newer", "doc://b", supersedes=old.id))

    assert world.passages(old) == []
    assert ("evidence.deleted", {"item_id": old.id}) in world.messages()
    with world.unit() as unit:
        assert get_evidence(old.id, unit=unit).superseded_by == newer.id

    assert world.add(new("old", "doc://a")).is_new is False
    revived = world.add(new("old, corrected", "doc://a"))
    assert len(world.passages(revived)) == 1


def test_only_what_the_caller_may_read_in_this_project_can_be_superseded(world: World) -> None:
    foreign = world.add(new("x"), STRANGER)
    private = world.add(new("x", "doc://p", readers=("user:user-1",)), USER)
    elsewhere = world.add(replace(new("x"), project="beta"), caller(projects=[*AGENT.projects, BETA]))

    for target in (foreign.id, private.id, elsewhere.id, "01936d7e-0000-7000-8000-000000000000"):
        with pytest.raises(ReferenceNotFound):
            world.add(new("y", "doc://y", supersedes=target))


def test_an_item_cannot_supersede_itself(world: World) -> None:
    kept = world.add(new("x"))

    with pytest.raises(Invalid):
        world.add(new("y", supersedes=kept.id))


def test_what_stands_lower_or_is_for_others_may_not_supersede(world: World) -> None:
    record = world.add(new("record", "register://a"), REGISTRAR)
    shared = world.add(new("shared", "doc://a"))

    with pytest.raises(SupersedeRefused):
        world.add(new("claim", "doc://b", supersedes=record.id))
    with pytest.raises(SupersedeRefused):
        world.add(new("mine", "doc://c", supersedes=shared.id, readers=("user:user-1",)), USER)
    assert len(world.passages(record)) == len(world.passages(shared)) == 1


def test_twenty_at_once_under_one_uri_give_twenty_versions_and_no_error(world: World) -> None:
    with ThreadPoolExecutor(8) as pool:
        kept = list(pool.map(lambda number: world.add(new(f"text {number}")), range(20)))

    assert len({each.id for each in kept}) == 1
    assert sorted(each.version for each in kept) == list(range(1, 21))


def test_the_same_text_sent_by_many_at_once_is_one_version(world: World) -> None:
    with ThreadPoolExecutor(8) as pool:
        kept = list(pool.map(lambda _: world.add(new("same")), range(16)))

    assert {(each.id, each.version) for each in kept} == {(kept[0].id, 1)}
    assert sum(each.is_new for each in kept) == 1
