"""After a person's erasure no file of the embedded default holds a byte of their words or name."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import FixedClock, sqlite_record
from erasure_world import CANARY, ErasureWorld, erasure_world

from service.core.database import Database

PERSON = "hypatia-of-alexandria"


@pytest.fixture
def world(tmp_path: Path, clock: FixedClock) -> Iterator[ErasureWorld]:
    database = sqlite_record(tmp_path / "record.db")
    with erasure_world(database, tmp_path / "data", clock) as world:
        yield world
    database.close()


def holding(folder: Path, words: str) -> list[str]:
    files = [path for path in folder.rglob("*") if path.is_file()]
    return sorted(path.name for path in files if words.encode() in path.read_bytes())


def test_no_file_holds_the_words_or_the_name_of_who_was_erased(world: ErasureWorld, tmp_path: Path) -> None:
    left = world.leave_traces(name=PERSON)
    assert holding(tmp_path, PERSON) != []
    assert holding(tmp_path, left.memory) != []

    erasure = world.erase_subject(PERSON, query="?account=true")

    assert erasure["status"] == "completed"
    assert holding(tmp_path, PERSON) == []
    assert holding(tmp_path, CANARY) == []
    # The index has not kept which items it held.
    assert holding(tmp_path / "data" / "index", left.memory) == []


def test_a_reader_in_the_way_keeps_the_record_from_being_tidied_and_harms_nothing(tmp_path: Path) -> None:
    database = sqlite_record(tmp_path / "record.db")
    other = Database(f"sqlite:///{tmp_path / 'record.db'}")
    with other.read(None) as session:
        session.connection().exec_driver_sql("SELECT count(*) FROM tenants").fetchall()
        with database.write(None) as writing:
            writing.connection().exec_driver_sql("CREATE TABLE scratch (id INTEGER)")

        was_tidied = database.tidy()

    assert was_tidied is False
    assert database.tidy() is True
    other.close()
    database.close()
