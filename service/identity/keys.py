"""Issuing, ending and listing credentials. A secret is answered once, at its making, and never again."""

import secrets

from sqlmodel import Session

from service.core.errors import NotFound
from service.core.paging import Page, PageRequest
from service.core.tombstones import Right
from service.identity.model import ApiKey, IssuedKey, KeyWarning, NewKey, Project
from service.identity.ports import Trail
from service.identity.projects import add_member, get_project
from service.identity.rules import check_key
from service.identity.store import IdentityStore, RegistryStore
from service.identity.token import RandomBytes, hash_secret, new_token
from service.identity.unit import Unit


def create_key(
    new: NewKey, *, unit: Unit, trail: Trail, random: RandomBytes = secrets.token_bytes
) -> IssuedKey:
    """Issue a credential and answer its token, the only time that anybody sees it.

    A key that names a project makes its holder a member of it; never the user that it acts for: a user's
    membership is the user's own matter, and a missing one is answered as a warning. Raises `Invalid`, and
    `NotFound` for a project that is not there.
    """
    check_key(new)
    project = None if new.project is None else get_project(new.project, unit=unit)
    token = new_token(random)
    key = ApiKey(
        tenant_id=unit.tenant_id,
        id=token.id,
        role=new.role,
        subject=new.subject,
        on_behalf_of=new.on_behalf_of,
        project_id=None if project is None else project.id,
        sources=tuple(sorted(set(new.sources))),
        created_at=unit.now,
        expires_at=None if new.lifetime is None else unit.now + new.lifetime,
        revoked_at=None,
    )
    IdentityStore.of(unit).add_key(key, secret_hash=hash_secret(token.secret))
    trail(
        unit,
        "key.created",
        kind="key",
        ref=key.id,
        role=str(key.role),
        subject=key.subject,
        on_behalf_of=key.on_behalf_of,
        project_id=key.project_id,
        sources=list(key.sources),
    )
    member_added = (
        project is not None
        and bool(key.member_subjects)
        and add_member(project, key.subject, unit=unit, trail=trail)
    )
    return IssuedKey(key, str(token), project, member_added, _warnings(key, project, unit))


def revoke_key(key_id: str, *, unit: Unit, trail: Trail) -> ApiKey:
    """End a key, from the next request on; ending it again changes nothing. Raises `NotFound`."""
    store = IdentityStore.of(unit)
    revoked = store.revoke_key(key_id, now=unit.now)
    key = store.find_key(key_id)
    if key is None:
        raise NotFound("There is no key of that id.")
    if revoked:
        unit.end_right(Right.KEY, key_id)
        trail(unit, "key.revoked", kind="key", ref=key_id)
    return key


def get_tenant_id_of_key(key_id: str, *, session: Session) -> str:
    """Answer whose key it is, in a transaction that names the credential. Raises `NotFound`."""
    found = RegistryStore(session).find_key(key_id)
    if found is None:
        raise NotFound("There is no key of that id.")
    return found[0].tenant_id


def list_keys(request: PageRequest, *, unit: Unit) -> Page[ApiKey]:
    """Answer the tenant's keys, live and ended, in the order of their ids."""
    return IdentityStore.of(unit).list_keys(request)


def _warnings(key: ApiKey, project: Project | None, unit: Unit) -> tuple[KeyWarning, ...]:
    if not key.member_subjects:
        return ()
    store = IdentityStore.of(unit)
    project_id = None if project is None else project.id
    if store.projects_of(key.member_subjects, project_id=project_id):
        return ()
    if key.on_behalf_of is not None and not store.projects_of((key.on_behalf_of,), project_id=project_id):
        return (KeyWarning.USER_NOT_A_MEMBER,)
    return (KeyWarning.NO_PROJECT,)
