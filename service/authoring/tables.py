"""Rows of plans (what a candidate policy would do) and of activations. No word of anybody's."""

from datetime import datetime
from typing import Any

from sqlalchemy import JSON, Column, ForeignKeyConstraint, Index, text
from sqlmodel import Field, SQLModel

from service.core.database import UtcDateTime
from service.policies.tables import VERSION_LENGTH


class PolicyPlanRow(SQLModel, table=True):
    """One plan. It is never changed: an activation names it by its hash."""

    __tablename__ = "policy_plans"
    __table_args__ = (
        ForeignKeyConstraint(
            ["tenant_id", "candidate_version"],
            ["policy_versions.tenant_id", "policy_versions.version"],
            name="fk_policy_plans_candidate",
        ),
    )

    tenant_id: str = Field(primary_key=True, max_length=36)
    id: str = Field(primary_key=True, max_length=36)
    hash: str = Field(max_length=VERSION_LENGTH)
    candidate_version: str = Field(max_length=VERSION_LENGTH)
    base_version: str = Field(max_length=VERSION_LENGTH)
    """What counted when it was worked out; `none` where nothing did."""
    base_revision: int
    days: int
    requester: str = Field(max_length=64)
    """The keyed hash of who made it: an erasure has no name to look for here."""
    direction: str = Field(max_length=20)
    changes: list[dict[str, Any]] = Field(sa_column=Column(JSON, nullable=False))
    """What the candidate says otherwise, rule by rule."""
    affected: dict[str, Any] = Field(sa_column=Column(JSON, nullable=False))
    """Counts."""
    samples: dict[str, Any] = Field(sa_column=Column(JSON, nullable=False))
    """Ids, classes, times and codes."""
    created_at: datetime = Field(sa_type=UtcDateTime)


class PolicyActivationRow(SQLModel, table=True):
    """One activation. The database lets one version count, and one wait for a second person, and no more."""

    __tablename__ = "policy_activations"
    __table_args__ = (
        ForeignKeyConstraint(
            ["tenant_id", "to_version"],
            ["policy_versions.tenant_id", "policy_versions.version"],
            name="fk_policy_activations_to",
        ),
        Index(
            "ux_policy_activations_active",
            "tenant_id",
            unique=True,
            sqlite_where=text("status = 'active'"),
            postgresql_where=text("status = 'active'"),
        ),
        Index(
            "ux_policy_activations_pending",
            "tenant_id",
            unique=True,
            sqlite_where=text("status = 'pending_second_person'"),
            postgresql_where=text("status = 'pending_second_person'"),
        ),
    )

    tenant_id: str = Field(primary_key=True, max_length=36)
    id: str = Field(primary_key=True, max_length=36)
    kind: str = Field(max_length=20)
    status: str = Field(max_length=30)
    direction: str = Field(max_length=20)
    from_version: str = Field(max_length=VERSION_LENGTH)
    to_version: str = Field(max_length=VERSION_LENGTH)
    base_revision: int
    """What had to count when it was asked for."""
    revision: int | None = None
    """What it made count, once it did."""
    plan_id: str | None = Field(default=None, max_length=36)
    requester: str = Field(max_length=64)
    """The keyed hash of who asked for it, as in plans."""
    second_person: str | None = Field(default=None, max_length=64)
    """The keyed hash of who approved or refused it."""
    created_at: datetime = Field(sa_type=UtcDateTime)
    activated_at: datetime | None = Field(default=None, sa_type=UtcDateTime)
    effective_at: datetime | None = Field(default=None, sa_type=UtcDateTime)
    """From when on a time that it shortened ends something."""


class PolicyShadowRow(SQLModel, table=True):
    """One shadow. The database lets one run."""

    __tablename__ = "policy_shadows"
    __table_args__ = (
        ForeignKeyConstraint(
            ["tenant_id", "candidate_version"],
            ["policy_versions.tenant_id", "policy_versions.version"],
            name="fk_policy_shadows_candidate",
        ),
        Index(
            "ux_policy_shadows_running",
            "tenant_id",
            unique=True,
            sqlite_where=text("status = 'running'"),
            postgresql_where=text("status = 'running'"),
        ),
    )

    tenant_id: str = Field(primary_key=True, max_length=36)
    id: str = Field(primary_key=True, max_length=36)
    plan_id: str = Field(max_length=36)
    status: str = Field(max_length=20)
    base_version: str = Field(max_length=VERSION_LENGTH)
    base_revision: int
    """What counts while it runs: with another one it is over."""
    candidate_version: str = Field(max_length=VERSION_LENGTH)
    requester: str = Field(max_length=64)
    """The keyed hash of who began it, as in plans."""
    created_at: datetime = Field(sa_type=UtcDateTime)
    until: datetime = Field(sa_type=UtcDateTime)
    ended_at: datetime | None = Field(default=None, sa_type=UtcDateTime)
