"""Who may enter which project: membership, the key's own project, and both sides of a delegation."""

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import FixedClock
from registry_support import FIRST_PAGE, Office, open_office

from service.audit.record import record
from service.audit.verify import verify_chain
from service.core.database import Database
from service.core.errors import Invalid, NotFound
from service.identity.model import TENANT_WIDE_ROLES, NewKey, Role
from service.identity.projects import create_project, get_project, list_members, list_projects
from service.identity.store import ProjectExists, TenantExists
from service.identity.tenants import get_tenant, list_tenants

MEMBER_ROLES = [Role.AGENT, Role.USER, Role.REVIEWER, Role.GRADER]


@pytest.fixture
def office(database: Database, tmp_path: Path, clock: FixedClock) -> Iterator[Office]:
    with open_office(database, tmp_path, clock) as opened:
        yield opened


@pytest.fixture
def acme(office: Office) -> str:
    return office.found("acme", "alpha", "beta", "gamma")


@pytest.mark.parametrize("role", MEMBER_ROLES)
def test_a_member_enters_its_projects_until_it_leaves(office: Office, acme: str, role: Role) -> None:
    token = office.key(acme, "ada", role=role).token
    assert office.names(token) == set()

    office.join(acme, "alpha", "ada")
    office.join(acme, "beta", "ada", "bob")
    assert office.names(token) == {"alpha", "beta"}

    assert office.leave(acme, "beta", "ada")
    assert not office.leave(acme, "beta", "ada")
    assert office.names(token) == {"alpha"}


@pytest.mark.parametrize("role", sorted(TENANT_WIDE_ROLES - {Role.SYSTEM}))
def test_a_tenant_wide_role_enters_every_project_or_the_one_it_names(
    office: Office, acme: str, role: Role
) -> None:
    everywhere = office.key(acme, "olga", role=role).token
    one = office.issue(acme, NewKey(role, "olga", project="beta")).token

    assert office.names(everywhere) == {"alpha", "beta", "gamma"}
    assert office.names(one) == {"beta"}


def test_a_key_for_one_project_enters_no_other(office: Office, acme: str) -> None:
    office.join(acme, "alpha", "ada")
    token = office.issue(acme, NewKey(Role.USER, "ada", project="beta")).token
    assert office.names(token) == {"beta"}

    office.leave(acme, "beta", "ada")

    assert office.names(token) == set()


def test_a_delegated_key_enters_what_both_may_enter(office: Office, acme: str) -> None:
    office.join(acme, "alpha", "agent-1", "user-1")
    office.join(acme, "beta", "agent-1")
    office.join(acme, "gamma", "user-1")
    token = office.issue(acme, NewKey(Role.AGENT, "agent-1", on_behalf_of="user-1")).token
    assert office.names(token) == {"alpha"}

    office.join(acme, "beta", "user-1")
    assert office.names(token) == {"alpha", "beta"}

    office.leave(acme, "alpha", "user-1")
    office.leave(acme, "beta", "agent-1")
    assert office.names(token) == set()


def test_a_delegated_key_for_a_project_needs_the_user_there_too(office: Office, acme: str) -> None:
    token = office.issue(acme, NewKey(Role.AGENT, "agent-1", "user-1", "alpha")).token
    assert office.names(token) == set()

    office.join(acme, "alpha", "user-1")

    assert office.names(token) == {"alpha"}


def test_equal_names_in_two_tenants_are_two_worlds(office: Office, acme: str) -> None:
    other = office.found("other", "alpha")
    office.join(acme, "alpha", "ada")

    assert office.names(office.key(acme, "ada", role=Role.USER).token) == {"alpha"}
    assert office.names(office.key(other, "ada", role=Role.USER).token) == set()
    with office.registry.write(other) as unit:
        assert [each.name for each in list_projects(FIRST_PAGE, unit=unit).items] == ["alpha"]
        with pytest.raises(NotFound):
            get_project("beta", unit=unit)


def test_a_name_is_taken_once(office: Office, acme: str) -> None:
    with pytest.raises(TenantExists):
        office.found("acme")
    with pytest.raises(ProjectExists), office.registry.write(acme) as unit:
        create_project("alpha", unit=unit, trail=record)


def test_of_two_who_take_a_name_at_once_one_gets_it(office: Office, acme: str) -> None:
    outcomes: list[str] = []
    barrier = threading.Barrier(4)

    def take() -> None:
        barrier.wait()
        try:
            with office.registry.write(acme) as unit:
                create_project("delta", unit=unit, trail=record)
            outcomes.append("made")
        except ProjectExists:
            outcomes.append("taken")

    threads = [threading.Thread(target=take) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert sorted(outcomes) == ["made", "taken", "taken", "taken"]


@pytest.mark.parametrize(
    "name", ["", " ", "two words", ".hidden", "a" * 201, "nul\x00", "\ud800", "a:for:b", "имя"]
)
def test_what_is_no_name_is_refused(office: Office, acme: str, name: str) -> None:
    with pytest.raises(Invalid):
        office.found(name)
    with pytest.raises(Invalid):
        office.join(acme, "alpha", name)


def test_tenants_and_members_are_listed_by_name(office: Office, acme: str) -> None:
    office.found("zebra")
    office.join(acme, "alpha", "bob", "ada", "bob")

    with office.registry.record.database.read(None) as session:
        assert [each.name for each in list_tenants(FIRST_PAGE, session=session).items] == ["acme", "zebra"]
        assert get_tenant("acme", session=session).id == acme
        with pytest.raises(NotFound):
            get_tenant("nobody", session=session)
    with office.registry.write(acme) as unit:
        members = list_members(get_project("alpha", unit=unit), FIRST_PAGE, unit=unit).items
    assert [each.subject for each in members] == ["ada", "bob"]


def test_every_change_is_in_the_trail_and_the_trail_holds(office: Office, acme: str) -> None:
    office.join(acme, "alpha", "ada", "ada")
    office.leave(acme, "alpha", "ada")
    office.key(acme)

    assert office.actions(acme) == [
        "tenant.created",
        *["project.created"] * 3,
        "member.added",
        "member.removed",
        "key.created",
    ]
    opened = office.registry.record
    with opened.database.read(acme) as session:
        assert verify_chain(session, acme, cipher=opened.ciphers.for_tenant(acme)).intact
