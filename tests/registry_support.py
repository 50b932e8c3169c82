"""A registry over a real record: units of work as the command line opens them."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from pydantic import SecretStr

from service.audit.record import record
from service.audit.store import AuditStore
from service.core.database import Database
from service.core.paging import page_request
from service.entry.cli.opening import Registry
from service.identity.authenticate import authenticate
from service.identity.keys import create_key
from service.identity.model import Caller, IssuedKey, NewKey, Role
from service.identity.projects import add_member, create_project, get_project, remove_member
from service.identity.tenants import create_tenant
from service.settings import Settings
from service.wiring import build_record

FIRST_PAGE = page_request(100, None, tenant_id="any", filters=())


@dataclass(frozen=True, slots=True)
class Office:
    """Where tenants, projects and keys are made, by the shortest words."""

    registry: Registry

    def found(self, name: str, *projects: str) -> str:
        """Found a tenant with projects; answer its id."""
        tenant_id = self.registry.ids()
        with self.registry.write(tenant_id) as unit:
            create_tenant(name, unit=unit, trail=record)
            for project in projects:
                create_project(project, unit=unit, trail=record)
        return tenant_id

    def join(self, tenant_id: str, project: str, *subjects: str) -> None:
        """Make subjects members."""
        with self.registry.write(tenant_id) as unit:
            for subject in subjects:
                add_member(get_project(project, unit=unit), subject, unit=unit, trail=record)

    def leave(self, tenant_id: str, project: str, subject: str) -> bool:
        """End a membership."""
        with self.registry.write(tenant_id) as unit:
            return remove_member(get_project(project, unit=unit), subject, unit=unit, trail=record)

    def issue(self, tenant_id: str, new: NewKey) -> IssuedKey:
        """Issue a key."""
        with self.registry.write(tenant_id) as unit:
            return create_key(new, unit=unit, trail=record)

    def key(self, tenant_id: str, subject: str = "agent-1", *, role: Role = Role.AGENT) -> IssuedKey:
        """Issue a plain key."""
        return self.issue(tenant_id, NewKey(role, subject))

    def enter(self, token: str) -> Caller:
        """Authenticate, as of now."""
        return authenticate(self.registry.record.database, token, self.registry.clock())

    def names(self, token: str) -> set[str]:
        """Answer the names of the projects that the token's holder may enter."""
        return {project.name for project in self.enter(token).projects}

    def actions(self, tenant_id: str) -> list[str]:
        """Answer what the tenant's trail says was done."""
        with self.registry.record.database.read(tenant_id) as session:
            return [link.event.action for link in AuditStore(session, tenant_id).links()]


@contextmanager
def open_office(database: Database, folder: Path, clock: Callable[[], datetime]) -> Iterator[Office]:
    """Open an office over `database`, with its key store in `folder`."""
    url = database.engine.url.render_as_string(hide_password=False)
    opened = build_record(Settings(data_dir=folder, database_url=SecretStr(url)), clock=clock)
    try:
        yield Office(Registry(opened, clock))
    finally:
        opened.close()
