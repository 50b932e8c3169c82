"""Rows of erasures, legal holds and quarantines. None holds a word of what it is about.

What a quarantine has put aside stands in `core.quarantined`, where every capability can ask for it.
"""

from datetime import datetime
from typing import Any

from sqlalchemy import JSON, Column, Index, LargeBinary
from sqlmodel import Field, SQLModel

from service.core.database import UtcDateTime


class ErasureRow(SQLModel, table=True):
    """A deletion and how far it has come in each store. It names what was erased by its id or keyed hash."""

    __tablename__ = "erasures"
    __table_args__ = (
        Index("ix_erasures_status", "tenant_id", "status", "id"),
        Index("ix_erasures_ref", "tenant_id", "kind", "ref"),
    )

    tenant_id: str = Field(primary_key=True, max_length=36)
    id: str = Field(primary_key=True, max_length=36)
    kind: str = Field(max_length=20)
    """`memory`, `execution`, `evidence` or `subject`."""
    ref: str = Field(max_length=64)
    """An id; of a subject the keyed hash."""
    requester: str = Field(max_length=450)
    status: str = Field(max_length=20)
    stores: list[dict[str, Any]] = Field(sa_column=Column(JSON, nullable=False))
    step: int = Field(default=0)
    """How many steps of the job are done: a crash goes on from here."""
    failure: str | None = Field(default=None, max_length=64)
    """The code of what stopped the last attempt."""
    starts_at: datetime | None = Field(default=None, sa_type=UtcDateTime)
    """When destruction begins, where the class gives a time of grace."""
    due_at: datetime | None = Field(default=None, sa_type=UtcDateTime)
    backups_expire_at: datetime | None = Field(default=None, sa_type=UtcDateTime)
    created_at: datetime = Field(sa_type=UtcDateTime)
    completed_at: datetime | None = Field(default=None, sa_type=UtcDateTime)


class HoldRow(SQLModel, table=True):
    """A legal hold: what it names is not destroyed while it stands."""

    __tablename__ = "holds"
    __table_args__ = (Index("ix_holds_ref", "tenant_id", "scope", "ref"),)

    tenant_id: str = Field(primary_key=True, max_length=36)
    id: str = Field(primary_key=True, max_length=36)
    scope: str = Field(max_length=20)
    """`memory`, `execution`, `evidence`, `subject` or `project`."""
    ref: str = Field(max_length=64)
    """An id; of a subject the keyed hash."""
    basis: bytes = Field(sa_type=LargeBinary)
    until: datetime | None = Field(default=None, sa_type=UtcDateTime)
    by: str = Field(max_length=450)
    created_at: datetime = Field(sa_type=UtcDateTime)
    released_at: datetime | None = Field(default=None, sa_type=UtcDateTime)
    released_by: str | None = Field(default=None, max_length=450)


class QuarantineRow(SQLModel, table=True):
    """A poisoned source and the closure of what was derived from it, put aside in one step."""

    __tablename__ = "quarantines"
    __table_args__ = (Index("ix_quarantines_source", "tenant_id", "source_kind", "source_id"),)

    tenant_id: str = Field(primary_key=True, max_length=36)
    id: str = Field(primary_key=True, max_length=36)
    source_kind: str = Field(max_length=20)
    source_id: str = Field(max_length=100)
    reason: bytes = Field(sa_type=LargeBinary)
    affected: dict[str, Any] = Field(sa_column=Column(JSON, nullable=False))
    """Counts for each kind."""
    by: str = Field(max_length=450)
    created_at: datetime = Field(sa_type=UtcDateTime)
    released_at: datetime | None = Field(default=None, sa_type=UtcDateTime)
    released_by: str | None = Field(default=None, max_length=450)
