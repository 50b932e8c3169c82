"""Keys at rest: wrapped, apart from the record, made once, destroyed for good."""

import base64
import multiprocessing
import stat
import uuid
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from service.adapters.keystore import KeyStore, MasterKeyWrong
from service.adapters.keystore_ledger import KeyStoreLedger
from service.adapters.master_key import MasterKeyError, load_master_key
from service.core.cipher import TextErased
from service.core.lineage import Node

MASTER_KEY = bytes(range(32))


@pytest.fixture(params=["sqlite", "postgresql"])
def address(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'keys.db'}"
    base: str = request.getfixturevalue("postgresql_address")
    name = f"k{uuid.uuid4().hex}"  # noqa: TID251 - a name for a throw-away database
    with psycopg.connect(base, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
    head, _, query = base.partition("?")
    return f"{head.rsplit('/', 1)[0]}/{name}" + (f"?{query}" if query else "")


@pytest.fixture
def keystore(address: str) -> Iterator[KeyStore]:
    store = KeyStore(address, MASTER_KEY)
    yield store
    store.close()


def test_a_key_is_made_once_and_answered_again(keystore: KeyStore) -> None:
    key = keystore.subject_key("acme", "ada")

    assert keystore.subject_key("acme", "ada") == key
    assert keystore.key("acme", key.id) == key
    assert keystore.subject_key("acme", "bob").key != key.key
    assert keystore.subject_key("other", "ada").key != key.key
    assert keystore.tenant_key("acme").key != keystore.tenant_key("other").key
    assert key.key.hex() not in repr(key)


def test_a_key_of_another_tenant_does_not_exist(keystore: KeyStore) -> None:
    key = keystore.subject_key("acme", "ada")

    with pytest.raises(LookupError):
        keystore.key("other", key.id)


def test_a_destroyed_key_is_gone_and_moves_the_epoch(keystore: KeyStore) -> None:
    key = keystore.subject_key("acme", "ada")
    epoch = keystore.epoch("acme")

    assert keystore.destroy("acme", "ada") == 1

    assert keystore.epoch("acme") == epoch + 1
    assert keystore.epoch("other") == 0
    with pytest.raises(TextErased):
        keystore.key("acme", key.id)


def test_keys_outlive_the_process_and_only_their_master_key_opens_them(address: str) -> None:
    first = KeyStore(address, MASTER_KEY)
    key = first.subject_key("acme", "ada")
    first.close()

    second = KeyStore(address, MASTER_KEY)

    assert second.subject_key("acme", "ada") == key
    second.close()
    with pytest.raises(MasterKeyWrong):
        KeyStore(address, bytes(32))


def test_what_is_buried_stays_buried_for_its_tenant_alone(keystore: KeyStore) -> None:
    ledger = KeyStoreLedger(keystore)
    ledger.bury_all("acme", [Node("memory", "m1"), Node("memory", "m1")])
    first = ledger.buried("acme", "memory", ["m1"])["m1"]
    ledger.bury_all("acme", [Node("memory", "m1")])
    ledger.bury_all("acme", [])

    assert set(ledger.buried("acme", "memory", ["m1", "m2"])) == {"m1"}
    assert ledger.buried("acme", "memory", ["m1"])["m1"] > first
    assert ledger.buried("acme", "evidence", ["m1"]) == {}
    assert ledger.buried("other", "memory", ["m1"]) == {}


def test_a_long_list_is_buried_and_found_whole(keystore: KeyStore) -> None:
    names = [f"m{number}" for number in range(1_201)]
    ledger = KeyStoreLedger(keystore)

    ledger.bury_all("acme", [Node("memory", name) for name in names])

    assert set(ledger.buried("acme", "memory", names)) == set(names)


def test_neither_keys_nor_subjects_nor_a_destroyed_key_lie_in_the_file(tmp_path: Path) -> None:
    store = KeyStore(f"sqlite:///{tmp_path / 'keys.db'}", MASTER_KEY)
    key = store.subject_key("acme", "ada-lovelace")
    KeyStoreLedger(store).bury_all("acme", [Node("memory", "memory-of-ada")])
    wrapped = _wrapped_keys(tmp_path / "keys.db", key.id)

    store.destroy("acme", "ada-lovelace")

    content = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert len(wrapped) == 60
    for trace in (key.key, b"ada-lovelace", b"memory-of-ada", wrapped):
        assert trace not in content
    store.close()


def _wrapped_keys(path: Path, key_id: str) -> bytes:
    import sqlite3  # noqa: PLC0415 - only this look into the file needs the driver

    connection = sqlite3.connect(path)
    found: bytes = connection.execute("SELECT wrapped FROM data_keys WHERE key_id = ?", [key_id]).fetchone()[
        0
    ]
    connection.close()
    return found


def _first_key(address: str, folder: Path) -> tuple[bytes, str]:
    master_key = load_master_key(None, file=folder / "keystore" / "master.key")
    store = KeyStore(address, master_key)
    key = store.subject_key("acme", "ada")
    store.close()
    return master_key, key.id


def test_processes_that_start_at_once_share_master_key_and_keys(address: str, tmp_path: Path) -> None:
    with multiprocessing.get_context("spawn").Pool(3) as pool:
        found = pool.starmap(_first_key, [(address, tmp_path)] * 3)

    assert len(set(found)) == 1


def test_the_master_key_is_a_file_of_its_owner_alone(tmp_path: Path) -> None:
    file = tmp_path / "keystore" / "master.key"

    key = load_master_key(None, file=file)

    assert len(key) == 32
    assert load_master_key(None, file=file) == key
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert [path.name for path in file.parent.iterdir()] == ["master.key"]


def test_a_master_key_that_others_may_read_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "master.key"
    load_master_key(None, file=file)
    file.chmod(0o640)

    with pytest.raises(MasterKeyError, match="0600"):
        load_master_key(None, file=file)


@pytest.mark.parametrize("encoded", ["", "not base64!", base64.b64encode(b"short").decode(), "ключ"])
def test_a_setting_that_is_no_key_is_refused(encoded: str, tmp_path: Path) -> None:
    with pytest.raises(MasterKeyError) as caught:
        load_master_key(encoded, file=tmp_path / "unused")

    assert not encoded or encoded not in str(caught.value)


def test_the_setting_comes_before_the_file(tmp_path: Path) -> None:
    encoded = base64.b64encode(MASTER_KEY).decode()

    assert load_master_key(f" {encoded}\n", file=tmp_path / "unused") == MASTER_KEY
    assert not (tmp_path / "unused").exists()
