"""Rows of observations and effects."""

from datetime import datetime

from sqlalchemy import CheckConstraint, ForeignKeyConstraint, Index, LargeBinary, UniqueConstraint
from sqlmodel import Field, SQLModel

from service.core.database import UtcDateTime
from service.executions.ledger.model import EffectStatus

_EFFECT_STATUSES = ", ".join(f"'{status}'" for status in EffectStatus)


class ObservationRow(SQLModel, table=True):
    """One tool result. Source and time are never absent; the content is here or in evidence."""

    __tablename__ = "observations"
    __table_args__ = (
        ForeignKeyConstraint(["tenant_id", "execution_id"], ["executions.tenant_id", "executions.id"]),
        UniqueConstraint("tenant_id", "execution_id", "sequence", name="uq_observations_sequence"),
    )

    tenant_id: str = Field(primary_key=True, max_length=36)
    id: str = Field(primary_key=True, max_length=36)
    execution_id: str = Field(max_length=36)
    sequence: int
    source_uri: bytes = Field(sa_type=LargeBinary)
    source_kind: str = Field(max_length=200)
    source_version: bytes | None = Field(default=None, sa_type=LargeBinary)
    observed_at: datetime = Field(sa_type=UtcDateTime)
    media_type: str = Field(max_length=200)
    content: bytes | None = Field(default=None, sa_type=LargeBinary)
    summary: bytes | None = Field(default=None, sa_type=LargeBinary)
    sha256: str = Field(max_length=71)
    tokens: int
    evidence_id: str | None = Field(default=None, max_length=36)
    tool_call_id: str | None = Field(default=None, max_length=200)
    trust: str = Field(max_length=32)
    authority: str = Field(max_length=32)
    limited: bool
    said_by: str = Field(max_length=200)
    created_at: datetime = Field(sa_type=UtcDateTime)


class EffectRow(SQLModel, table=True):
    """One external operation; its key says that an operation id exists once in its run."""

    __tablename__ = "effects"
    __table_args__ = (
        ForeignKeyConstraint(["tenant_id", "execution_id"], ["executions.tenant_id", "executions.id"]),
        UniqueConstraint("tenant_id", "execution_id", "sequence", name="uq_effects_sequence"),
        Index("ix_effects_status", "tenant_id", "execution_id", "status"),
        CheckConstraint(f"status IN ({_EFFECT_STATUSES})", name="ck_effects_status"),
        CheckConstraint("attempts >= 0", name="ck_effects_attempts"),
        ForeignKeyConstraint(
            ["tenant_id", "approval_id"], ["approvals.tenant_id", "approvals.id"], name="fk_effects_approval"
        ),
    )

    tenant_id: str = Field(primary_key=True, max_length=36)
    execution_id: str = Field(primary_key=True, max_length=36)
    operation_id: str = Field(primary_key=True, max_length=200)
    sequence: int
    kind: str = Field(max_length=200)
    request: bytes | None = Field(default=None, sa_type=LargeBinary)
    request_hash: str = Field(max_length=128)
    status: str = Field(max_length=16)
    downstream_ref: str | None = Field(default=None, max_length=500)
    command_hash: str | None = Field(default=None, max_length=71)
    approval_id: str | None = Field(default=None, max_length=36)
    connector: str | None = Field(default=None, max_length=64)
    attempts: int = 0
    dispatched_at: datetime | None = Field(default=None, sa_type=UtcDateTime)
    failure: str | None = Field(default=None, max_length=64)
    settled_basis: str | None = Field(default=None, max_length=16)
    settled_by: str | None = Field(default=None, max_length=450)
    evidence_id: str | None = Field(default=None, max_length=36)
    by: str = Field(max_length=200)
    created_at: datetime = Field(sa_type=UtcDateTime)
    updated_at: datetime = Field(sa_type=UtcDateTime)
