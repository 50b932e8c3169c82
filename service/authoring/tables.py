"""Rows of plans: what a candidate policy would do, as it was worked out once. No word of anybody's."""

from datetime import datetime
from typing import Any

from sqlalchemy import JSON, Column, ForeignKeyConstraint
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
