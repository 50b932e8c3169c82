"""Rows of leases."""

from datetime import datetime

from sqlalchemy import CheckConstraint, ForeignKeyConstraint
from sqlmodel import Field, SQLModel

from service.core.database import UtcDateTime


class LeaseRow(SQLModel, table=True):
    """The newest lease of a run: its key says that there is one, and its token never falls."""

    __tablename__ = "leases"
    __table_args__ = (
        ForeignKeyConstraint(["tenant_id", "execution_id"], ["executions.tenant_id", "executions.id"]),
        CheckConstraint("fencing_token >= 1", name="ck_leases_fencing_token"),
    )

    tenant_id: str = Field(primary_key=True, max_length=36)
    execution_id: str = Field(primary_key=True, max_length=36)
    fencing_token: int
    mode: str = Field(max_length=16)
    holder: str = Field(max_length=450)
    taken_at: datetime = Field(sa_type=UtcDateTime)
    expires_at: datetime = Field(sa_type=UtcDateTime)
    released: bool = False
