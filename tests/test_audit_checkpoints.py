"""A chain that was put back whole, with its end, is found out by whoever remembers where it ended."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import FixedClock
from registry_support import Office, open_office
from sqlalchemy import text

from service.audit.checkpoint import (
    CheckpointMalformed,
    Witness,
    note_head,
    read_checkpoint,
    write_checkpoint,
)
from service.audit.model import Checkpoint, Fault, Verdict
from service.audit.verify import verify_chain
from service.core.database import Database
from service.core.tokens import Estimate
from service.identity.model import Role
from service.jobs.checkpoint_audit import CHECKPOINT_SECONDS, AuditCheckpoints
from service.jobs.relay import Relay
from service.jobs.system_unit import SystemUnits


class Place:
    """An office with a tenant whose chain can be put back to where it was."""

    def __init__(self, office: Office) -> None:
        self.office = office
        self.record = office.registry.record
        self.acme = office.found("acme", "alpha")

    @property
    def witness(self) -> Witness:
        return self.record.witness

    def grow(self, count: int = 3) -> None:
        for number in range(count):
            self.office.key(self.acme, f"user-{number}", role=Role.USER)

    def head(self) -> tuple[int, str, str]:
        with self.record.database.read(self.acme) as session:
            found = session.connection().execute(text("SELECT sequence, hash, seal FROM audit_heads")).one()
        return found.sequence, found.hash, found.seal

    def put_back(self, head: tuple[int, str, str]) -> None:
        """Leave of chain and end what stood there once, as an older copy of the record would."""
        with self.record.database.write(self.acme) as session:
            connection = session.connection()
            connection.execute(text("DELETE FROM audit_events WHERE sequence > :last"), {"last": head[0]})
            connection.execute(
                text("UPDATE audit_heads SET sequence = :last, hash = :hash, seal = :seal"),
                {"last": head[0], "hash": head[1], "seal": head[2]},
            )

    def note(self) -> Verdict:
        with self.office.registry.read(self.acme) as unit:
            return note_head(unit.session, self.acme, cipher=unit.cipher, witness=self.witness, now=unit.now)

    def verdict(self, *checkpoints: Checkpoint | None) -> Verdict:
        known = [each for each in checkpoints if each is not None]
        with self.office.registry.read(self.acme) as unit:
            return verify_chain(unit.session, self.acme, cipher=unit.cipher, checkpoints=known)


@pytest.fixture
def place(database: Database, tmp_path: Path, clock: FixedClock) -> Iterator[Place]:
    with open_office(database, tmp_path, clock) as office:
        yield Place(office)


def test_an_older_copy_of_chain_and_end_together_is_found_out(place: Place) -> None:
    before = place.head()
    place.grow()
    assert place.note().intact

    place.put_back(before)

    assert place.verdict().intact, "the record alone cannot tell"
    found = place.verdict(place.witness.recall(place.acme))
    assert (found.fault, found.first_bad_sequence) == (Fault.BEHIND_CHECKPOINT, before[0] + 1)
    assert place.note().fault is Fault.BEHIND_CHECKPOINT


def test_an_older_copy_that_has_grown_past_the_old_end_is_found_out(place: Place) -> None:
    before = place.head()
    place.grow(2)
    place.note()
    remembered = place.witness.recall(place.acme)
    assert remembered is not None

    place.put_back(before)
    place.grow(5)

    found = place.verdict(remembered)
    assert (found.fault, found.first_bad_sequence) == (Fault.CHECKPOINT_MISMATCH, remembered.sequence)
    assert place.note().fault is Fault.CHECKPOINT_MISMATCH
    assert place.witness.recall(place.acme) == remembered, "what does not fit is not remembered"


def test_the_key_store_remembers_the_furthest_end_only(place: Place) -> None:
    place.grow()
    place.note()
    furthest = place.witness.recall(place.acme)
    assert furthest is not None

    place.witness.remember(Checkpoint(place.acme, 1, "sha256:" + "1" * 64, furthest.at))

    assert place.witness.recall(place.acme) == furthest


def test_a_memory_that_was_altered_is_not_believed(place: Place) -> None:
    place.grow()
    place.note()
    document = place.witness.memory.recall(place.acme)
    assert document is not None
    last = place.head()[0]
    place.witness.memory.remember(place.acme, last + 1, document.replace(f":{last},", f":{last - 1},"))

    with pytest.raises(CheckpointMalformed, match="altered"):
        place.witness.recall(place.acme)


@pytest.mark.parametrize("document", ["", "{}", "[1]", "null", '{"format": "x"}', "[" * 9_000, "x" * 20_000])
def test_what_is_no_checkpoint_is_refused(place: Place, document: str) -> None:
    with pytest.raises(CheckpointMalformed):
        read_checkpoint(document, trusted=place.witness.signer.public_key)


def test_a_checkpoint_of_another_deployment_is_not_ours(place: Place, tmp_path: Path) -> None:
    made = Checkpoint(place.acme, 1, "sha256:" + "1" * 64, place.office.registry.clock())
    other = Database(f"sqlite:///{tmp_path / 'other.db'}")
    with open_office(other, tmp_path / "elsewhere", place.office.registry.clock) as elsewhere:
        document = write_checkpoint(made, elsewhere.registry.record.witness.signer)
    other.close()

    assert read_checkpoint(document, trusted=place.witness.signer.public_key) == (made, False)


def test_the_sweep_shows_the_key_store_each_end_once_in_a_while(place: Place, clock: FixedClock) -> None:
    record = place.record
    units = SystemUnits(record.database, record.ciphers, _NO_TOKENS, clock, place.office.registry.ids)
    chores = [AuditCheckpoints(units, place.witness)]
    relay = Relay(record.database, {}, clock, tenant_ids=lambda: [place.acme], chores=chores)

    relay.sweep()
    first = place.witness.recall(place.acme)
    place.grow(1)
    relay.sweep()
    assert place.witness.recall(place.acme) == first
    clock.advance(seconds=CHECKPOINT_SECONDS)
    relay.sweep()

    newest = place.witness.recall(place.acme)
    assert newest is not None
    assert newest.sequence == place.head()[0]


class _NoTokens:
    encodings: frozenset[str] = frozenset()

    def count(self, text: str, encoding: str = "o200k_base") -> int:
        raise AssertionError((text, encoding))

    def estimate_of(self, encoding: str) -> Estimate | None:
        raise AssertionError(encoding)

    def encoding_for_model(self, model: str) -> str:
        raise AssertionError(model)


_NO_TOKENS = _NoTokens()
