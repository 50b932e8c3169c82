"""Rows of erasures, legal holds and quarantines. None holds a word of what it is about.

What a quarantine has put aside stands in `core.quarantined`, where every capability can ask for it.
"""

from datetime import datetime
from typing import Any

from sqlalchemy import JSON, Column, ForeignKeyConstraint, Index, LargeBinary
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
    """One of `model.Kind`."""
    ref: str = Field(max_length=64)
    """An id; of a subject the keyed hash."""
    subject: bytes | None = Field(default=None, sa_type=LargeBinary)
    """The name of the person who is being erased, under the tenant's key; empty again at the end."""
    closes_account: bool = False
    """Whether the person's credentials and memberships go too."""
    requester: str = Field(max_length=450)
    """The keyed hash of the principal."""
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


class ErasureItemRow(SQLModel, table=True):
    """One thing that a running erasure reaches. The rows go when it is complete."""

    __tablename__ = "erasure_items"
    __table_args__ = (
        ForeignKeyConstraint(
            ["tenant_id", "erasure_id"],
            ["erasures.tenant_id", "erasures.id"],
            name="fk_erasure_items_erasure",
        ),
    )

    tenant_id: str = Field(primary_key=True, max_length=36)
    erasure_id: str = Field(primary_key=True, max_length=36)
    kind: str = Field(primary_key=True, max_length=20)
    item_id: str = Field(primary_key=True, max_length=100)
    buried: bool = False
    """Whether the ledger of what is gone holds it."""


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
