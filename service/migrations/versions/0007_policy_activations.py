"""Activations: which version came to count, after what, and on whose word."""

import sqlalchemy as sa
from alembic import op

from service.core.database import UtcDateTime
from service.migrations.row_security import protect

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "policy_activations",
        sa.Column("tenant_id", sa.String(36), nullable=False),
        sa.Column("id", sa.String(36), nullable=False),
        sa.Column("kind", sa.String(20), nullable=False),
        sa.Column("status", sa.String(30), nullable=False),
        sa.Column("direction", sa.String(20), nullable=False),
        sa.Column("from_version", sa.String(71), nullable=False),
        sa.Column("to_version", sa.String(71), nullable=False),
        sa.Column("base_revision", sa.Integer(), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=True),
        sa.Column("plan_id", sa.String(36), nullable=True),
        sa.Column("requester", sa.String(64), nullable=False),
        sa.Column("second_person", sa.String(64), nullable=True),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.Column("activated_at", UtcDateTime(), nullable=True),
        sa.Column("effective_at", UtcDateTime(), nullable=True),
        sa.ForeignKeyConstraint(
            ["tenant_id", "to_version"],
            ["policy_versions.tenant_id", "policy_versions.version"],
            name="fk_policy_activations_to",
        ),
        sa.PrimaryKeyConstraint("tenant_id", "id"),
    )
    for name, status in (("active", "active"), ("pending", "pending_second_person")):
        condition = sa.text(f"status = '{status}'")
        op.create_index(
            f"ux_policy_activations_{name}",
            "policy_activations",
            ["tenant_id"],
            unique=True,
            sqlite_where=condition,
            postgresql_where=condition,
        )
    protect(op.get_bind(), ["policy_activations"])
