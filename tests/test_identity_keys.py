"""A key is shown once, found again by its hash, and counts only while it lives."""

import re
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from conftest import FixedClock
from registry_support import FIRST_PAGE, Office, open_office
from sqlalchemy import text

from service.audit.record import record
from service.core.database import Database
from service.core.errors import Invalid, NotFound, Unauthenticated
from service.identity.keys import get_tenant_id_of_key, list_keys, revoke_key
from service.identity.model import KeyWarning, NewKey, Role
from service.identity.rules import parse_lifetime
from service.identity.token import new_token, parse_token


@pytest.fixture
def office(database: Database, tmp_path: Path, clock: FixedClock) -> Iterator[Office]:
    with open_office(database, tmp_path, clock) as opened:
        yield opened


@pytest.fixture
def acme(office: Office) -> str:
    return office.found("acme", "alpha", "beta")


def test_a_key_authenticates_its_holder(office: Office, acme: str) -> None:
    office.join(acme, "alpha", "agent-1")
    issued = office.issue(acme, NewKey(Role.AGENT, "agent-1", sources=("register", "register", "bank")))

    caller = office.enter(issued.token)

    assert re.fullmatch(r"mun_[a-z2-7]{16}_[a-z2-7]{52}", issued.token)
    assert (caller.tenant_id, caller.credential_id, caller.role) == (acme, issued.key.id, Role.AGENT)
    assert (caller.subject, caller.on_behalf_of) == ("agent-1", None)
    assert caller.source_grants == {"register", "bank"}
    assert {project.name for project in caller.projects} == {"alpha"}


def test_neither_secret_nor_token_is_kept_or_shown_by_accident(office: Office, acme: str) -> None:
    issued = office.key(acme)
    secret = issued.token.rsplit("_", 1)[1]

    with office.registry.record.database.read(acme) as session:
        rows = session.connection().execute(text("SELECT * FROM api_keys")).all()

    assert len(rows) == 1
    assert secret not in repr(rows)
    assert secret not in repr(issued)
    assert secret not in repr(parse_token(issued.token))


def test_every_token_is_another() -> None:
    assert len({str(new_token()) for _ in range(100)}) == 100


def test_whatever_is_no_live_key_is_refused_alike(office: Office, acme: str, clock: FixedClock) -> None:
    live = office.key(acme).token
    expiring = office.issue(acme, NewKey(Role.AGENT, "a", lifetime=timedelta(hours=1))).token
    revoked = office.key(acme, "b")
    with office.registry.write(acme) as unit:
        revoke_key(revoked.key.id, unit=unit, trail=record)
    office.enter(expiring)
    clock.advance(hours=1)
    head, _, secret = live.rpartition("_")
    other = "b" if secret[0] == "a" else "a"
    refused = [
        expiring,
        revoked.token,
        f"{head}_{other}{secret[1:]}",
        str(new_token()),
        "",
        "mun__",
        live.upper(),
    ]
    refused += [f"{live} ", f"{live}\n", live[:-1], f"x{live}", "mun_ключ_ключ", "\x00", "mun_" * 1_000]

    answers = set()
    for token in refused:
        with pytest.raises(Unauthenticated) as caught:
            office.enter(token)
        answers.add((caught.value.code, caught.value.detail, tuple(caught.value.extra)))

    assert len(answers) == 1
    assert office.enter(live).subject == "agent-1"


def test_revoking_counts_from_the_next_request_and_may_be_repeated(
    office: Office, acme: str, clock: FixedClock
) -> None:
    issued = office.key(acme)
    office.enter(issued.token)

    for _ in range(2):
        with office.registry.write(acme) as unit:
            key = revoke_key(issued.key.id, unit=unit, trail=record)
        assert key.revoked_at == FixedClock().now
        clock.advance(days=1)

    with pytest.raises(Unauthenticated):
        office.enter(issued.token)
    assert office.actions(acme).count("key.revoked") == 1


def test_a_key_of_another_tenant_can_be_neither_seen_nor_revoked(office: Office, acme: str) -> None:
    other = office.found("other")
    issued = office.key(acme)

    with office.registry.write(other) as unit:
        assert list_keys(FIRST_PAGE, unit=unit).items == []
        with pytest.raises(NotFound):
            revoke_key(issued.key.id, unit=unit, trail=record)

    assert office.enter(issued.token).tenant_id == acme


