"""Rows of proposals, memories, their versions, consents and erasures."""

from datetime import datetime
from typing import Any

from sqlalchemy import JSON, Column, ForeignKeyConstraint, Index, LargeBinary, text
from sqlmodel import Field, SQLModel

from service.core.database import UtcDateTime


class ProposalRow(SQLModel, table=True):
    """A proposal and its decision. `content` is empty once it is denied or erased."""

    __tablename__ = "memory_proposals"
    __table_args__ = (
        ForeignKeyConstraint(["tenant_id", "project_id"], ["projects.tenant_id", "projects.id"]),
        Index("ix_memory_proposals_outcome", "tenant_id", "outcome", "id"),
        Index("ix_memory_proposals_memory", "tenant_id", "memory_id"),
    )

    tenant_id: str = Field(primary_key=True, max_length=36)
    id: str = Field(primary_key=True, max_length=36)
    project_id: str = Field(max_length=36)
    class_name: str = Field(max_length=200)
    subject_hash: str = Field(default="", max_length=64)
    content_hash: str = Field(max_length=64)
    content: bytes | None = Field(default=None, sa_type=LargeBinary)
    facts: bytes | None = Field(default=None, sa_type=LargeBinary)
    """What it was judged by, without its words: by this another policy can judge it. Sealed as they are."""
    outcome: str = Field(max_length=20)
    codes: list[str] = Field(sa_column=Column(JSON, nullable=False))
    approver: str | None = Field(default=None, max_length=20)
    approvals: list[str] = Field(sa_column=Column(JSON, nullable=False))
    policy_version: str = Field(max_length=71)
    purpose: str = Field(max_length=64)
    confidence: float
    detections: list[dict[str, Any]] = Field(
        default_factory=list, sa_column=Column(JSON, nullable=False, server_default="[]")
    )
    """Kind, start and end of what detectors found in the text: no words."""
    valid_from: datetime | None = Field(default=None, sa_type=UtcDateTime)
    valid_until: datetime | None = Field(default=None, sa_type=UtcDateTime)
    proposer: str = Field(max_length=450)
    memory_id: str | None = Field(default=None, max_length=36)
    created_at: datetime = Field(sa_type=UtcDateTime)
    decided_at: datetime | None = Field(default=None, sa_type=UtcDateTime)
    decided_by: str | None = Field(default=None, max_length=450)
    decision_reason: bytes | None = Field(default=None, sa_type=LargeBinary)


class MemoryRow(SQLModel, table=True):
    """One memory. The database itself lets one value of a slot be active, and no second."""

    __tablename__ = "memories"
    __table_args__ = (
        ForeignKeyConstraint(["tenant_id", "project_id"], ["projects.tenant_id", "projects.id"]),
        Index(
            "ux_memories_active_slot",
            "tenant_id",
            "scope_key",
            "class_name",
            "key_hash",
            unique=True,
            sqlite_where=text("status = 'active'"),
            postgresql_where=text("status = 'active'"),
        ),
        Index("ix_memories_subject", "tenant_id", "subject_hash", "id"),
    )

    tenant_id: str = Field(primary_key=True, max_length=36)
    id: str = Field(primary_key=True, max_length=36)
    project_id: str = Field(max_length=36)
    class_name: str = Field(max_length=64)
    scope_key: str = Field(max_length=64)
    """The subject's keyed hash, or the project's id: whose slot it is."""
    subject_hash: str = Field(default="", max_length=64)
    key_hash: str = Field(max_length=64)
    version: int
    status: str = Field(max_length=20)
    purpose: str = Field(max_length=64)
    trust: str = Field(max_length=20)
    policy_version: str = Field(max_length=71)
    observed_at: datetime | None = Field(default=None, sa_type=UtcDateTime)
    lawful_basis: str = Field(default="", max_length=32)
    """The class's own when it was kept; empty for what an older schema kept."""
    conflict_group: str | None = Field(default=None, max_length=36)
    """What contradicts each other carries the same."""
    valid_from: datetime | None = Field(default=None, sa_type=UtcDateTime)
    """When it begins to be true, as its current version says; `None`: always was."""
    valid_until: datetime | None = Field(default=None, sa_type=UtcDateTime)
    created_at: datetime = Field(sa_type=UtcDateTime)
    confirmed_at: datetime = Field(sa_type=UtcDateTime)
    last_used_at: datetime | None = Field(default=None, sa_type=UtcDateTime)
    """When a package last showed it; listing and searching are no use."""
    expires_at: datetime = Field(sa_type=UtcDateTime)
    ended_at: datetime | None = Field(default=None, sa_type=UtcDateTime)
    """When it left search for good: superseded or expired. Until then it was known."""
    grace_until: datetime | None = Field(default=None, sa_type=UtcDateTime)
    """Until when its subject may take a deletion back."""


class MemoryVersionRow(SQLModel, table=True):
    """One version of a memory's words, by whom and from what."""

    __tablename__ = "memory_versions"
    __table_args__ = (
        ForeignKeyConstraint(
            ["tenant_id", "memory_id"], ["memories.tenant_id", "memories.id"], ondelete="CASCADE"
        ),
    )

    tenant_id: str = Field(primary_key=True, max_length=36)
    memory_id: str = Field(primary_key=True, max_length=36)
    version: int = Field(primary_key=True)
    content: bytes = Field(sa_type=LargeBinary)
    content_hash: str = Field(max_length=64)
    provenance: list[dict[str, Any]] = Field(sa_column=Column(JSON, nullable=False))
    """Kind, id, version and span of each source: no words."""
    confidence: float
    trust: str = Field(default="", max_length=20)
    """Of this version's own sources; empty for what an older schema kept."""
    tokens: int
    act: str = Field(max_length=20)
    by: str = Field(max_length=450)
    reason: bytes | None = Field(default=None, sa_type=LargeBinary)
    """Why it was corrected, in the corrector's words."""
    valid_from: datetime | None = Field(default=None, sa_type=UtcDateTime)
    valid_until: datetime | None = Field(default=None, sa_type=UtcDateTime)
    at: datetime = Field(sa_type=UtcDateTime)


class RefusalRow(SQLModel, table=True):
    """A person's word that nothing of a class (`*`: of any) is ever to be remembered about them."""

    __tablename__ = "memory_refusals"

    tenant_id: str = Field(primary_key=True, max_length=36)
    subject_hash: str = Field(primary_key=True, max_length=64)
    class_name: str = Field(primary_key=True, max_length=64)
    created_at: datetime = Field(sa_type=UtcDateTime)


class ConsentRow(SQLModel, table=True):
    """Whether a person's consent to a purpose stands."""

    __tablename__ = "consents"

    tenant_id: str = Field(primary_key=True, max_length=36)
    subject_hash: str = Field(primary_key=True, max_length=64)
    purpose: str = Field(primary_key=True, max_length=64)
    granted: bool
    revision: int


class ConsentActRow(SQLModel, table=True):
    """Each giving and withdrawing, for ever: what stood when is part of the answer."""

    __tablename__ = "consent_acts"

    tenant_id: str = Field(primary_key=True, max_length=36)
    subject_hash: str = Field(primary_key=True, max_length=64)
    purpose: str = Field(primary_key=True, max_length=64)
    revision: int = Field(primary_key=True)
    granted: bool
    text_version: str = Field(max_length=100)
    at: datetime = Field(sa_type=UtcDateTime)
    by: str = Field(max_length=450)
