"""No word that anybody wrote reaches the trail: not by a detail, not by a name, not by a request's id."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from service.adapters.keystore import KeyStore
from service.adapters.subject_cipher import SubjectCipher, SubjectCiphers
from service.audit.details import DETAILS, Detail, Kind, check_ref, kept_details, kept_request_id
from service.audit.principals import find_kept_principal, kept_principal, named_principals
from service.core.ids import is_id, new_id
from service.identity.model import Caller, Role
from service.policies.model import NO_BUNDLE

SERVICE = Path(__file__).parents[1] / "service"
CALLS = {"record", "trail"}
WORDS = [
    "alice@example.org",
    "hunter2",
    "Prefers-tea",
    "order-8",
    "a b",
    "0" * 63,
    "é",
    "x" * 201,
    "SECRET-9",
]


@pytest.fixture(scope="module")
def cipher(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SubjectCipher]:
    store = KeyStore(f"sqlite:///{tmp_path_factory.mktemp('keys') / 'keys.db'}", bytes(32))
    yield SubjectCiphers(store).for_tenant("acme")
    store.close()


def caller(subject: str, *, user: str | None = None, role: Role = Role.AGENT) -> Caller:
    return Caller("acme", "key1", role, subject, user, frozenset(), frozenset())


@settings(deadline=None, max_examples=200)
@given(
    name=st.sampled_from([name for name, kind in DETAILS.items() if kind is not Kind.CODE]),
    word=st.sampled_from(WORDS) | st.text(min_size=5, max_size=60),
)
def test_what_a_caller_chose_is_hashed_or_refused(cipher: SubjectCipher, name: str, word: str) -> None:
    about = f"continue:{word}"
    values: list[Detail] = [about] if DETAILS[name] is Kind.VERB else [about, word, [word]]
    for value in values:
        try:
            kept = kept_details({name: value}, cipher, names=True)
        except ValueError:
            continue
        assert word not in str(kept) or is_id(word)


@pytest.mark.parametrize("name", [name for name, kind in DETAILS.items() if kind is Kind.CODE])
def test_a_code_is_short_and_has_nothing_that_sentences_and_addresses_have(
    cipher: SubjectCipher, name: str
) -> None:
    for word in ("alice@example.org", "two words", "x" * 65, "tool://register", "a:b", "+44", "é", ""):
        with pytest.raises(ValueError, match=name):
            kept_details({name: word}, cipher, names=True)


def test_a_policy_that_is_not_there_has_a_version_too_and_a_limit_is_named_by_its_reason(
    cipher: SubjectCipher,
) -> None:
    details: dict[str, Detail] = {"policy_version": NO_BUNDLE.version, "limited": "source_unknown"}

    assert kept_details(details, cipher, names=False) == details


def test_the_same_choice_is_known_again_and_in_another_tenant_is_not(cipher: SubjectCipher) -> None:
    first = kept_details({"operation": "order-8", "requirements": ["login"]}, cipher, names=False)

    assert first == kept_details({"operation": "order-8", "requirements": ["login"]}, cipher, names=False)
    assert str(first["operation"]).startswith("hmac:")
    other = SubjectCiphers(cipher._ciphers.keystore).for_tenant("other")  # noqa: SLF001 - the same key store
    assert first != kept_details({"operation": "order-8", "requirements": ["login"]}, other, names=False)


def test_a_decision_keeps_its_verb_and_hides_what_a_caller_named(cipher: SubjectCipher) -> None:
    item = new_id()

    decisions = ["completed", f"refresh:{item}", "reconcile:pay-alice"]
    kept = [kept_details({"decision": each}, cipher, names=False)["decision"] for each in decisions]

    assert kept[:2] == ["completed", f"refresh:{item}"]
    assert str(kept[2]).startswith("reconcile:hmac:")


def test_a_person_is_named_by_being_made_known_and_by_nothing_else(cipher: SubjectCipher) -> None:
    """Whoever was erased is given no name again because somebody's job still mentions them."""
    mentioned = kept_details({"acting_user": "zoe"}, cipher, names=False)["acting_user"]
    known = kept_details({"subject": "zoe"}, cipher, names=True)["subject"]

    assert str(mentioned).startswith("hmac:")
    assert is_id(str(known))
    assert kept_details({"acting_user": "zoe"}, cipher, names=False)["acting_user"] == known


def test_principals_are_kept_by_pseudonym_and_told_by_name(cipher: SubjectCipher) -> None:
    delegated = caller("agent-1", user="ada")
    kept = kept_principal(delegated, cipher)

    assert "agent-1" not in kept
    assert "ada" not in kept
    assert named_principals({kept, "system:muniment"}, cipher) == {
        kept: delegated.principal,
        "system:muniment": "system:muniment",
    }
    assert find_kept_principal(delegated.principal, cipher) == kept
    assert find_kept_principal("user:nobody-here", cipher) is None
    assert kept_principal(caller("muniment", role=Role.SYSTEM), cipher) == "system:muniment"


@pytest.mark.parametrize("given_id", ["r-1", "alice@example.org", "x" * 200])
def test_a_request_id_that_a_caller_made_up_is_hashed(cipher: SubjectCipher, given_id: str) -> None:
    assert kept_request_id(given_id, cipher).startswith("hmac:")
    assert kept_request_id(new_id(), cipher).count("-") == 4
    assert not kept_request_id("", cipher)


@pytest.mark.parametrize(
    ("kind", "ref"),
    [
        ("memory", "alice"),
        ("execution", "order-app-42"),
        ("operation", "GET:/v1/memories/alice@example.org"),
        ("consent", "what I said"),
        ("subject", "alice"),
        ("two words", "a"),
    ],
)
def test_an_event_is_about_an_id_or_a_code(kind: str, ref: str) -> None:
    with pytest.raises(ValueError, match="id or a code"):
        check_ref(kind, ref)


def test_every_detail_that_is_recorded_is_declared() -> None:
    recorded: dict[str, str] = {}
    for path in SERVICE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in CALLS:
                recorded |= {word.arg: str(path) for word in node.keywords if word.arg}

    assert len(recorded) > 30
    assert {name: place for name, place in recorded.items() if name not in {*DETAILS, "kind", "ref"}} == {}
