"""The trail holds everything that was kept, nothing that was not, and shows where it was touched."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from conftest import FixedClock
from sqlalchemy import text

from service.adapters.keystore import KeyStore
from service.adapters.subject_cipher import SubjectCipher, SubjectCiphers
from service.audit.model import GENESIS_HASH, Action, Event, Fault, Head, Link, Verdict
from service.audit.record import record, record_refusal
from service.audit.rules import hash_event_of_first_form, head_text
from service.audit.store import AuditStore
from service.audit.verify import verify_chain
from service.core.database import Database
from service.core.errors import NotFound, Unavailable
from service.core.ids import new_id
from service.core.tokens import Estimate
from service.identity.model import Caller, Role
from service.identity.unit import Unit


class NoTokens:
    """A counter for tests that count nothing."""

    encodings: frozenset[str] = frozenset()

    def count(self, text: str, encoding: str = "o200k_base") -> int:
        raise AssertionError((text, encoding))

    def estimate_of(self, encoding: str) -> Estimate | None:
        raise AssertionError(encoding)

    def encoding_for_model(self, model: str) -> str:
        raise AssertionError(model)


LETTERS = "abcdefgh"


def key(name: str) -> str:
    """Answer the id of a key, told from others by a name."""
    return name.ljust(16, "a")


class Trail:
    """A database with its cipher, and units of work in it."""

    def __init__(self, database: Database, ciphers: SubjectCiphers, clock: FixedClock) -> None:
        self.database = database
        self.ciphers = ciphers
        self.clock = clock

    @contextmanager
    def unit(self, tenant_id: str = "acme") -> Iterator[Unit]:
        caller = Caller(tenant_id, "key1", Role.USER, "user-1", None, frozenset(), frozenset())
        with self.database.write(tenant_id) as session:
            yield Unit(session, caller, self.clock(), new_id, self.ciphers.for_tenant(tenant_id), NoTokens())

    def write(self, count: int, tenant_id: str = "acme") -> None:
        for number in range(count):
            with self.unit(tenant_id) as unit:
                record(unit, Action.KEY_REVOKED, kind="key", ref=key(f"k{LETTERS[number]}"), count=number)

    def verdict(self, tenant_id: str = "acme") -> Verdict:
        with self.database.read(tenant_id) as session:
            return verify_chain(session, tenant_id, cipher=self.ciphers.for_tenant(tenant_id))

    def tamper(self, statement: str, tenant_id: str = "acme") -> None:
        with self.database.write(tenant_id) as session:
            assert session.connection().execute(text(statement)).rowcount > 0

    def refs(self, tenant_id: str = "acme") -> list[str]:
        with self.database.read(tenant_id) as session:
            return [link.event.ref.rstrip("a") for link in AuditStore(session, tenant_id).links()]


@pytest.fixture
def trail(database: Database, tmp_path: Path, clock: FixedClock) -> Iterator[Trail]:
    keystore = KeyStore(f"sqlite:///{tmp_path / 'keys.db'}", bytes(32))
    yield Trail(database, SubjectCiphers(keystore), clock)
    keystore.close()


def test_a_chain_of_events_verifies(trail: Trail) -> None:
    trail.write(3)
    with trail.unit() as unit:
        record(unit, "key.created", kind="key", ref=key("c"), role="agent", sources=["x", "y"], project=None)
        record(unit, "key.created", kind="key", ref=key("d"), granted=True)

    verdict = trail.verdict()

    assert verdict.intact
    assert verdict.events == 5
    assert verdict.head_hash.startswith("sha256:")


def test_each_tenant_has_its_own_chain(trail: Trail) -> None:
    trail.write(2)
    trail.write(3, "other")

    assert (trail.verdict().events, trail.verdict("other").events) == (2, 3)


@pytest.mark.parametrize(
    ("statement", "fault", "first_bad"),
    [
        ("UPDATE audit_events SET principal = 'user:mallory' WHERE sequence = 2", Fault.CONTENT_ALTERED, 2),
        ("UPDATE audit_events SET action = 'no.such' WHERE sequence = 3", Fault.CONTENT_ALTERED, 3),
        ("UPDATE audit_events SET details = '{}' WHERE sequence = 2", Fault.CONTENT_ALTERED, 2),
        ("UPDATE audit_events SET previous_hash = hash WHERE sequence = 3", Fault.LINK_BROKEN, 3),
        ("DELETE FROM audit_events WHERE sequence = 2", Fault.SEQUENCE_GAP, 2),
        ("DELETE FROM audit_events WHERE sequence = 4", Fault.HEAD_MISMATCH, 4),
        ("DELETE FROM audit_events", Fault.HEAD_MISMATCH, 1),
        ("DELETE FROM audit_heads", Fault.HEAD_MISSING, 1),
        ("UPDATE audit_heads SET seal = 'forged'", Fault.SEAL_INVALID, 1),
    ],
)
def test_what_was_touched_is_named(trail: Trail, statement: str, fault: Fault, first_bad: int) -> None:
    trail.write(4)

    trail.tamper(statement)

    verdict = trail.verdict()
    assert not verdict.intact
    assert (verdict.fault, verdict.first_bad_sequence) == (fault, first_bad)


def test_events_that_changed_places_are_noticed(trail: Trail) -> None:
    trail.write(4)

    trail.tamper("UPDATE audit_events SET sequence = 90 WHERE sequence = 2")
    trail.tamper("UPDATE audit_events SET sequence = 2 WHERE sequence = 3")
    trail.tamper("UPDATE audit_events SET sequence = 3 WHERE sequence = 90")

    verdict = trail.verdict()
    assert (verdict.fault, verdict.first_bad_sequence) == (Fault.LINK_BROKEN, 2)


def test_a_chain_that_was_begun_in_the_first_form_goes_on(trail: Trail, clock: FixedClock) -> None:
    """Its oldest events name persons as they are, and were hashed with their places in one."""
    event = Event(clock(), "user:user-1", "key1", "", "key.revoked", "key", key("old"), {"count": 1})
    first = hash_event_of_first_form(event, sequence=1, previous_hash=GENESIS_HASH)
    seal = trail.ciphers.for_tenant("acme").keyed_hash(head_text(sequence=1, head_hash=first))
    with trail.database.write("acme") as session:
        store = AuditStore(session, "acme")
        store.lock_head()
        store.append([Link(1, GENESIS_HASH, first, event)], Head(1, first, seal))

    trail.write(2)

    assert (trail.verdict().intact, trail.verdict().events) == (True, 3)
    trail.tamper("UPDATE audit_events SET principal = 'user:mallory' WHERE sequence = 1")
    assert trail.verdict().first_bad_sequence == 1


def test_a_chain_rewritten_in_the_record_alone_does_not_pass(trail: Trail) -> None:
    """Who holds the database computes all hashes anew; the seal they cannot compute."""
    trail.write(2)
    trail.tamper("DELETE FROM audit_events WHERE sequence = 2")
    trail.tamper(
        "UPDATE audit_heads SET sequence = 1, hash = (SELECT hash FROM audit_events WHERE sequence = 1)"
    )

    assert trail.verdict().fault is Fault.SEAL_INVALID


def test_writers_at_once_make_one_chain(trail: Trail) -> None:
    barrier = threading.Barrier(6)

    def write() -> None:
        barrier.wait()
        trail.write(5)

    threads = [threading.Thread(target=write) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    verdict = trail.verdict()
    assert (verdict.intact, verdict.events) == (True, 30)


@pytest.mark.parametrize("database", ["postgresql"], indirect=True)
def test_recording_keeps_nobody_waiting_until_the_commit(trail: Trail) -> None:
    """Else two requests that record first and then change the same rows would wait for each other."""
    with trail.unit() as first:
        record(first, Action.KEY_REVOKED, kind="key", ref=key("first"))
        with trail.unit() as second:
            record(second, Action.KEY_REVOKED, kind="key", ref=key("second"))

    assert trail.refs() == ["second", "first"]
    assert trail.verdict().intact


def test_what_is_rolled_back_is_not_recorded(trail: Trail) -> None:
    trail.write(1)

    def fail(unit: Unit) -> None:
        record(unit, Action.KEY_REVOKED, kind="key", ref=key("lost"))
        raise NotFound

    with pytest.raises(NotFound), trail.unit() as unit:
        fail(unit)

    assert trail.refs() == ["k"]


def test_a_savepoint_that_is_rolled_back_takes_its_events_along(trail: Trail) -> None:
    def refuse(unit: Unit, *refs: str) -> None:
        for ref in refs:
            record(unit, Action.KEY_REVOKED, kind="key", ref=key(ref))
        with unit.session.begin_nested():
            record(unit, Action.KEY_REVOKED, kind="key", ref=key("inner"))
        raise NotFound

    with trail.unit() as unit:
        with pytest.raises(NotFound), unit.session.begin_nested():
            refuse(unit, "first")
        record(unit, Action.KEY_REVOKED, kind="key", ref=key("kept"))
        with pytest.raises(NotFound), unit.session.begin_nested():
            refuse(unit, "second", "third")
        with unit.session.begin_nested():
            record(unit, Action.KEY_REVOKED, kind="key", ref=key("stays"))

    assert trail.refs() == ["kept", "stays"]
    assert trail.verdict().intact


def test_when_the_trail_cannot_be_written_nothing_is(trail: Trail) -> None:
    class Broken(SubjectCipher):
        def keyed_hash(self, text: str) -> str:
            raise Unavailable(text[:0])

    def change(unit: Unit) -> None:
        unit.stage("evidence.changed", item_id="i")
        record(
            replace(unit, cipher=Broken(trail.ciphers, "acme")), Action.KEY_REVOKED, kind="key", ref=key("k")
        )

    with pytest.raises(Unavailable), trail.unit() as unit:
        change(unit)

    assert trail.refs() == []
    with trail.unit() as unit:
        assert unit.outbox.waiting() == 0


@pytest.mark.parametrize(
    "details",
    [
        {"reason": "I changed my mind"},
        {"reason": "x" * 201},
        {"names": ["ok", "not ok"]},
        {"names": ["x"] * 201},
        {"weight": 0.5},
        {"big": 2**60},
        {"nul": "a\x00b"},
        {f"n{number}": 1 for number in range(33)},
    ],
)
def test_words_never_reach_the_trail(trail: Trail, details: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"detail|holds|neither"), trail.unit() as unit:
        record(unit, Action.KEY_REVOKED, kind="key", ref=key("k"), **details)


def test_an_unknown_action_is_refused(trail: Trail) -> None:
    with pytest.raises(ValueError, match=r"key\.eaten"), trail.unit() as unit:
        record(unit, "key.eaten", kind="key", ref=key("k"))


def test_a_refusal_is_recorded_by_its_code(trail: Trail) -> None:
    with trail.unit() as unit:
        record_refusal(unit, NotFound(), operation="get_memory")

    with trail.database.read("acme") as session:
        [link] = AuditStore(session, "acme").links()
    assert link.event.action == Action.REQUEST_REFUSED
    assert link.event.ref == "get_memory"
    assert link.event.details == {"code": "not_found"}
