"""Rows of runs, their checkpoints, and what people did to them."""

from datetime import datetime

from sqlalchemy import (
    JSON,
    BigInteger,
    CheckConstraint,
    Column,
    ForeignKeyConstraint,
    Index,
    LargeBinary,
    UniqueConstraint,
)
from sqlmodel import Field, SQLModel

from service.core.database import UtcDateTime
from service.executions.model import Status

_STATUSES = ", ".join(f"'{status}'" for status in Status)


class ExecutionRow(SQLModel, table=True):
    """One run. Money is counted in millionths, since SQLite has no exact decimals."""

    __tablename__ = "executions"
    __table_args__ = (
        ForeignKeyConstraint(
            ["tenant_id", "project_id"], ["projects.tenant_id", "projects.id"], name="fk_executions_project"
        ),
        UniqueConstraint("tenant_id", "project_id", "external_ref", name="uq_executions_external_ref"),
        CheckConstraint("step >= 0", name="ck_executions_step"),
        CheckConstraint("version >= 1", name="ck_executions_version"),
        CheckConstraint("cost_used_micros >= 0", name="ck_executions_cost"),
        CheckConstraint(f"status IN ({_STATUSES})", name="ck_executions_status"),
        Index("ix_executions_acting_user", "tenant_id", "acting_user"),
    )

    tenant_id: str = Field(primary_key=True, max_length=36)
    id: str = Field(primary_key=True, max_length=36)
    project_id: str = Field(max_length=36)
    external_ref: str | None = Field(default=None, max_length=200)
    version: int = 1
    status: str = Field(max_length=32)
    step: int = 0
    cost_used_micros: int = Field(default=0, sa_type=BigInteger)
    cost_budget_micros: int | None = Field(default=None, sa_type=BigInteger)
    steps_budget: int | None = None
    revisions_budget: int | None = None
    deadline: datetime | None = Field(default=None, sa_type=UtcDateTime)
    retention_class: str = Field(max_length=200)
    memory_mode: str = Field(max_length=16)
    schema_version: int
    acting_user: str = Field(max_length=200)
    agent: str | None = Field(default=None, max_length=200)
    person: str | None = Field(default=None, max_length=200)
    opened_by: str = Field(max_length=500)
    contract_hash: str = Field(max_length=71)
    contract_origin: str = Field(max_length=16)
    contract_confirmed_by: str | None = Field(default=None, max_length=200)
    finish_asked: bool = False
    ended_reason: str | None = Field(default=None, max_length=64)
    environment: bytes | None = Field(default=None, sa_type=LargeBinary)
    environment_checks: int = 0
    objective: bytes | None = Field(default=None, sa_type=LargeBinary)
    requirements: bytes | None = Field(default=None, sa_type=LargeBinary)
    requirement_ids: list[str] = Field(sa_column=Column(JSON, nullable=False))
    content_erased_at: datetime | None = Field(default=None, sa_type=UtcDateTime)
    """When all that was said and kept in it was destroyed: by an erasure, or by its retention class."""
    created_at: datetime = Field(sa_type=UtcDateTime)
    updated_at: datetime = Field(sa_type=UtcDateTime)


class CheckpointRow(SQLModel, table=True):
    """One move of a run. Its key holds the version that it made, so that a history cannot fork."""

    __tablename__ = "checkpoints"
    __table_args__ = (
        ForeignKeyConstraint(["tenant_id", "execution_id"], ["executions.tenant_id", "executions.id"]),
        CheckConstraint("step >= 0", name="ck_checkpoints_step"),
    )

    tenant_id: str = Field(primary_key=True, max_length=36)
    execution_id: str = Field(primary_key=True, max_length=36)
    version: int = Field(primary_key=True)
    transition: str = Field(max_length=16)
    status: str = Field(max_length=32)
    step: int
    cost_micros: int = Field(sa_type=BigInteger)
    schema_version: int
    state: bytes | None = Field(default=None, sa_type=LargeBinary)
    state_hash: str | None = Field(default=None, max_length=71)
    derived_from: list[str] = Field(sa_column=Column(JSON, nullable=False))
    by: str = Field(max_length=200)
    created_at: datetime = Field(sa_type=UtcDateTime)


class InterventionRow(SQLModel, table=True):
    """One act of a person upon a run from outside, with the reason that was given."""

    __tablename__ = "interventions"
    __table_args__ = (
        ForeignKeyConstraint(["tenant_id", "execution_id"], ["executions.tenant_id", "executions.id"]),
        Index("ix_interventions_execution", "tenant_id", "execution_id"),
    )

    tenant_id: str = Field(primary_key=True, max_length=36)
    id: str = Field(primary_key=True, max_length=36)
    execution_id: str = Field(max_length=36)
    action: str = Field(max_length=16)
    operation_id: str | None = Field(default=None, max_length=200)
    reason: bytes | None = Field(default=None, sa_type=LargeBinary)
    by: str = Field(max_length=450)
    created_at: datetime = Field(sa_type=UtcDateTime)
