"""What makes a run survive anything: leases, approvals, requests for checks, and guards in the database."""

import sqlalchemy as sa
from alembic import op

from service.migrations.guards import put_up
from service.migrations.row_security import protect

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

TENANT_TABLES = ["approvals", "check_requests", "interventions", "leases"]


def upgrade() -> None:
    _create_leases()
    _create_approvals()
    _create_check_requests()
    _create_interventions()
    _widen_runs()
    _widen_effects()
    op.create_index("ix_api_keys_subject", "api_keys", ["tenant_id", "subject"])
    op.create_index("ix_audit_events_ref", "audit_events", ["tenant_id", "kind", "ref", "sequence"])
    protect(op.get_bind(), TENANT_TABLES)
    put_up(op.get_bind())


def _create_leases() -> None:
    op.create_table(
        "leases",
        sa.Column("tenant_id", sa.String(36), nullable=False),
        sa.Column("execution_id", sa.String(36), nullable=False),
        sa.Column("fencing_token", sa.Integer(), nullable=False),
        sa.Column("mode", sa.String(16), nullable=False),
        sa.Column("holder", sa.String(450), nullable=False),
        sa.Column("taken_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("released", sa.Boolean(), nullable=False),
        sa.CheckConstraint("fencing_token >= 1", name="ck_leases_fencing_token"),
        _of_a_run(),
        sa.PrimaryKeyConstraint("tenant_id", "execution_id"),
    )


def _create_approvals() -> None:
    op.create_table(
        "approvals",
        sa.Column("tenant_id", sa.String(36), nullable=False),
        sa.Column("id", sa.String(36), nullable=False),
        sa.Column("execution_id", sa.String(36), nullable=False),
        sa.Column("kind", sa.String(200), nullable=False),
        sa.Column("command", sa.LargeBinary(), nullable=True),
        sa.Column("command_hash", sa.String(71), nullable=False),
        sa.Column("status", sa.String(16), nullable=False),
        sa.Column("approver_role", sa.String(32), nullable=False),
        sa.Column("requested_by", sa.String(450), nullable=False),
        sa.Column("acting_user", sa.String(200), nullable=False),
        sa.Column("agent", sa.String(200), nullable=True),
        sa.Column("evidence", sa.JSON(), nullable=False),
        sa.Column("policy_version", sa.String(71), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("decided_by", sa.String(200), nullable=True),
        sa.Column("decider_role", sa.String(32), nullable=True),
        sa.Column("decided_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("reason", sa.LargeBinary(), nullable=True),
        sa.Column("operation_id", sa.String(200), nullable=True),
        sa.Column("redeemed_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("moved", sa.JSON(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.CheckConstraint(
            "status IN ('pending', 'approved', 'rejected', 'redeemed', 'expired', 'stale', 'cancelled')",
            name="ck_approvals_status",
        ),
        _of_a_run(),
        sa.PrimaryKeyConstraint("tenant_id", "id"),
    )
    pending = sa.text("status = 'pending'")
    op.create_index(
        "uq_approvals_pending",
        "approvals",
        ["tenant_id", "execution_id", "command_hash"],
        unique=True,
        sqlite_where=pending,
        postgresql_where=pending,
    )
    op.create_index("ix_approvals_execution", "approvals", ["tenant_id", "execution_id"])
    op.create_index("ix_approvals_status", "approvals", ["tenant_id", "status", "id"])


def _create_check_requests() -> None:
    op.create_table(
        "check_requests",
        sa.Column("tenant_id", sa.String(36), nullable=False),
        sa.Column("id", sa.String(36), nullable=False),
        sa.Column("execution_id", sa.String(36), nullable=False),
        sa.Column("sequence", sa.Integer(), nullable=False),
        sa.Column("requirement", sa.String(200), nullable=False),
        sa.Column("artifact_hash", sa.String(71), nullable=False),
        sa.Column("contract_hash", sa.String(71), nullable=False),
        sa.Column("by", sa.String(200), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        _of_a_run(),
        sa.PrimaryKeyConstraint("tenant_id", "id"),
        sa.UniqueConstraint(
            "tenant_id", "execution_id", "requirement", "artifact_hash", name="uq_check_requests_requirement"
        ),
    )


def _create_interventions() -> None:
    op.create_table(
        "interventions",
        sa.Column("tenant_id", sa.String(36), nullable=False),
        sa.Column("id", sa.String(36), nullable=False),
        sa.Column("execution_id", sa.String(36), nullable=False),
        sa.Column("action", sa.String(16), nullable=False),
        sa.Column("operation_id", sa.String(200), nullable=True),
        sa.Column("reason", sa.LargeBinary(), nullable=True),
        sa.Column("by", sa.String(450), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        _of_a_run(),
        sa.PrimaryKeyConstraint("tenant_id", "id"),
    )
    op.create_index("ix_interventions_execution", "interventions", ["tenant_id", "execution_id"])


def _widen_runs() -> None:
    op.add_column("executions", sa.Column("ended_reason", sa.String(64), nullable=True))
    op.add_column("executions", sa.Column("environment", sa.LargeBinary(), nullable=True))
    op.add_column(
        "executions", sa.Column("environment_checks", sa.Integer(), nullable=False, server_default="0")
    )
    op.add_column("candidates", sa.Column("inputs", sa.JSON(), nullable=False, server_default="{}"))
    op.add_column("summaries", sa.Column("derived_from", sa.JSON(), nullable=False, server_default="[]"))


def _widen_effects() -> None:
    # SQLite adds a foreign key only by writing the table anew, which `batch_alter_table` does there.
    with op.batch_alter_table("effects") as effects:
        effects.add_column(sa.Column("command_hash", sa.String(71), nullable=True))
        effects.add_column(sa.Column("approval_id", sa.String(36), nullable=True))
        effects.add_column(sa.Column("connector", sa.String(64), nullable=True))
        effects.add_column(sa.Column("attempts", sa.Integer(), nullable=False, server_default="0"))
        effects.add_column(sa.Column("dispatched_at", sa.DateTime(timezone=True), nullable=True))
        effects.add_column(sa.Column("failure", sa.String(64), nullable=True))
        effects.add_column(sa.Column("settled_basis", sa.String(16), nullable=True))
        effects.add_column(sa.Column("settled_by", sa.String(450), nullable=True))
        effects.add_column(sa.Column("evidence_id", sa.String(36), nullable=True))
        effects.create_check_constraint("ck_effects_attempts", "attempts >= 0")
        effects.create_foreign_key(
            "fk_effects_approval", "approvals", ["tenant_id", "approval_id"], ["tenant_id", "id"]
        )
    op.create_index("ix_effects_status", "effects", ["tenant_id", "execution_id", "status"])


def _of_a_run() -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint(["tenant_id", "execution_id"], ["executions.tenant_id", "executions.id"])
