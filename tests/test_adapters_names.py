"""A pseudonym stands for a person as long as the person's key lives, and for nobody afterwards."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from service.adapters.keystore import KeyStore
from service.adapters.subject_cipher import SubjectCipher, SubjectCiphers
from service.core.ids import is_id

MASTER_KEY = bytes(range(32))


@pytest.fixture
def keystore(tmp_path: Path) -> Iterator[KeyStore]:
    store = KeyStore(f"sqlite:///{tmp_path / 'keys.db'}", MASTER_KEY)
    yield store
    store.close()


def process(keystore: KeyStore, tenant_id: str = "acme") -> SubjectCipher:
    """Answer a cipher that remembers nothing, as in a process of its own."""
    return SubjectCiphers(keystore).for_tenant(tenant_id)


def test_a_pseudonym_is_an_id_and_its_name_can_be_asked_in_any_process(keystore: KeyStore) -> None:
    pseudonym = process(keystore).pseudonym("ada")

    assert is_id(pseudonym)
    assert process(keystore).pseudonym("ada") == process(keystore).find_pseudonym("ada") == pseudonym
    assert process(keystore).names_of([pseudonym, "another"]) == {pseudonym: "ada"}


def test_it_says_nothing_in_another_tenant(keystore: KeyStore) -> None:
    pseudonym = process(keystore).pseudonym("ada")

    assert process(keystore, "other").names_of([pseudonym]) == {}
    assert process(keystore, "other").find_pseudonym("ada") is None


def test_looking_for_somebody_makes_nothing(keystore: KeyStore) -> None:
    assert process(keystore).find_pseudonym("ada") is None
    assert process(keystore).find_pseudonym("ada") is None


def test_a_person_whose_text_was_sealed_before_is_named_when_they_act(keystore: KeyStore) -> None:
    process(keystore).seal("plot 18", subjects=["ada"], place="turns/1")

    pseudonym = process(keystore).pseudonym("ada")

    assert process(keystore).names_of([pseudonym]) == {pseudonym: "ada"}


def test_once_the_key_is_destroyed_nobody_knows_whose_it_was(keystore: KeyStore, tmp_path: Path) -> None:
    ciphers = SubjectCiphers(keystore)
    before = ciphers.for_tenant("acme").pseudonym("ada-lovelace")

    keystore.destroy("acme", "ada-lovelace")

    cipher = ciphers.for_tenant("acme")
    assert cipher.names_of([before]) == {}
    assert cipher.find_pseudonym("ada-lovelace") is None
    assert cipher.pseudonym("ada-lovelace") != before
    stored = b"".join(path.read_bytes() for path in tmp_path.glob("keys.db*"))
    assert b"ada-lovelace" not in stored
