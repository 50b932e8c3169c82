"""Rows of the registry: tenants, their projects, who is a member of which, and their keys."""

from datetime import datetime

from sqlalchemy import JSON, Column, ForeignKeyConstraint, Index, UniqueConstraint
from sqlmodel import Field, SQLModel

from service.core.database import UtcDateTime


class TenantRow(SQLModel, table=True):
    """One customer. It has no `tenant_id`, since it is what others are scoped by."""

    __tablename__ = "tenants"

    id: str = Field(primary_key=True, max_length=36)
    name: str = Field(max_length=200, unique=True)
    created_at: datetime = Field(sa_type=UtcDateTime)


class ProjectRow(SQLModel, table=True):
    """One project of a tenant."""

    __tablename__ = "projects"
    __table_args__ = (
        UniqueConstraint("tenant_id", "name", name="uq_projects_name"),
        ForeignKeyConstraint(["tenant_id"], ["tenants.id"], name="fk_projects_tenant"),
    )

    tenant_id: str = Field(primary_key=True, max_length=36)
    id: str = Field(primary_key=True, max_length=36)
    name: str = Field(max_length=200)
    created_at: datetime = Field(sa_type=UtcDateTime)


class MemberRow(SQLModel, table=True):
    """One subject's membership of one project."""

    __tablename__ = "members"
    __table_args__ = (
        ForeignKeyConstraint(
            ["tenant_id", "project_id"], ["projects.tenant_id", "projects.id"], name="fk_members_project"
        ),
        Index("ix_members_subject", "tenant_id", "subject"),
    )

    tenant_id: str = Field(primary_key=True, max_length=36)
    project_id: str = Field(primary_key=True, max_length=36)
    subject: str = Field(primary_key=True, max_length=200)
    created_at: datetime = Field(sa_type=UtcDateTime)


class ApiKeyRow(SQLModel, table=True):
    """One credential. Of its secret only the SHA-256 is here.

    The index on the public part alone is what a credential is found by before its tenant is known. It is not
    unique, so that the table can be distributed by tenant; 80 random bits keep the parts apart.
    """

    __tablename__ = "api_keys"
    __table_args__ = (
        ForeignKeyConstraint(["tenant_id"], ["tenants.id"], name="fk_api_keys_tenant"),
        ForeignKeyConstraint(
            ["tenant_id", "project_id"], ["projects.tenant_id", "projects.id"], name="fk_api_keys_project"
        ),
        Index("ix_api_keys_id", "id"),
        Index("ix_api_keys_subject", "tenant_id", "subject"),
        Index("ix_api_keys_on_behalf_of", "tenant_id", "on_behalf_of"),
    )

    tenant_id: str = Field(primary_key=True, max_length=36)
    id: str = Field(primary_key=True, max_length=36)
    secret_hash: str = Field(max_length=64)
    role: str = Field(max_length=32)
    subject: str = Field(max_length=200)
    on_behalf_of: str | None = Field(default=None, max_length=200)
    project_id: str | None = Field(default=None, max_length=36)
    sources: list[str] = Field(sa_column=Column(JSON, nullable=False))
    created_at: datetime = Field(sa_type=UtcDateTime)
    expires_at: datetime | None = Field(default=None, sa_type=UtcDateTime)
    revoked_at: datetime | None = Field(default=None, sa_type=UtcDateTime)
