"""Rows of approvals."""

from datetime import datetime

from sqlalchemy import JSON, CheckConstraint, Column, ForeignKeyConstraint, Index, LargeBinary, text
from sqlmodel import Field, SQLModel

from service.core.database import UtcDateTime

_PENDING = text("status = 'pending'")


class ApprovalRow(SQLModel, table=True):
    """One request for a yes to one exact command. One pending one per run and command."""

    __tablename__ = "approvals"
    __table_args__ = (
        ForeignKeyConstraint(["tenant_id", "execution_id"], ["executions.tenant_id", "executions.id"]),
        CheckConstraint(
            "status IN ('pending', 'approved', 'rejected', 'redeemed', 'expired', 'stale', 'cancelled')",
            name="ck_approvals_status",
        ),
        Index(
            "uq_approvals_pending",
            "tenant_id",
            "execution_id",
            "command_hash",
            unique=True,
            sqlite_where=_PENDING,
            postgresql_where=_PENDING,
        ),
        Index("ix_approvals_execution", "tenant_id", "execution_id"),
        Index("ix_approvals_status", "tenant_id", "status", "id"),
    )

    tenant_id: str = Field(primary_key=True, max_length=36)
    id: str = Field(primary_key=True, max_length=36)
    execution_id: str = Field(max_length=36)
    kind: str = Field(max_length=200)
    command: bytes | None = Field(default=None, sa_type=LargeBinary)
    command_hash: str = Field(max_length=71)
    status: str = Field(max_length=16)
    approver_role: str = Field(max_length=32)
    requested_by: str = Field(max_length=450)
    acting_user: str = Field(max_length=200)
    agent: str | None = Field(default=None, max_length=200)
    evidence: list[list[str | int]] = Field(sa_column=Column(JSON, nullable=False))
    policy_version: str = Field(max_length=71)
    expires_at: datetime = Field(sa_type=UtcDateTime)
    decided_by: str | None = Field(default=None, max_length=200)
    decider_role: str | None = Field(default=None, max_length=32)
    decided_at: datetime | None = Field(default=None, sa_type=UtcDateTime)
    reason: bytes | None = Field(default=None, sa_type=LargeBinary)
    operation_id: str | None = Field(default=None, max_length=200)
    redeemed_at: datetime | None = Field(default=None, sa_type=UtcDateTime)
    moved: list[str] = Field(sa_column=Column(JSON, nullable=False))
    created_at: datetime = Field(sa_type=UtcDateTime)
    updated_at: datetime = Field(sa_type=UtcDateTime)
