"""A real application over a real record: tenants, projects and keys as an operator would make them."""

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

import uvicorn
from fastapi import APIRouter, FastAPI
from fastapi.testclient import TestClient
from pydantic import SecretStr
from sqlmodel import Session, func, select
from starlette.routing import BaseRoute, Route

from service.core.database import Database
from service.core.ids import new_id
from service.entry.http.app import create_app
from service.identity.model import Project, Role
from service.identity.store import IdentityStore
from service.identity.tables import ApiKeyRow, TenantRow
from service.identity.token import hash_secret, new_token
from service.settings import Settings
from service.wiring import Runtime, build

TENANT = "acme"
PROJECT = "alpha"

_routes: dict[tuple[int, ...], list[BaseRoute]] = {}
"""The routes of an application, kept for the next one with the same further routers."""


@dataclass
class Site:
    """An application, its runtime, and keys for it."""

    runtime: Runtime
    client: TestClient
    clock: Callable[[], datetime]
    tenants: dict[str, str] = field(default_factory=dict)

    def token(
        self,
        role: Role | str = Role.AGENT,
        *,
        subject: str = "agent-1",
        on_behalf_of: str | None = None,
        tenant: str = TENANT,
        projects: Sequence[str] = (PROJECT,),
        sources: Sequence[str] = (),
    ) -> str:
        """Make a key, with what it needs, and answer its token."""
        token = new_token()
        tenant_id = self._tenant(tenant)
        with self.runtime.database.write(tenant_id) as session:
            store = IdentityStore(session, tenant_id)
            for name in projects:
                project = self._project(store, name)
                for member in (subject, on_behalf_of):
                    if member is not None:
                        store.add_member(project.id, member, now=self.clock())
            session.add(
                ApiKeyRow(
                    tenant_id=tenant_id,
                    id=token.id,
                    secret_hash=hash_secret(token.secret),
                    role=Role(role),
                    subject=subject,
                    on_behalf_of=on_behalf_of,
                    sources=list(sources),
                    created_at=self.clock(),
                )
            )
        return str(token)

    def headers(self, role: Role | str = Role.AGENT, **key: Any) -> dict[str, str]:
        """Answer the headers of a caller with a new key."""
        return {"Authorization": f"Bearer {self.token(role, **key)}"}

    def count(self, row: type[Any], *, tenant: str = TENANT) -> int:
        """Count a tenant's rows of a table."""
        tenant_id = self._tenant(tenant)
        with self.runtime.database.read(tenant_id) as session:
            return _count(session, row)

    def _tenant(self, name: str) -> str:
        if name not in self.tenants:
            tenant_id = new_id()
            with self.runtime.database.write(None) as session:
                session.add(TenantRow(id=tenant_id, name=name, created_at=self.clock()))
            self.tenants[name] = tenant_id
        return self.tenants[name]

    def _project(self, store: IdentityStore, name: str) -> Project:
        found = store.find_project(name)
        if found is None:
            found = Project(new_id(), name)
            store.add_project(found, now=self.clock())
        return found


@contextmanager
def open_site(
    database: Database,
    folder: Path,
    clock: Callable[[], datetime],
    *,
    routers: Sequence[APIRouter] = (),
    **choices: Any,
) -> Iterator[Site]:
    """Open an application over `database`, with everything else in `folder`. `choices` are settings."""
    url = database.engine.url.render_as_string(hide_password=False)
    settings = Settings(data_dir=folder, database_url=SecretStr(url), worker_enabled=False, **choices)
    runtime = build(settings, clock=clock)
    try:
        app = create_app(runtime, extra_routers=routers)
        _share_routes(app, routers)
        with TestClient(app) as client:
            yield Site(runtime, client, clock)
    finally:
        runtime.close()


@contextmanager
def listening(site: Site) -> Iterator[str]:
    """Serve the site's application on a port of this machine, as `serve` does; answer its address."""
    server = uvicorn.Server(uvicorn.Config(site.client.app, port=0, log_config=None, lifespan="off"))
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        while not server.started:
            time.sleep(0.01)
        port = server.servers[0].sockets[0].getsockname()[1]
        yield f"http://127.0.0.1:{port}"
    finally:
        server.should_exit = True
        thread.join()


def _share_routes(app: FastAPI, routers: Sequence[APIRouter]) -> None:
    # FastAPI makes a router's routes when the first request passes it, 2 ms each. They hold nothing of their
    # application: a call's runtime comes with the call.
    own = list(app.router.routes)
    kept = _routes.setdefault(tuple(map(id, routers)), own)  # the routes keep their routers alive
    app.router.routes[:] = [
        mine if isinstance(mine, Route) else first for mine, first in zip(own, kept, strict=True)
    ]


def _count(session: Session, row: type[Any]) -> int:
    return session.exec(select(func.count()).select_from(row)).one()