def test_a_keys_tenant_is_found_by_the_key_alone(office: Office, acme: str) -> None:
    key_id = office.key(acme).key.id
    database = office.registry.record.database

    with database.read(None, credential_id=key_id) as session:
        assert get_tenant_id_of_key(key_id, session=session) == acme
    with database.read(None, credential_id="stranger") as session, pytest.raises(NotFound):
        get_tenant_id_of_key("stranger", session=session)


def test_keys_are_listed_without_secrets_page_by_page(office: Office, acme: str) -> None:
    made = {office.key(acme, f"agent-{number}").key.id for number in range(5)}

    with office.registry.write(acme) as unit:
        keys = list_keys(FIRST_PAGE, unit=unit).items

    assert [key.id for key in keys] == sorted(made)
    assert {key.tenant_id for key in keys} == {acme}


@pytest.mark.parametrize(
    "new",
    [
        NewKey(Role.SYSTEM, "job"),
        NewKey(Role.USER, "user-1", on_behalf_of="user-2"),
        NewKey(Role.REVIEWER, "user-1", on_behalf_of="user-2"),
        NewKey(Role.AGENT, ""),
        NewKey(Role.AGENT, "two words"),
        NewKey(Role.AGENT, "a:for:user-1"),
        NewKey(Role.AGENT, "a" * 201),
        NewKey(Role.AGENT, "a\x00"),
        NewKey(Role.AGENT, "a", on_behalf_of="-"),
        NewKey(Role.AGENT, "a", sources=("no good",)),
        NewKey(Role.AGENT, "a", sources=("s",) * 51),
        NewKey(Role.AGENT, "a", lifetime=timedelta(0)),
        NewKey(Role.AGENT, "a", lifetime=timedelta(days=3_651)),
    ],
)
def test_a_key_that_cannot_exist_is_refused_and_leaves_nothing(
    office: Office, acme: str, new: NewKey
) -> None:
    before = office.actions(acme)

    with pytest.raises(Invalid):
        office.issue(acme, new)

    assert office.actions(acme) == before


def test_a_key_for_a_project_makes_its_holder_a_member(office: Office, acme: str) -> None:
    first = office.issue(acme, NewKey(Role.USER, "user-1", project="alpha"))
    again = office.issue(acme, NewKey(Role.USER, "user-1", project="alpha"))
    auditor = office.issue(acme, NewKey(Role.AUDITOR, "eve", project="alpha"))

    assert (first.member_added, again.member_added, auditor.member_added) == (True, False, False)
    assert office.actions(acme).count("member.added") == 1
    with pytest.raises(NotFound):
        office.issue(acme, NewKey(Role.USER, "user-1", project="no-such"))


def test_a_key_that_reaches_nothing_yet_is_made_with_a_warning(office: Office, acme: str) -> None:
    office.join(acme, "alpha", "user-1", "agent-2")
    delegated = NewKey(Role.AGENT, "agent-1", on_behalf_of="user-1", project="alpha")

    assert office.key(acme, "stranger").warnings == (KeyWarning.NO_PROJECT,)
    assert office.issue(acme, delegated).warnings == ()
    assert office.issue(acme, NewKey(Role.AGENT, "agent-2", "user-9", "alpha")).warnings == (
        KeyWarning.USER_NOT_A_MEMBER,
    )
    assert office.key(acme, "eve", role=Role.AUDITOR).warnings == ()


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("30d", timedelta(days=30)),
        ("12h", timedelta(hours=12)),
        ("45m", timedelta(minutes=45)),
        ("90s", timedelta(seconds=90)),
        ("2w", timedelta(weeks=2)),
    ],
)
def test_a_lifetime_is_a_number_and_a_unit(written: str, meant: timedelta) -> None:
    assert parse_lifetime(written) == meant


@pytest.mark.parametrize(
    "written", ["", "30", "d", "0d", "-1d", "1.5d", "30 d", "30D", "30d\n", "9" * 9 + "d", "٣d"]
)
def test_any_other_lifetime_is_refused(written: str) -> None:
    with pytest.raises(Invalid):
        parse_lifetime(written)
