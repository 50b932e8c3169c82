"""Rows of the audit trail: the chain of events and, apart from it, where each tenant's chain ends."""

from datetime import datetime
from typing import Any

from sqlalchemy import JSON, Column, Index
from sqlmodel import Field, SQLModel

from service.core.database import UtcDateTime


class AuditEventRow(SQLModel, table=True):
    """One event. Rows are only ever added."""

    __tablename__ = "audit_events"
    __table_args__ = (
        Index("ix_audit_events_ref", "tenant_id", "kind", "ref", "sequence"),
        # What auditors ask for, in the order in which they are shown it.
        Index("ix_audit_events_at", "tenant_id", "at", "sequence"),
        Index("ix_audit_events_action", "tenant_id", "action", "at", "sequence"),
        Index("ix_audit_events_principal", "tenant_id", "principal", "at", "sequence"),
        Index("ix_audit_events_request", "tenant_id", "request_id"),
    )

    tenant_id: str = Field(primary_key=True, max_length=36)
    sequence: int = Field(primary_key=True, sa_column_kwargs={"autoincrement": False})
    at: datetime = Field(sa_type=UtcDateTime)
    principal: str = Field(max_length=450)
    credential_id: str = Field(max_length=36)
    request_id: str = Field(max_length=200)
    action: str = Field(max_length=64, index=False)
    kind: str = Field(max_length=64)
    ref: str = Field(max_length=200)
    details: dict[str, Any] = Field(sa_column=Column(JSON, nullable=False))
    previous_hash: str = Field(max_length=71)
    hash: str = Field(max_length=71)


class AuditHeadRow(SQLModel, table=True):
    """The end of one tenant's chain: without it, cutting off the newest events would go unseen."""

    __tablename__ = "audit_heads"

    tenant_id: str = Field(primary_key=True, max_length=36)
    sequence: int
    hash: str = Field(max_length=71)
    seal: str = Field(max_length=64)
