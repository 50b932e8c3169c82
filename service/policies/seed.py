"""A tenant's first policy version, out of the folder on disk."""

from collections.abc import Mapping
from datetime import datetime
from functools import lru_cache

from sqlmodel import Session

from service.policies.load import load_bundle
from service.policies.store import PolicyStore


def seed_bundle(session: Session, tenant_id: str, files: Mapping[str, str], *, now: datetime) -> str:
    """Make `files` the tenant's first active version, and answer the version that is active afterwards.

    A tenant that has one keeps it: from then on only an activation by a principal changes it. Raises
    `BundleInvalid` for files that are not a bundle. Call it in the transaction that creates the tenant.
    """
    store = PolicyStore(session, tenant_id)
    active = store.find_active()
    if active is not None:
        return active.version
    version = _version_of(frozenset(files.items()))
    store.add_version(version, files, now=now)
    store.activate_first(version, now=now)
    return version


@lru_cache(maxsize=8)
def _version_of(files: frozenset[tuple[str, str]]) -> str:
    # All tenants start with the same few files, and reading them takes longer than all else about a tenant.
    return load_bundle(dict(files)).version
