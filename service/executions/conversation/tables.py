"""Rows of turns, pins and summaries."""

from datetime import datetime
from typing import Any

from sqlalchemy import JSON, CheckConstraint, Column, ForeignKeyConstraint, LargeBinary, UniqueConstraint
from sqlmodel import Field, SQLModel

from service.core.database import UtcDateTime


class TurnRow(SQLModel, table=True):
    """One message."""

    __tablename__ = "turns"
    __table_args__ = (
        ForeignKeyConstraint(["tenant_id", "execution_id"], ["executions.tenant_id", "executions.id"]),
        UniqueConstraint("tenant_id", "execution_id", "sequence", name="uq_turns_sequence"),
    )

    tenant_id: str = Field(primary_key=True, max_length=36)
    id: str = Field(primary_key=True, max_length=36)
    execution_id: str = Field(max_length=36)
    sequence: int
    role: str = Field(max_length=16)
    text: bytes | None = Field(default=None, sa_type=LargeBinary)
    text_hash: str = Field(max_length=128)
    tool_calls: bytes | None = Field(default=None, sa_type=LargeBinary)
    tool_call_id: str | None = Field(default=None, max_length=200)
    tokens: int
    relayed: bool
    said_by: str = Field(max_length=200)
    agent: str | None = Field(default=None, max_length=200)
    created_at: datetime = Field(sa_type=UtcDateTime)


class PinRow(SQLModel, table=True):
    """One pin with the turns that it comes from."""

    __tablename__ = "pins"
    __table_args__ = (
        ForeignKeyConstraint(["tenant_id", "execution_id"], ["executions.tenant_id", "executions.id"]),
        UniqueConstraint("tenant_id", "execution_id", "sequence", name="uq_pins_sequence"),
    )

    tenant_id: str = Field(primary_key=True, max_length=36)
    id: str = Field(primary_key=True, max_length=36)
    execution_id: str = Field(max_length=36)
    sequence: int
    kind: str = Field(max_length=16)
    text: bytes | None = Field(default=None, sa_type=LargeBinary)
    turn_ids: list[str] = Field(sa_column=Column(JSON, nullable=False))
    relayed: bool
    resolution: bytes | None = Field(default=None, sa_type=LargeBinary)
    by: str = Field(max_length=200)
    created_at: datetime = Field(sa_type=UtcDateTime)
    resolved_at: datetime | None = Field(default=None, sa_type=UtcDateTime)


class SummaryRow(SQLModel, table=True):
    """One summary over a range of turns."""

    __tablename__ = "summaries"
    __table_args__ = (
        ForeignKeyConstraint(["tenant_id", "execution_id"], ["executions.tenant_id", "executions.id"]),
        UniqueConstraint("tenant_id", "execution_id", "version", name="uq_summaries_version"),
        CheckConstraint("from_sequence >= 1 AND from_sequence <= to_sequence", name="ck_summaries_range"),
    )

    tenant_id: str = Field(primary_key=True, max_length=36)
    id: str = Field(primary_key=True, max_length=36)
    execution_id: str = Field(max_length=36)
    version: int
    from_sequence: int
    to_sequence: int
    text: bytes | None = Field(default=None, sa_type=LargeBinary)
    model: str = Field(max_length=200)
    tokens: int
    supersedes: str | None = Field(default=None, max_length=36)
    # `[reference, version, sha256]`, or, from an earlier release, the reference alone.
    derived_from: list[Any] = Field(default_factory=list, sa_column=Column(JSON, nullable=False))
    quarantine_id: str | None = Field(default=None, max_length=36)
    created_at: datetime = Field(sa_type=UtcDateTime)
