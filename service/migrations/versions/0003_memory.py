"""Memory that people can trust: validity, grace, refusals, lineage, holds and quarantines."""

import sqlalchemy as sa
from alembic import op

from service.migrations.row_security import protect

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

TENANT_TABLES = ["derivations", "holds", "memory_refusals", "quarantine_items", "quarantines"]


def upgrade() -> None:
    _create_derivations()
    _create_refusals()
    _create_holds()
    _create_quarantines()
    _widen_memories()
    _widen_erasures()
    op.add_column("evidence", sa.Column("quarantine_id", sa.String(36), nullable=True))
    op.add_column("summaries", sa.Column("quarantine_id", sa.String(36), nullable=True))
    op.add_column("packages", sa.Column("quarantine_id", sa.String(36), nullable=True))
    op.add_column("executions", sa.Column("content_erased_at", sa.DateTime(timezone=True), nullable=True))
    protect(op.get_bind(), TENANT_TABLES)


def _create_derivations() -> None:
    op.create_table(
        "derivations",
        sa.Column("tenant_id", sa.String(36), nullable=False),
        sa.Column("kind", sa.String(20), nullable=False),
        sa.Column("item_id", sa.String(100), nullable=False),
        sa.Column("source_kind", sa.String(20), nullable=False),
        sa.Column("source_id", sa.String(100), nullable=False),
        sa.PrimaryKeyConstraint("tenant_id", "kind", "item_id", "source_kind", "source_id"),
    )
    op.create_index("ix_derivations_source", "derivations", ["tenant_id", "source_kind", "source_id"])


def _create_refusals() -> None:
    op.create_table(
        "memory_refusals",
        sa.Column("tenant_id", sa.String(36), nullable=False),
        sa.Column("subject_hash", sa.String(64), nullable=False),
        sa.Column("class_name", sa.String(64), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("tenant_id", "subject_hash", "class_name"),
    )


def _create_holds() -> None:
    op.create_table(
        "holds",
        sa.Column("tenant_id", sa.String(36), nullable=False),
        sa.Column("id", sa.String(36), nullable=False),
        sa.Column("scope", sa.String(20), nullable=False),
        sa.Column("ref", sa.String(64), nullable=False),
        sa.Column("basis", sa.LargeBinary(), nullable=False),
        sa.Column("until", sa.DateTime(timezone=True), nullable=True),
        sa.Column("by", sa.String(450), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("released_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("released_by", sa.String(450), nullable=True),
        sa.PrimaryKeyConstraint("tenant_id", "id"),
    )
    op.create_index("ix_holds_ref", "holds", ["tenant_id", "scope", "ref"])


def _create_quarantines() -> None:
    op.create_table(
        "quarantines",
        sa.Column("tenant_id", sa.String(36), nullable=False),
        sa.Column("id", sa.String(36), nullable=False),
        sa.Column("source_kind", sa.String(20), nullable=False),
        sa.Column("source_id", sa.String(100), nullable=False),
        sa.Column("reason", sa.LargeBinary(), nullable=False),
        sa.Column("affected", sa.JSON(), nullable=False),
        sa.Column("by", sa.String(450), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("released_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("released_by", sa.String(450), nullable=True),
        sa.PrimaryKeyConstraint("tenant_id", "id"),
    )
    op.create_index("ix_quarantines_source", "quarantines", ["tenant_id", "source_kind", "source_id"])
    op.create_table(
        "quarantine_items",
        sa.Column("tenant_id", sa.String(36), nullable=False),
        sa.Column("quarantine_id", sa.String(36), nullable=False),
        sa.Column("kind", sa.String(20), nullable=False),
        sa.Column("item_id", sa.String(100), nullable=False),
        sa.Column("status", sa.String(20), nullable=True),
        sa.ForeignKeyConstraint(
            ["tenant_id", "quarantine_id"],
            ["quarantines.tenant_id", "quarantines.id"],
            name="fk_quarantine_items_quarantine",
        ),
        sa.PrimaryKeyConstraint("tenant_id", "quarantine_id", "kind", "item_id"),
    )
    op.create_index("ix_quarantine_items_item", "quarantine_items", ["tenant_id", "kind", "item_id"])


def _widen_memories() -> None:
    for table in ("memory_proposals", "memory_versions", "memories"):
        op.add_column(table, sa.Column("valid_from", sa.DateTime(timezone=True), nullable=True))
        op.add_column(table, sa.Column("valid_until", sa.DateTime(timezone=True), nullable=True))
    op.add_column("memory_proposals", sa.Column("detections", sa.JSON(), nullable=False, server_default="[]"))
    op.add_column("memory_versions", sa.Column("trust", sa.String(20), nullable=False, server_default=""))
    op.add_column("memory_versions", sa.Column("reason", sa.LargeBinary(), nullable=True))
    op.add_column("memories", sa.Column("lawful_basis", sa.String(32), nullable=False, server_default=""))
    op.add_column("memories", sa.Column("conflict_group", sa.String(36), nullable=True))
    op.add_column("memories", sa.Column("last_used_at", sa.DateTime(timezone=True), nullable=True))
    op.add_column("memories", sa.Column("ended_at", sa.DateTime(timezone=True), nullable=True))
    op.add_column("memories", sa.Column("grace_until", sa.DateTime(timezone=True), nullable=True))


def _widen_erasures() -> None:
    with op.batch_alter_table("erasures") as erasures:
        # The keyed hash of a person is longer than an id.
        erasures.alter_column("ref", existing_type=sa.String(36), type_=sa.String(64))
        erasures.add_column(sa.Column("step", sa.Integer(), nullable=False, server_default="0"))
        erasures.add_column(sa.Column("failure", sa.String(64), nullable=True))
        erasures.add_column(sa.Column("starts_at", sa.DateTime(timezone=True), nullable=True))
        erasures.add_column(sa.Column("due_at", sa.DateTime(timezone=True), nullable=True))
        erasures.add_column(sa.Column("backups_expire_at", sa.DateTime(timezone=True), nullable=True))
    op.create_index("ix_erasures_status", "erasures", ["tenant_id", "status", "id"])
    op.create_index("ix_erasures_ref", "erasures", ["tenant_id", "kind", "ref"])
