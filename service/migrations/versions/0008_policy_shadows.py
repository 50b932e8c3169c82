"""Shadows: candidates that are watched beside the policy that counts, and decide nothing."""

import sqlalchemy as sa
from alembic import op

from service.core.database import UtcDateTime
from service.migrations.row_security import protect

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "policy_shadows",
        sa.Column("tenant_id", sa.String(36), nullable=False),
        sa.Column("id", sa.String(36), nullable=False),
        sa.Column("plan_id", sa.String(36), nullable=False),
        sa.Column("status", sa.String(20), nullable=False),
        sa.Column("base_version", sa.String(71), nullable=False),
        sa.Column("base_revision", sa.Integer(), nullable=False),
        sa.Column("candidate_version", sa.String(71), nullable=False),
        sa.Column("requester", sa.String(64), nullable=False),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.Column("until", UtcDateTime(), nullable=False),
        sa.Column("ended_at", UtcDateTime(), nullable=True),
        sa.ForeignKeyConstraint(
            ["tenant_id", "candidate_version"],
            ["policy_versions.tenant_id", "policy_versions.version"],
            name="fk_policy_shadows_candidate",
        ),
        sa.PrimaryKeyConstraint("tenant_id", "id"),
    )
    condition = sa.text("status = 'running'")
    op.create_index(
        "ux_policy_shadows_running",
        "policy_shadows",
        ["tenant_id"],
        unique=True,
        sqlite_where=condition,
        postgresql_where=condition,
    )
    protect(op.get_bind(), ["policy_shadows"])
