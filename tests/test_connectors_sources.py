"""Source readers over real HTTP, and what they read as a new version of the same evidence."""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from conftest import FixedClock
from downstream_server import Downstream, Fault, open_downstream
from evidence_world import ACME, AGENT, REGISTRAR, STRANGER, USER, World, new, open_world

from service.adapters.downstream_sources import READING_BYTES_MAX, HttpSourceReaders, SourceSilent
from service.core.database import Database
from service.core.hashing import hash_text
from service.evidence.get import get_evidence, read_text
from service.evidence.model import Evidence, Group, Kept
from service.evidence.reload import SourceText, reload_evidence
from service.executions.ports import SourceReading
from service.identity.model import Caller
from service.policies.words import Authority, Trust
from service.settings_outside import SourceReaderSettings

URI = "register://plots/18"


@pytest.fixture
def downstream() -> Iterator[Downstream]:
    with open_downstream() as downstream:
        yield downstream


def _readers(downstream: Downstream, **choices: Any) -> HttpSourceReaders:
    settings = {"register": SourceReaderSettings(**downstream.reader(**choices))}
    return HttpSourceReaders(settings, tenant_name={"1": "acme", "2": "umbrella"}.get)


def test_a_source_is_read_with_its_version_and_hash(downstream: Downstream) -> None:
    downstream.records["plots/18"] = ("v7", "Plot 18: consent für alle")

    found = _readers(downstream, headers={"X-Key": "hunter2"}).read("1", URI)

    text = "Plot 18: consent für alle"
    assert found == SourceReading(
        "register", "register", found=True, version="v7", sha256=hash_text(text), text=text
    )
    assert downstream.look_ups[0].headers["X-Key"] == "hunter2"


def test_a_version_may_stand_in_the_answer_itself(downstream: Downstream) -> None:
    downstream.records["plots/18"] = ("ignored", '{"meta": {"version": 7}}')

    found = _readers(downstream, version_pointer="/meta/version").read("1", URI)

    assert found is not None
    assert found.version == "7"


def test_what_is_gone_is_gone_and_what_is_silent_is_not(downstream: Downstream) -> None:
    readers = _readers(downstream)

    assert readers.read("1", URI) == SourceReading("register", "register", found=False)
    for fault in (Fault.FAIL, Fault.REFUSE, Fault.REDIRECT):
        downstream.look_up_faults.append(fault)
        with pytest.raises(SourceSilent):
            readers.read("1", URI)


def test_what_is_too_large_or_no_text_is_known_by_its_version_alone(downstream: Downstream) -> None:
    for text in ("x" * (READING_BYTES_MAX + 1), "nul \x00", ""):
        downstream.records["plots/18"] = ("v8", text)
        found = _readers(downstream).read("1", URI)
        assert found == SourceReading("register", "register", found=True, version="v8")


@pytest.mark.parametrize(
    "uri",
    [
        "register://",
        "register://plots/",
        "register://plots//18",
        "register://../orders/1",
        "register://plots/../../orders/1",
        "register://plots/./18",
        "doc://plots/18",
        "registers://plots/18",
        "x-register://plots/18",
    ],
)
def test_an_address_that_is_not_the_readers_is_not_read(downstream: Downstream, uri: str) -> None:
    assert _readers(downstream).read("1", uri) is None
    assert downstream.received == []


@pytest.mark.parametrize("rest", ["a%2f..%2f..%2forders", "a?b=c", "a#b", "a@b", "a\\..\\b", "ä", "a;b"])
def test_an_odd_address_stays_below_its_place(downstream: Downstream, rest: str) -> None:
    _readers(downstream).read("1", f"register://{rest}")

    [asked] = downstream.look_ups
    assert asked.path.startswith("/records/")
    assert asked.path.count("/") == 2
    assert "?" not in asked.path


def test_a_reader_serves_the_tenants_that_it_names_and_no_other(downstream: Downstream) -> None:
    downstream.records["plots/18"] = ("v7", "text")
    readers = _readers(downstream)

    assert readers.read("2", URI) is None
    assert readers.read("3", URI) is None
    assert downstream.received == []
    assert readers.read("1", "REGISTER://plots/18") is not None


