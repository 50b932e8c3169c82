"""The first schema."""

from alembic import op
from sqlmodel import SQLModel

from service.migrations.row_security import protect
from service.migrations.tables import tenant_tables

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    names = tenant_tables()
    SQLModel.metadata.create_all(op.get_bind())
    protect(op.get_bind(), names)
