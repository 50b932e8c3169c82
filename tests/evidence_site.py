"""A real application with the default policies, for tests of evidence over HTTP."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from http_support import Site, open_site

from service.core.database import Database
from service.identity.model import Role
from service.policies.read_folder import read_folder
from service.policies.seed import seed_bundle

POLICIES: Final = Path(__file__).parents[1] / "policies"
SOURCE: Final = {"uri": "doc://plots/18", "kind": "document", "observed_at": "2026-11-30T09:00:00Z"}


@contextmanager
def open_evidence_site(
    database: Database, folder: Path, clock: Callable[[], datetime], tenants: Sequence[str] = ("acme",)
) -> Iterator[Site]:
    """Open an application whose tenants have the default policies."""
    with open_site(database, folder, clock) as site:
        for tenant in tenants:
            site.token(tenant=tenant)
            with database.write(site.tenants[tenant]) as session:
                seed_bundle(session, site.tenants[tenant], read_folder(POLICIES), now=clock())
        yield site


def body(text: str | None = None, uri: str = "doc://plots/18", **fields: Any) -> dict[str, Any]:
    """Make a request body."""
    made: dict[str, Any] = {"project": "alpha", "source": {**SOURCE, "uri": uri}, **fields}
    return made if text is None else {**made, "text": text}


def lines(*parts: Mapping[str, Any] | bytes) -> bytes:
    """Write JSON Lines; bytes are taken as they are."""
    return b"\n".join(part if isinstance(part, bytes) else json.dumps(part).encode() for part in parts)


def delegated(site: Site, user: str = "user-1") -> dict[str, str]:
    """Answer the headers of an agent that acts for a user."""
    return site.headers(Role.AGENT, on_behalf_of=user)
