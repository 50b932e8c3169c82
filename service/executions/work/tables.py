"""Rows of declared tasks and of the execution log."""

from datetime import datetime

from sqlalchemy import JSON, CheckConstraint, Column, ForeignKeyConstraint, LargeBinary, UniqueConstraint
from sqlmodel import Field, SQLModel

from service.core.database import UtcDateTime


class TaskRow(SQLModel, table=True):
    """One declared task. `position` is its place in the manifest."""

    __tablename__ = "tasks"
    __table_args__ = (
        ForeignKeyConstraint(["tenant_id", "execution_id"], ["executions.tenant_id", "executions.id"]),
    )

    tenant_id: str = Field(primary_key=True, max_length=36)
    execution_id: str = Field(primary_key=True, max_length=36)
    id: str = Field(primary_key=True, max_length=200)
    position: int
    title: bytes | None = Field(default=None, sa_type=LargeBinary)
    inputs: list[str] = Field(sa_column=Column(JSON, nullable=False))
    outputs: list[str] = Field(sa_column=Column(JSON, nullable=False))


class StepRow(SQLModel, table=True):
    """One line of the log. `completed_key` is filled on completion only: no work is completed twice."""

    __tablename__ = "steps"
    __table_args__ = (
        ForeignKeyConstraint(["tenant_id", "execution_id"], ["executions.tenant_id", "executions.id"]),
        UniqueConstraint("tenant_id", "execution_id", "sequence", name="uq_steps_sequence"),
        UniqueConstraint("tenant_id", "execution_id", "completed_key", name="uq_steps_completed"),
        CheckConstraint("exit_status IN ('started', 'completed', 'failed')", name="ck_steps_exit_status"),
    )

    tenant_id: str = Field(primary_key=True, max_length=36)
    id: str = Field(primary_key=True, max_length=36)
    execution_id: str = Field(max_length=36)
    sequence: int
    task_id: str = Field(max_length=200)
    exit_status: str = Field(max_length=16)
    inputs: list[list[str]] = Field(sa_column=Column(JSON, nullable=False))
    outputs: list[list[str]] = Field(sa_column=Column(JSON, nullable=False))
    completed_key: str | None = Field(default=None, max_length=71)
    summary: bytes | None = Field(default=None, sa_type=LargeBinary)
    by: str = Field(max_length=200)
    created_at: datetime = Field(sa_type=UtcDateTime)
