"""Erasure that reaches everything: what each one reaches, and guards that let an erasure pass."""

import sqlalchemy as sa
from alembic import op

from service.migrations.guards import put_up_anew
from service.migrations.row_security import protect

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

TENANT_TABLES = ["erasure_items"]


def upgrade() -> None:
    op.create_table(
        "erasure_items",
        sa.Column("tenant_id", sa.String(36), nullable=False),
        sa.Column("erasure_id", sa.String(36), nullable=False),
        sa.Column("kind", sa.String(20), nullable=False),
        sa.Column("item_id", sa.String(100), nullable=False),
        sa.Column("buried", sa.Boolean(), nullable=False, server_default=sa.false()),
        sa.ForeignKeyConstraint(
            ["tenant_id", "erasure_id"],
            ["erasures.tenant_id", "erasures.id"],
            name="fk_erasure_items_erasure",
        ),
        sa.PrimaryKeyConstraint("tenant_id", "erasure_id", "kind", "item_id"),
    )
    op.add_column("erasures", sa.Column("subject", sa.LargeBinary(), nullable=True))
    op.add_column(
        "erasures", sa.Column("closes_account", sa.Boolean(), nullable=False, server_default=sa.false())
    )
    put_up_anew(op.get_bind(), {"executions", "approvals", "checks"})
    protect(op.get_bind(), TENANT_TABLES)
