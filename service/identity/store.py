"""The queries of the registry, and of one tenant's projects, members and keys."""

from collections.abc import Sequence
from datetime import datetime
from functools import cache
from typing import Any, Final

from sqlalchemy import Row, Select, bindparam, delete, func, update
from sqlalchemy import select as sqlalchemy_select
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import IntegrityError
from sqlmodel import Session, col, select

from service.core.errors import Conflict
from service.core.paging import Page, PageRequest
from service.identity.model import ApiKey, Member, Project, Role, Tenant
from service.identity.tables import ApiKeyRow, MemberRow, ProjectRow, TenantRow
from service.identity.unit import Unit

PROJECTS_MAX: Final = 5_000
"""Projects of one tenant: a caller carries all of its own, so there must be an end to them."""


class TenantExists(Conflict):
    """Another tenant has this name."""

    code = "tenant_exists"
    title = "A tenant of this name exists"


class ProjectExists(Conflict):
    """Another project of the tenant has this name."""

    code = "project_exists"
    title = "A project of this name exists"


class RegistryStore:
    """What can be asked before a tenant is known."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def find_key(self, key_id: str) -> tuple[ApiKey, str] | None:
        """Answer the key of that public part and its secret's hash, or `None`.

        On PostgreSQL the transaction must name the credential: no other row is shown to it.
        """
        row = self._session.connection().execute(_KEY_BY_ID, {"key_id": key_id}).first()
        return None if row is None else (key_of(row), row.secret_hash)

    def find_tenant(self, name: str) -> Tenant | None:
        """Answer the tenant of that name, or `None`."""
        row = self._session.exec(select(TenantRow).where(col(TenantRow.name) == name)).first()
        return None if row is None else _tenant_of(row)

    def find_tenant_name(self, tenant_id: str) -> str | None:
        """Answer the name of the tenant of that id, or `None`."""
        return self._session.exec(select(TenantRow.name).where(col(TenantRow.id) == tenant_id)).first()

    def list_tenants(self, request: PageRequest) -> Page[Tenant]:
        """Answer tenants in the order of their names."""
        query = select(TenantRow).order_by(col(TenantRow.name)).limit(request.limit + 1)
        if request.after is not None:
            query = query.where(col(TenantRow.name) > str(request.after[0]))
        tenants = [_tenant_of(row) for row in self._session.exec(query)]
        return request.page(tenants, [(tenant.name,) for tenant in tenants])

    def add_tenant(self, tenant: Tenant) -> None:
        """Add a tenant. Raises `TenantExists`."""
        self._session.add(TenantRow(id=tenant.id, name=tenant.name, created_at=tenant.created_at))
        try:
            self._session.flush()
        except IntegrityError:
            raise TenantExists from None


class IdentityStore:
    """One tenant's projects, members and keys, inside one transaction."""

    def __init__(self, session: Session, tenant_id: str) -> None:
        self._session = session
        self._tenant_id = tenant_id

    @classmethod
    def of(cls, unit: Unit) -> "IdentityStore":
        """Answer the store of the unit's tenant."""
        return cls(unit.session, unit.tenant_id)

    def find_project(self, name: str) -> Project | None:
        """Answer the tenant's project of that name, or `None`."""
        row = self._session.exec(
            select(ProjectRow).where(
                col(ProjectRow.tenant_id) == self._tenant_id, col(ProjectRow.name) == name
            )
        ).first()
        return None if row is None else Project(row.id, row.name)

    def count_projects(self) -> int:
        """Count the tenant's projects."""
        query = select(func.count()).select_from(ProjectRow)
        return self._session.exec(query.where(col(ProjectRow.tenant_id) == self._tenant_id)).one()

    def add_project(self, project: Project, *, now: datetime) -> None:
        """Add a project. Raises `ProjectExists`."""
        self._session.add(
            ProjectRow(tenant_id=self._tenant_id, id=project.id, name=project.name, created_at=now)
        )
        try:
            self._session.flush()
        except IntegrityError:
            raise ProjectExists from None

    def list_projects(self, request: PageRequest) -> Page[Project]:
        """Answer the tenant's projects in the order of their names."""
        query = (
            select(ProjectRow)
            .where(col(ProjectRow.tenant_id) == self._tenant_id)
            .order_by(col(ProjectRow.name))
            .limit(request.limit + 1)
        )
        if request.after is not None:
            query = query.where(col(ProjectRow.name) > str(request.after[0]))
        projects = [Project(row.id, row.name) for row in self._session.exec(query)]
        return request.page(projects, [(project.name,) for project in projects])

    def projects_of(self, subjects: Sequence[str], *, project_id: str | None) -> frozenset[Project]:
        """Answer the projects of which every subject is a member, only `project_id` where it is given.

        No subjects: every project of the tenant.
        """
        query = _projects_query(len(subjects), has_project=project_id is not None)
        named = {f"subject_{number}": subject for number, subject in enumerate(subjects)}
        rows = self._session.connection().execute(
            query, {"tenant_id": self._tenant_id, "project_id": project_id, **named}
        )
        return frozenset(Project(row.id, row.name) for row in rows)

    def add_member(self, project_id: str, subject: str, *, now: datetime) -> bool:
        """Make the subject a member; say whether it was none before."""
        insert = postgresql.insert if self._session.get_bind().dialect.name == "postgresql" else sqlite.insert
        row = {"tenant_id": self._tenant_id, "project_id": project_id, "subject": subject, "created_at": now}
        statement = insert(MemberRow).values(row).on_conflict_do_nothing().returning(col(MemberRow.subject))
        return self._session.connection().execute(statement).first() is not None

    def remove_member(self, project_id: str, subject: str) -> bool:
        """Remove a membership; say whether there was one."""
        removed = self._session.exec(
            delete(MemberRow).where(
                col(MemberRow.tenant_id) == self._tenant_id,
                col(MemberRow.project_id) == project_id,
                col(MemberRow.subject) == subject,
            )
        )
        return removed.rowcount > 0

    def list_members(self, project: Project, request: PageRequest) -> Page[Member]:
        """Answer a project's members in the order of their subjects."""
        query = (
            select(MemberRow)
            .where(col(MemberRow.tenant_id) == self._tenant_id, col(MemberRow.project_id) == project.id)
            .order_by(col(MemberRow.subject))
            .limit(request.limit + 1)
        )
        if request.after is not None:
            query = query.where(col(MemberRow.subject) > str(request.after[0]))
        members = [Member(project, row.subject, row.created_at) for row in self._session.exec(query)]
        return request.page(members, [(member.subject,) for member in members])

    def add_key(self, key: ApiKey, *, secret_hash: str) -> None:
        """Add a credential."""
        assert key.tenant_id == self._tenant_id
        self._session.add(
            ApiKeyRow(
                tenant_id=key.tenant_id,
                id=key.id,
                secret_hash=secret_hash,
                role=str(key.role),
                subject=key.subject,
                on_behalf_of=key.on_behalf_of,
                project_id=key.project_id,
                sources=list(key.sources),
                created_at=key.created_at,
                expires_at=key.expires_at,
                revoked_at=key.revoked_at,
            )
        )
        self._session.flush()

    def find_key(self, key_id: str) -> ApiKey | None:
        """Answer the tenant's key of that public part, or `None`."""
        row = self._session.get(ApiKeyRow, (self._tenant_id, key_id))
        return None if row is None else key_of(row)

    def living_keys_of(
        self, role: Role, subject: str, *, on_behalf_of: str | None, now: datetime
    ) -> Sequence[ApiKey]:
        """Answer the keys that count which the subject holds in that role, for that user or nobody."""
        rows = self._session.exec(
            select(ApiKeyRow).where(
                col(ApiKeyRow.tenant_id) == self._tenant_id,
                col(ApiKeyRow.subject) == subject,
                col(ApiKeyRow.role) == role,
                col(ApiKeyRow.on_behalf_of).is_not_distinct_from(on_behalf_of),
                col(ApiKeyRow.revoked_at).is_(None),
            )
        )
        return [key for key in map(key_of, rows) if key.is_live(now)]

    def revoke_key(self, key_id: str, *, now: datetime) -> bool:
        """Let a key end now; say whether it had not been revoked before."""
        revoked = self._session.exec(
            update(ApiKeyRow)
            .where(
                col(ApiKeyRow.tenant_id) == self._tenant_id,
                col(ApiKeyRow.id) == key_id,
                col(ApiKeyRow.revoked_at).is_(None),
            )
            .values(revoked_at=now)
        )
        return revoked.rowcount > 0

    def list_keys(self, request: PageRequest) -> Page[ApiKey]:
        """Answer the tenant's keys, live and ended, in the order of their ids."""
        query = (
            select(ApiKeyRow)
            .where(col(ApiKeyRow.tenant_id) == self._tenant_id)
            .order_by(col(ApiKeyRow.id))
            .limit(request.limit + 1)
        )
        if request.after is not None:
            query = query.where(col(ApiKeyRow.id) > str(request.after[0]))
        keys = [key_of(row) for row in self._session.exec(query)]
        return request.page(keys, [(key.id,) for key in keys])


