"""From a bearer token to a caller, read anew from the record at every request."""

from datetime import datetime
from typing import Final

from sqlmodel import Session

from service.core.database import Database
from service.core.errors import Unauthenticated
from service.identity.matrix import scopes_of
from service.identity.model import ApiKey, Caller, Project
from service.identity.store import IdentityStore, RegistryStore
from service.identity.token import Token, hash_secret, parse_token, proves

# An unknown id is compared with this, so that it costs what a known one costs.
_DECOY_HASH: Final = hash_secret("")


def authenticate(database: Database, token: str, now: datetime) -> Caller:
    """Answer who holds the token and what they may do at this moment.

    Nothing is remembered between calls: a revoked key or an ended membership counts from the next request.
    Raises `Unauthenticated`, alike for a token that is malformed, unknown, wrong, expired or revoked.
    """
    parsed = parse_token(token)
    if parsed is None:
        raise Unauthenticated
    with database.read(None, credential_id=parsed.id) as session:
        key = _find_live_key(session, parsed, now)
        if key is None:
            raise Unauthenticated
        database.name_tenant(session, key.tenant_id)
        projects = IdentityStore(session, key.tenant_id).projects_of(
            key.member_subjects, project_id=key.project_id
        )
    return _caller_of(key, projects)


def _find_live_key(session: Session, token: Token, now: datetime) -> ApiKey | None:
    found = RegistryStore(session).find_key(token.id)
    key, secret_hash = found or (None, _DECOY_HASH)
    proven = proves(token, secret_hash)
    return key if key is not None and proven and key.is_live(now) else None


def _caller_of(key: ApiKey, projects: frozenset[Project]) -> Caller:
    return Caller(
        tenant_id=key.tenant_id,
        credential_id=key.id,
        role=key.role,
        subject=key.subject,
        on_behalf_of=key.on_behalf_of,
        projects=projects,
        scopes=scopes_of(key.role, delegated=key.delegated),
        source_grants=frozenset(key.sources),
    )
