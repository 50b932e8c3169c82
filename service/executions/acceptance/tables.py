"""Rows of candidates, requests for checks, and checks."""

from datetime import datetime

from sqlalchemy import JSON, Column, ForeignKeyConstraint, LargeBinary, UniqueConstraint
from sqlmodel import Field, SQLModel

from service.core.database import UtcDateTime


class CandidateRow(SQLModel, table=True):
    """One submitted artifact. All are kept."""

    __tablename__ = "candidates"
    __table_args__ = (
        ForeignKeyConstraint(["tenant_id", "execution_id"], ["executions.tenant_id", "executions.id"]),
        UniqueConstraint("tenant_id", "execution_id", "sequence", name="uq_candidates_sequence"),
    )

    tenant_id: str = Field(primary_key=True, max_length=36)
    id: str = Field(primary_key=True, max_length=36)
    execution_id: str = Field(max_length=36)
    sequence: int
    artifact_hash: str = Field(max_length=71)
    inputs: dict[str, str] = Field(default_factory=dict, sa_column=Column(JSON, nullable=False))
    by: str = Field(max_length=200)
    created_at: datetime = Field(sa_type=UtcDateTime)


class CheckRequestRow(SQLModel, table=True):
    """One requirement of one candidate that a grader is asked to check."""

    __tablename__ = "check_requests"
    __table_args__ = (
        ForeignKeyConstraint(["tenant_id", "execution_id"], ["executions.tenant_id", "executions.id"]),
        UniqueConstraint(
            "tenant_id", "execution_id", "requirement", "artifact_hash", name="uq_check_requests_requirement"
        ),
    )

    tenant_id: str = Field(primary_key=True, max_length=36)
    id: str = Field(primary_key=True, max_length=36)
    execution_id: str = Field(max_length=36)
    sequence: int
    requirement: str = Field(max_length=200)
    artifact_hash: str = Field(max_length=71)
    contract_hash: str = Field(max_length=71)
    by: str = Field(max_length=200)
    created_at: datetime = Field(sa_type=UtcDateTime)


class CheckRow(SQLModel, table=True):
    """One verdict on one requirement of one candidate under one contract."""

    __tablename__ = "checks"
    __table_args__ = (
        ForeignKeyConstraint(["tenant_id", "execution_id"], ["executions.tenant_id", "executions.id"]),
        UniqueConstraint("tenant_id", "execution_id", "sequence", name="uq_checks_sequence"),
    )

    tenant_id: str = Field(primary_key=True, max_length=36)
    id: str = Field(primary_key=True, max_length=36)
    execution_id: str = Field(max_length=36)
    sequence: int
    requirement: str = Field(max_length=200)
    passed: bool
    artifact_hash: str = Field(max_length=71)
    contract_hash: str = Field(max_length=71)
    grader_id: str = Field(max_length=200)
    grader_version: str = Field(max_length=200)
    environment: bytes | None = Field(default=None, sa_type=LargeBinary)
    output_ref: str | None = Field(default=None, max_length=500)
    expected: bytes | None = Field(default=None, sa_type=LargeBinary)
    observed: bytes | None = Field(default=None, sa_type=LargeBinary)
    reproduce: bytes | None = Field(default=None, sa_type=LargeBinary)
    failure_kind: str | None = Field(default=None, max_length=16)
    by: str = Field(max_length=200)
    created_at: datetime = Field(sa_type=UtcDateTime)