_KEY_BY_ID: Final = (
    sqlalchemy_select(*ApiKeyRow.__table__.columns)  # type: ignore[attr-defined]  # SQLModel adds it to tables
    .where(col(ApiKeyRow.id) == bindparam("key_id"))
    .limit(1)
)


@cache
def _projects_query(subjects: int, *, has_project: bool) -> Select[str, str]:
    """Answer the query of `projects_of` for so many subjects: it runs at each request, and is built once."""
    query = sqlalchemy_select(col(ProjectRow.id), col(ProjectRow.name)).where(
        col(ProjectRow.tenant_id) == bindparam("tenant_id")
    )
    if has_project:
        query = query.where(col(ProjectRow.id) == bindparam("project_id"))
    for number in range(subjects):
        memberships = sqlalchemy_select(col(MemberRow.project_id)).where(
            col(MemberRow.tenant_id) == bindparam("tenant_id"),
            col(MemberRow.subject) == bindparam(f"subject_{number}"),
        )
        query = query.where(col(ProjectRow.id).in_(memberships))
    return query.limit(PROJECTS_MAX)


def _tenant_of(row: TenantRow) -> Tenant:
    return Tenant(row.id, row.name, row.created_at)


def key_of(row: ApiKeyRow | Row[*tuple[Any, ...]]) -> ApiKey:
    """Answer a row as the key that it is."""
    return ApiKey(
        tenant_id=row.tenant_id,
        id=row.id,
        role=Role(row.role),
        subject=row.subject,
        on_behalf_of=row.on_behalf_of,
        project_id=row.project_id,
        sources=tuple(row.sources),
        created_at=row.created_at,
        expires_at=row.expires_at,
        revoked_at=row.revoked_at,
    )
