"""Rows of a tenant's policy versions and of the one that is active."""

from datetime import datetime
from typing import Final

from sqlalchemy import JSON, Column, ForeignKeyConstraint
from sqlmodel import Field, SQLModel

from service.core.database import UtcDateTime

VERSION_LENGTH: Final = len("sha256:") + 64


class PolicyVersionRow(SQLModel, table=True):
    """One version's files as they were given. Policy text is nobody's personal data and stays readable."""

    __tablename__ = "policy_versions"

    tenant_id: str = Field(primary_key=True, max_length=36)
    version: str = Field(primary_key=True, max_length=VERSION_LENGTH)
    files: dict[str, str] = Field(sa_column=Column(JSON, nullable=False))
    created_at: datetime = Field(sa_type=UtcDateTime)


class PolicyActiveRow(SQLModel, table=True):
    """Which version counts for a tenant. `revision` counts activations, for compare-and-swap."""

    __tablename__ = "policy_active"
    __table_args__ = (
        ForeignKeyConstraint(
            ["tenant_id", "version"], ["policy_versions.tenant_id", "policy_versions.version"]
        ),
    )

    tenant_id: str = Field(primary_key=True, max_length=36)
    revision: int = Field(ge=1)
    version: str = Field(max_length=VERSION_LENGTH)
    activated_at: datetime = Field(sa_type=UtcDateTime)