@pytest.fixture
def world(database: Database, tmp_path: Path, clock: FixedClock) -> Iterator[World]:
    with open_world(database, tmp_path, clock) as world:
        yield world


def _reload(
    world: World, kept: Kept, text: str, *, who: Caller = AGENT, source: str = "register"
) -> Kept | None:
    found = SourceText("register", source, text, "v8")
    with world.unit(who) as unit:
        return reload_evidence(kept.id, found, unit=unit, bundle=world.bundle, chunker=world.chunker)


def _read(world: World, kept: Kept, who: Caller = AGENT) -> tuple[Evidence, str]:
    with world.unit(who) as unit:
        return get_evidence(kept.id, unit=unit), read_text(kept.id, unit=unit).text


def test_changed_text_is_a_new_version_for_the_same_people(world: World, clock: FixedClock) -> None:
    first = new(
        "consent granted",
        URI,
        kind="record",
        title="Register",
        readers=("user:agent-1", "user:user-1"),
        group=Group("register", "Planning register", 18),
        fresh_until=clock() + timedelta(hours=1),
        metadata={"plot": 18},
    )
    kept = world.add(first, REGISTRAR)
    before, _ = _read(world, kept, USER)
    clock.advance(minutes=30)

    again = _reload(world, kept, "consent withdrawn", who=USER)

    assert again is not None
    assert (again.id, again.version, again.is_new) == (kept.id, 2, True)
    after, text = _read(world, kept, USER)
    assert (text, after.source.source_version) == ("consent withdrawn", "v8")
    assert (after.source.retrieved_by, after.source.observed_at) == ("system:reader:register", clock())
    assert (after.title, after.group, after.readers, after.metadata) == (
        *(before.title, before.group, before.readers),
        before.metadata,
    )
    assert after.fresh_until is not None
    assert before.fresh_until is not None
    assert after.fresh_until - clock() == before.fresh_until - before.source.observed_at
    assert after.standing.authority is Authority.SYSTEM_OF_RECORD
    assert ("evidence.changed", {"item_id": kept.id, "version": 2}) in world.messages(ACME)


def test_what_says_the_same_is_only_seen_again(world: World, clock: FixedClock) -> None:
    kept = world.add(new("consent granted", URI, kind="record", source_version="v8"), REGISTRAR)
    clock.advance(minutes=30)

    again = _reload(world, kept, "consent granted")

    assert again is not None
    assert (again.version, again.is_new) == (1, False)
    assert _read(world, kept)[0].source.observed_at == clock()


def test_what_nobody_vouched_for_is_believed_once_its_source_says_it(world: World) -> None:
    kept = world.add(new("consent granted", URI, kind="record"))
    assert kept.standing.trust is Trust.THIRD_PARTY

    again = _reload(world, kept, "consent withdrawn")

    assert again is not None
    assert again.standing.trust is Trust.FIRST_PARTY


def test_a_reader_that_is_trusted_less_displaces_nothing(world: World) -> None:
    kept = world.add(new("consent granted", URI, kind="record"), REGISTRAR)

    assert _reload(world, kept, "consent withdrawn", source="other") is None
    assert _read(world, kept)[1] == "consent granted"


def test_what_may_not_be_read_is_gone_or_superseded_is_left_alone(world: World) -> None:
    private = world.add(new("private", URI, kind="record", readers=("user:user-1",)), REGISTRAR)
    gone = world.add(new("gone", "register://plots/19", kind="record"), REGISTRAR)
    world.forget(gone.id, REGISTRAR)
    old = world.add(new("old", "register://plots/20", kind="record"), REGISTRAR)
    world.add(new("new", "register://plots/21", kind="record", supersedes=old.id), REGISTRAR)

    for kept, who in ((private, AGENT), (private, STRANGER), (gone, AGENT), (old, AGENT)):
        assert _reload(world, kept, "changed", who=who) is None
    assert _read(world, private, USER)[1] == "private"
