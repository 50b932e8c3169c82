"""What each proposal was judged by, and plans: what a candidate policy would do."""

import sqlalchemy as sa
from alembic import op

from service.core.database import UtcDateTime
from service.migrations.row_security import protect

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("memory_proposals", sa.Column("facts", sa.LargeBinary(), nullable=True))
    op.create_table(
        "policy_plans",
        sa.Column("tenant_id", sa.String(36), nullable=False),
        sa.Column("id", sa.String(36), nullable=False),
        sa.Column("hash", sa.String(71), nullable=False),
        sa.Column("candidate_version", sa.String(71), nullable=False),
        sa.Column("base_version", sa.String(71), nullable=False),
        sa.Column("base_revision", sa.Integer(), nullable=False),
        sa.Column("days", sa.Integer(), nullable=False),
        sa.Column("requester", sa.String(64), nullable=False),
        sa.Column("direction", sa.String(20), nullable=False),
        sa.Column("changes", sa.JSON(), nullable=False),
        sa.Column("affected", sa.JSON(), nullable=False),
        sa.Column("samples", sa.JSON(), nullable=False),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.ForeignKeyConstraint(
            ["tenant_id", "candidate_version"],
            ["policy_versions.tenant_id", "policy_versions.version"],
            name="fk_policy_plans_candidate",
        ),
        sa.PrimaryKeyConstraint("tenant_id", "id"),
    )
    protect(op.get_bind(), ["policy_plans"])
