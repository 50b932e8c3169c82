"""Rows of packages: their manifests, and which items each one showed. No text but the sealed request."""

from datetime import datetime
from typing import Any

from sqlalchemy import JSON, Column, ForeignKeyConstraint, Index, LargeBinary
from sqlmodel import Field, SQLModel

from service.core.database import UtcDateTime


class PackageRow(SQLModel, table=True):
    """One package. `request` is what was asked, sealed, so that it can be built again."""

    __tablename__ = "packages"
    __table_args__ = (
        ForeignKeyConstraint(
            ["tenant_id", "project_id"], ["projects.tenant_id", "projects.id"], name="fk_packages_project"
        ),
        ForeignKeyConstraint(
            ["tenant_id", "execution_id"],
            ["executions.tenant_id", "executions.id"],
            name="fk_packages_execution",
        ),
        Index("ix_packages_execution", "tenant_id", "execution_id"),
        Index("ix_packages_acting_user", "tenant_id", "acting_user"),
    )

    tenant_id: str = Field(primary_key=True, max_length=36)
    id: str = Field(primary_key=True, max_length=36)
    project_id: str = Field(max_length=36)
    execution_id: str | None = Field(default=None, max_length=36)
    acting_user: str = Field(max_length=200)
    built_by: str = Field(max_length=500)
    purpose: str = Field(max_length=64)
    digest: str = Field(max_length=71)
    request: bytes = Field(sa_type=LargeBinary)
    manifest: dict[str, Any] = Field(sa_column=Column(JSON, nullable=False))
    quarantine_id: str | None = Field(default=None, max_length=36)
    """The quarantine of something that it showed."""
    created_at: datetime = Field(sa_type=UtcDateTime)


class PackageItemRow(SQLModel, table=True):
    """One item that one package showed: by it a memory's uses and an erasure's reach are found."""

    __tablename__ = "package_items"
    __table_args__ = (
        ForeignKeyConstraint(
            ["tenant_id", "package_id"],
            ["packages.tenant_id", "packages.id"],
            name="fk_package_items_package",
        ),
        Index("ix_package_items_item", "tenant_id", "kind", "item_id"),
    )

    tenant_id: str = Field(primary_key=True, max_length=36)
    package_id: str = Field(primary_key=True, max_length=36)
    kind: str = Field(primary_key=True, max_length=32)
    item_id: str = Field(primary_key=True, max_length=200)
    version: int = Field(primary_key=True)
