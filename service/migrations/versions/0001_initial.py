"""The first schema."""

import sqlalchemy as sa
from alembic import op

from service.migrations.row_security import protect

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

TENANT_TABLES = [
    "audit_events",
    "audit_heads",
    "consent_acts",
    "consents",
    "erasures",
    "evidence",
    "executions",
    "idempotency",
    "outbox",
    "policy_versions",
    "candidates",
    "checkpoints",
    "checks",
    "effects",
    "evidence_versions",
    "idempotency_refs",
    "observations",
    "packages",
    "pins",
    "policy_active",
    "projects",
    "steps",
    "summaries",
    "tasks",
    "turns",
    "api_keys",
    "evidence_chunks",
    "evidence_lineage",
    "evidence_readers",
    "evidence_subjects",
    "members",
    "memories",
    "memory_proposals",
    "package_items",
    "memory_versions",
]


def upgrade() -> None:
    op.create_table(
        "tenants",
        sa.Column("id", sa.String(36), nullable=False),
        sa.Column("name", sa.String(200), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("name"),
    )
    op.create_table(
        "projects",
        sa.Column("tenant_id", sa.String(36), nullable=False),
        sa.Column("id", sa.String(36), nullable=False),
        sa.Column("name", sa.String(200), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["tenant_id"], ["tenants.id"], name="fk_projects_tenant"),
        sa.PrimaryKeyConstraint("tenant_id", "id"),
        sa.UniqueConstraint("tenant_id", "name", name="uq_projects_name"),
    )
    op.create_table(
        "audit_events",
        sa.Column("tenant_id", sa.String(36), nullable=False),
        sa.Column("sequence", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("principal", sa.String(450), nullable=False),
        sa.Column("credential_id", sa.String(36), nullable=False),
        sa.Column("request_id", sa.String(200), nullable=False),
        sa.Column("action", sa.String(64), nullable=False),
        sa.Column("kind", sa.String(64), nullable=False),
        sa.Column("ref", sa.String(200), nullable=False),
        sa.Column("details", sa.JSON(), nullable=False),
        sa.Column("previous_hash", sa.String(71), nullable=False),
        sa.Column("hash", sa.String(71), nullable=False),
        sa.PrimaryKeyConstraint("tenant_id", "sequence"),
    )
    op.create_table(
        "audit_heads",
        sa.Column("tenant_id", sa.String(36), nullable=False),
        sa.Column("sequence", sa.Integer(), nullable=False),
        sa.Column("hash", sa.String(71), nullable=False),
        sa.Column("seal", sa.String(64), nullable=False),
        sa.PrimaryKeyConstraint("tenant_id"),
    )
    op.create_table(
        "consent_acts",
        sa.Column("tenant_id", sa.String(36), nullable=False),
        sa.Column("subject_hash", sa.String(64), nullable=False),
        sa.Column("purpose", sa.String(64), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("granted", sa.Boolean(), nullable=False),
        sa.Column("text_version", sa.String(100), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("by", sa.String(450), nullable=False),
        sa.PrimaryKeyConstraint("tenant_id", "subject_hash", "purpose", "revision"),
    )
    op.create_table(
        "consents",
        sa.Column("tenant_id", sa.String(36), nullable=False),
        sa.Column("subject_hash", sa.String(64), nullable=False),
        sa.Column("purpose", sa.String(64), nullable=False),
        sa.Column("granted", sa.Boolean(), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("tenant_id", "subject_hash", "purpose"),
    )
    op.create_table(
        "erasures",
        sa.Column("tenant_id", sa.String(36), nullable=False),
        sa.Column("id", sa.String(36), nullable=False),
        sa.Column("kind", sa.String(20), nullable=False),
        sa.Column("ref", sa.String(36), nullable=False),
        sa.Column("requester", sa.String(450), nullable=False),
        sa.Column("status", sa.String(20), nullable=False),
        sa.Column("stores", sa.JSON(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("completed_at", sa.DateTime(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("tenant_id", "id"),
    )
    op.create_table(
        "evidence",
        sa.Column("tenant_id", sa.String(36), nullable=False),
        sa.Column("id", sa.String(36), nullable=False),
        sa.Column("project_id", sa.String(36), nullable=False),
        sa.Column("uri_key", sa.String(64), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("superseded_by", sa.String(36), nullable=True),
        sa.Column("created_by", sa.String(450), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["tenant_id", "project_id"], ["projects.tenant_id", "projects.id"], name="fk_evidence_project"
        ),
        sa.PrimaryKeyConstraint("tenant_id", "id"),
        sa.UniqueConstraint("tenant_id", "project_id", "uri_key", name="uq_evidence_uri"),
    )
    op.create_table(
        "executions",
        sa.Column("tenant_id", sa.String(36), nullable=False),
        sa.Column("id", sa.String(36), nullable=False),
        sa.Column("project_id", sa.String(36), nullable=False),
        sa.Column("external_ref", sa.String(200), nullable=True),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("status", sa.String(32), nullable=False),
        sa.Column("step", sa.Integer(), nullable=False),
        sa.Column("cost_used_micros", sa.BigInteger(), nullable=False),
        sa.Column("cost_budget_micros", sa.BigInteger(), nullable=True),
        sa.Column("steps_budget", sa.Integer(), nullable=True),
        sa.Column("revisions_budget", sa.Integer(), nullable=True),
        sa.Column("deadline", sa.DateTime(timezone=True), nullable=True),
        sa.Column("retention_class", sa.String(200), nullable=False),
        sa.Column("memory_mode", sa.String(16), nullable=False),
        sa.Column("schema_version", sa.Integer(), nullable=False),
        sa.Column("acting_user", sa.String(200), nullable=False),
        sa.Column("agent", sa.String(200), nullable=True),
        sa.Column("person", sa.String(200), nullable=True),
        sa.Column("opened_by", sa.String(500), nullable=False),
        sa.Column("contract_hash", sa.String(71), nullable=False),
        sa.Column("contract_origin", sa.String(16), nullable=False),
        sa.Column("contract_confirmed_by", sa.String(200), nullable=True),
        sa.Column("finish_asked", sa.Boolean(), nullable=False),
        sa.Column("objective", sa.LargeBinary(), nullable=True),
        sa.Column("requirements", sa.LargeBinary(), nullable=True),
        sa.Column("requirement_ids", sa.JSON(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.CheckConstraint(
            "status IN ('open', 'running', 'waiting_approval', 'waiting_reconciliation', 'review_required', 'completed', 'failed', 'cancelled', 'expired', 'unsupported_schema')",
            name="ck_executions_status",
        ),
        sa.CheckConstraint("cost_used_micros >= 0", name="ck_executions_cost"),
        sa.CheckConstraint("step >= 0", name="ck_executions_step"),
        sa.CheckConstraint("version >= 1", name="ck_executions_version"),
        sa.ForeignKeyConstraint(
            ["tenant_id", "project_id"], ["projects.tenant_id", "projects.id"], name="fk_executions_project"
        ),
        sa.PrimaryKeyConstraint("tenant_id", "id"),
        sa.UniqueConstraint("tenant_id", "project_id", "external_ref", name="uq_executions_external_ref"),
    )
    op.create_index("ix_executions_acting_user", "executions", ["tenant_id", "acting_user"], unique=False)
    op.create_table(
        "idempotency",
        sa.Column("tenant_id", sa.String(36), nullable=False),
        sa.Column("key_hash", sa.String(128), nullable=False),
        sa.Column("request_hash", sa.String(128), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("project_id", sa.String(36), nullable=True),
        sa.Column("status", sa.Integer(), nullable=False),
        sa.Column("headers", sa.JSON(), nullable=False),
        sa.Column("body", sa.LargeBinary(), nullable=True),
        sa.Column("erased", sa.Boolean(), nullable=False),
        sa.CheckConstraint("NOT (erased AND body IS NOT NULL)", name="ck_idempotency_erased_is_empty"),
        sa.PrimaryKeyConstraint("tenant_id", "key_hash"),
    )
    op.create_index("ix_idempotency_expiry", "idempotency", ["tenant_id", "expires_at"], unique=False)
    op.create_table(
        "outbox",
        sa.Column("tenant_id", sa.String(36), nullable=False),
        sa.Column("id", sa.String(36), nullable=False),
        sa.Column("topic", sa.String(64), nullable=False),
        sa.Column("payload", sa.JSON(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("available_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("claimed_until", sa.DateTime(timezone=True), nullable=True),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("failure", sa.String(200), nullable=True),
        sa.PrimaryKeyConstraint("tenant_id", "id"),
    )
    op.create_index("ix_outbox_due", "outbox", ["tenant_id", "available_at"], unique=False)
    op.create_table(
        "policy_versions",
        sa.Column("tenant_id", sa.String(36), nullable=False),
        sa.Column("version", sa.String(71), nullable=False),
        sa.Column("files", sa.JSON(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("tenant_id", "version"),
    )
    op.create_table(
        "candidates",
        sa.Column("tenant_id", sa.String(36), nullable=False),
        sa.Column("id", sa.String(36), nullable=False),
        sa.Column("execution_id", sa.String(36), nullable=False),
        sa.Column("sequence", sa.Integer(), nullable=False),
        sa.Column("artifact_hash", sa.String(71), nullable=False),
        sa.Column("by", sa.String(200), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["tenant_id", "execution_id"],
            ["executions.tenant_id", "executions.id"],
        ),
        sa.PrimaryKeyConstraint("tenant_id", "id"),
        sa.UniqueConstraint("tenant_id", "execution_id", "sequence", name="uq_candidates_sequence"),
    )
    op.create_table(
        "checkpoints",
        sa.Column("tenant_id", sa.String(36), nullable=False),
        sa.Column("execution_id", sa.String(36), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("transition", sa.String(16), nullable=False),
        sa.Column("status", sa.String(32), nullable=False),
        sa.Column("step", sa.Integer(), nullable=False),
        sa.Column("cost_micros", sa.BigInteger(), nullable=False),
        sa.Column("schema_version", sa.Integer(), nullable=False),
        sa.Column("state", sa.LargeBinary(), nullable=True),
        sa.Column("state_hash", sa.String(71), nullable=True),
        sa.Column("derived_from", sa.JSON(), nullable=False),
        sa.Column("by", sa.String(200), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.CheckConstraint("step >= 0", name="ck_checkpoints_step"),
        sa.ForeignKeyConstraint(
            ["tenant_id", "execution_id"],
            ["executions.tenant_id", "executions.id"],
        ),
        sa.PrimaryKeyConstraint("tenant_id", "execution_id", "version"),
    )
    op.create_table(
        "checks",
        sa.Column("tenant_id", sa.String(36), nullable=False),
        sa.Column("id", sa.String(36), nullable=False),
        sa.Column("execution_id", sa.String(36), nullable=False),
        sa.Column("sequence", sa.Integer(), nullable=False),
        sa.Column("requirement", sa.String(200), nullable=False),
        sa.Column("passed", sa.Boolean(), nullable=False),
        sa.Column("artifact_hash", sa.String(71), nullable=False),
        sa.Column("contract_hash", sa.String(71), nullable=False),
        sa.Column("grader_id", sa.String(200), nullable=False),
        sa.Column("grader_version", sa.String(200), nullable=False),
        sa.Column("environment", sa.LargeBinary(), nullable=True),
        sa.Column("output_ref", sa.String(500), nullable=True),
        sa.Column("expected", sa.LargeBinary(), nullable=True),
        sa.Column("observed", sa.LargeBinary(), nullable=True),
        sa.Column("reproduce", sa.LargeBinary(), nullable=True),
        sa.Column("failure_kind", sa.String(16), nullable=True),
        sa.Column("by", sa.String(200), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["tenant_id", "execution_id"],
            ["executions.tenant_id", "executions.id"],
        ),
        sa.PrimaryKeyConstraint("tenant_id", "id"),
        sa.UniqueConstraint("tenant_id", "execution_id", "sequence", name="uq_checks_sequence"),
    )
    op.create_table(
        "effects",
        sa.Column("tenant_id", sa.String(36), nullable=False),
        sa.Column("execution_id", sa.String(36), nullable=False),
        sa.Column("operation_id", sa.String(200), nullable=False),
        sa.Column("sequence", sa.Integer(), nullable=False),
        sa.Column("kind", sa.String(200), nullable=False),
        sa.Column("request", sa.LargeBinary(), nullable=True),
        sa.Column("request_hash", sa.String(128), nullable=False),
        sa.Column("status", sa.String(16), nullable=False),
        sa.Column("downstream_ref", sa.String(500), nullable=True),
        sa.Column("by", sa.String(200), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.CheckConstraint(
            "status IN ('intended', 'dispatched', 'committed', 'failed', 'unknown', 'absent', 'escalated')",
            name="ck_effects_status",
        ),
        sa.ForeignKeyConstraint(
            ["tenant_id", "execution_id"],
            ["executions.tenant_id", "executions.id"],
        ),
        sa.PrimaryKeyConstraint("tenant_id", "execution_id", "operation_id"),
        sa.UniqueConstraint("tenant_id", "execution_id", "sequence", name="uq_effects_sequence"),
    )
    op.create_table(
        "evidence_versions",
        sa.Column("tenant_id", sa.String(36), nullable=False),
        sa.Column("evidence_id", sa.String(36), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("kind", sa.String(64), nullable=False),
        sa.Column("observed_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("header", sa.LargeBinary(), nullable=False),
        sa.Column("free_form", sa.LargeBinary(), nullable=False),
        sa.Column("media_type", sa.String(100), nullable=False),
        sa.Column("sha256", sa.String(71), nullable=False),
        sa.Column("statement_key", sa.String(64), nullable=False),
        sa.Column("readers_key", sa.String(64), nullable=False),
        sa.Column("characters", sa.Integer(), nullable=False),
        sa.Column("tokens", sa.Integer(), nullable=False),
        sa.Column("chunks", sa.Integer(), nullable=False),
        sa.Column("trust", sa.String(20), nullable=False),
        sa.Column("authority", sa.String(20), nullable=False),
        sa.Column("limited", sa.String(64), nullable=True),
        sa.Column("fresh_until", sa.DateTime(timezone=True), nullable=True),
        sa.Column("group_key", sa.String(64), nullable=True),
        sa.Column("sequence", sa.BigInteger(), nullable=True),
        sa.Column("supersedes", sa.String(36), nullable=True),
        sa.Column("created_by", sa.String(450), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["tenant_id", "evidence_id"], ["evidence.tenant_id", "evidence.id"], ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("tenant_id", "evidence_id", "version"),
    )
    op.create_index(
        "ix_evidence_versions_group",
        "evidence_versions",
        ["tenant_id", "group_key", "sequence"],
        unique=False,
    )
    op.create_table(
        "idempotency_refs",
        sa.Column("tenant_id", sa.String(36), nullable=False),
        sa.Column("ref", sa.String(200), nullable=False),
        sa.Column("key_hash", sa.String(128), nullable=False),
        sa.ForeignKeyConstraint(
            ["tenant_id", "key_hash"],
            ["idempotency.tenant_id", "idempotency.key_hash"],
            name="fk_idempotency_refs_idempotency",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("tenant_id", "ref", "key_hash"),
    )
    op.create_index("ix_idempotency_refs_key", "idempotency_refs", ["tenant_id", "key_hash"], unique=False)
    op.create_table(
        "observations",
        sa.Column("tenant_id", sa.String(36), nullable=False),
        sa.Column("id", sa.String(36), nullable=False),
        sa.Column("execution_id", sa.String(36), nullable=False),
        sa.Column("sequence", sa.Integer(), nullable=False),
        sa.Column("source_uri", sa.LargeBinary(), nullable=False),
        sa.Column("source_kind", sa.String(200), nullable=False),
        sa.Column("source_version", sa.LargeBinary(), nullable=True),
        sa.Column("observed_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("media_type", sa.String(200), nullable=False),
        sa.Column("content", sa.LargeBinary(), nullable=True),
        sa.Column("summary", sa.LargeBinary(), nullable=True),
        sa.Column("sha256", sa.String(71), nullable=False),
        sa.Column("tokens", sa.Integer(), nullable=False),
        sa.Column("evidence_id", sa.String(36), nullable=True),
        sa.Column("tool_call_id", sa.String(200), nullable=True),
        sa.Column("trust", sa.String(32), nullable=False),
        sa.Column("authority", sa.String(32), nullable=False),
        sa.Column("limited", sa.Boolean(), nullable=False),
        sa.Column("said_by", sa.String(200), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["tenant_id", "execution_id"],
            ["executions.tenant_id", "executions.id"],
        ),
        sa.PrimaryKeyConstraint("tenant_id", "id"),
        sa.UniqueConstraint("tenant_id", "execution_id", "sequence", name="uq_observations_sequence"),
    )
    op.create_table(
        "packages",
        sa.Column("tenant_id", sa.String(36), nullable=False),
        sa.Column("id", sa.String(36), nullable=False),
        sa.Column("project_id", sa.String(36), nullable=False),
        sa.Column("execution_id", sa.String(36), nullable=True),
        sa.Column("acting_user", sa.String(200), nullable=False),
        sa.Column("built_by", sa.String(500), nullable=False),
        sa.Column("purpose", sa.String(64), nullable=False),
        sa.Column("digest", sa.String(71), nullable=False),
        sa.Column("request", sa.LargeBinary(), nullable=False),
        sa.Column("manifest", sa.JSON(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["tenant_id", "project_id"], ["projects.tenant_id", "projects.id"], name="fk_packages_project"
        ),
        sa.ForeignKeyConstraint(
            ["tenant_id", "execution_id"],
            ["executions.tenant_id", "executions.id"],
            name="fk_packages_execution",
        ),
        sa.PrimaryKeyConstraint("tenant_id", "id"),
    )
    op.create_index("ix_packages_acting_user", "packages", ["tenant_id", "acting_user"], unique=False)
    op.create_index("ix_packages_execution", "packages", ["tenant_id", "execution_id"], unique=False)
    op.create_table(
        "pins",
        sa.Column("tenant_id", sa.String(36), nullable=False),
        sa.Column("id", sa.String(36), nullable=False),
        sa.Column("execution_id", sa.String(36), nullable=False),
        sa.Column("sequence", sa.Integer(), nullable=False),
        sa.Column("kind", sa.String(16), nullable=False),
        sa.Column("text", sa.LargeBinary(), nullable=True),
        sa.Column("turn_ids", sa.JSON(), nullable=False),
        sa.Column("relayed", sa.Boolean(), nullable=False),
        sa.Column("resolution", sa.LargeBinary(), nullable=True),
        sa.Column("by", sa.String(200), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("resolved_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(
            ["tenant_id", "execution_id"],
            ["executions.tenant_id", "executions.id"],
        ),
        sa.PrimaryKeyConstraint("tenant_id", "id"),
        sa.UniqueConstraint("tenant_id", "execution_id", "sequence", name="uq_pins_sequence"),
    )
    op.create_table(
        "policy_active",
        sa.Column("tenant_id", sa.String(36), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("version", sa.String(71), nullable=False),
        sa.Column("activated_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["tenant_id", "version"],
            ["policy_versions.tenant_id", "policy_versions.version"],
        ),
        sa.PrimaryKeyConstraint("tenant_id"),
    )
    op.create_table(
        "steps",
        sa.Column("tenant_id", sa.String(36), nullable=False),
        sa.Column("id", sa.String(36), nullable=False),
        sa.Column("execution_id", sa.String(36), nullable=False),
        sa.Column("sequence", sa.Integer(), nullable=False),
        sa.Column("task_id", sa.String(200), nullable=False),
        sa.Column("exit_status", sa.String(16), nullable=False),
        sa.Column("inputs", sa.JSON(), nullable=False),
        sa.Column("outputs", sa.JSON(), nullable=False),
        sa.Column("completed_key", sa.String(71), nullable=True),
        sa.Column("summary", sa.LargeBinary(), nullable=True),
        sa.Column("by", sa.String(200), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.CheckConstraint("exit_status IN ('started', 'completed', 'failed')", name="ck_steps_exit_status"),
        sa.ForeignKeyConstraint(
            ["tenant_id", "execution_id"],
            ["executions.tenant_id", "executions.id"],
        ),
        sa.PrimaryKeyConstraint("tenant_id", "id"),
        sa.UniqueConstraint("tenant_id", "execution_id", "completed_key", name="uq_steps_completed"),
        sa.UniqueConstraint("tenant_id", "execution_id", "sequence", name="uq_steps_sequence"),
    )
    op.create_table(
        "summaries",
        sa.Column("tenant_id", sa.String(36), nullable=False),
        sa.Column("id", sa.String(36), nullable=False),
        sa.Column("execution_id", sa.String(36), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("from_sequence", sa.Integer(), nullable=False),
        sa.Column("to_sequence", sa.Integer(), nullable=False),
        sa.Column("text", sa.LargeBinary(), nullable=True),
        sa.Column("model", sa.String(200), nullable=False),
        sa.Column("tokens", sa.Integer(), nullable=False),
        sa.Column("supersedes", sa.String(36), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.CheckConstraint("from_sequence >= 1 AND from_sequence <= to_sequence", name="ck_summaries_range"),
        sa.ForeignKeyConstraint(
            ["tenant_id", "execution_id"],
            ["executions.tenant_id", "executions.id"],
        ),
        sa.PrimaryKeyConstraint("tenant_id", "id"),
        sa.UniqueConstraint("tenant_id", "execution_id", "version", name="uq_summaries_version"),
    )
    op.create_table(
        "tasks",
        sa.Column("tenant_id", sa.String(36), nullable=False),
        sa.Column("execution_id", sa.String(36), nullable=False),
        sa.Column("id", sa.String(200), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("title", sa.LargeBinary(), nullable=True),
        sa.Column("inputs", sa.JSON(), nullable=False),
        sa.Column("outputs", sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(
            ["tenant_id", "execution_id"],
            ["executions.tenant_id", "executions.id"],
        ),
        sa.PrimaryKeyConstraint("tenant_id", "execution_id", "id"),
    )
    op.create_table(
        "turns",
        sa.Column("tenant_id", sa.String(36), nullable=False),
        sa.Column("id", sa.String(36), nullable=False),
        sa.Column("execution_id", sa.String(36), nullable=False),
        sa.Column("sequence", sa.Integer(), nullable=False),
        sa.Column("role", sa.String(16), nullable=False),
        sa.Column("text", sa.LargeBinary(), nullable=True),
        sa.Column("text_hash", sa.String(128), nullable=False),
        sa.Column("tool_calls", sa.LargeBinary(), nullable=True),
        sa.Column("tool_call_id", sa.String(200), nullable=True),
        sa.Column("tokens", sa.Integer(), nullable=False),
        sa.Column("relayed", sa.Boolean(), nullable=False),
        sa.Column("said_by", sa.String(200), nullable=False),
        sa.Column("agent", sa.String(200), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["tenant_id", "execution_id"],
            ["executions.tenant_id", "executions.id"],
        ),
        sa.PrimaryKeyConstraint("tenant_id", "id"),
        sa.UniqueConstraint("tenant_id", "execution_id", "sequence", name="uq_turns_sequence"),
    )
    op.create_table(
        "api_keys",
        sa.Column("tenant_id", sa.String(36), nullable=False),
        sa.Column("id", sa.String(36), nullable=False),
        sa.Column("secret_hash", sa.String(64), nullable=False),
        sa.Column("role", sa.String(32), nullable=False),
        sa.Column("subject", sa.String(200), nullable=False),
        sa.Column("on_behalf_of", sa.String(200), nullable=True),
        sa.Column("project_id", sa.String(36), nullable=True),
        sa.Column("sources", sa.JSON(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("revoked_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(
            ["tenant_id", "project_id"], ["projects.tenant_id", "projects.id"], name="fk_api_keys_project"
        ),
        sa.ForeignKeyConstraint(["tenant_id"], ["tenants.id"], name="fk_api_keys_tenant"),
        sa.PrimaryKeyConstraint("tenant_id", "id"),
    )
    op.create_index("ix_api_keys_id", "api_keys", ["id"], unique=False)
    op.create_table(
        "evidence_chunks",
        sa.Column("tenant_id", sa.String(36), nullable=False),
        sa.Column("evidence_id", sa.String(36), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("ordinal", sa.Integer(), nullable=False),
        sa.Column("start_at", sa.Integer(), nullable=False),
        sa.Column("end_at", sa.Integer(), nullable=False),
        sa.Column("tokens", sa.Integer(), nullable=False),
        sa.Column("text", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(
            ["tenant_id", "evidence_id", "version"],
            ["evidence_versions.tenant_id", "evidence_versions.evidence_id", "evidence_versions.version"],
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("tenant_id", "evidence_id", "version", "ordinal"),
    )
    op.create_table(
        "evidence_lineage",
        sa.Column("tenant_id", sa.String(36), nullable=False),
        sa.Column("evidence_id", sa.String(36), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("ref_kind", sa.String(20), nullable=False),
        sa.Column("ref_id", sa.String(100), nullable=False),
        sa.Column("ref_version", sa.Integer(), nullable=True),
        sa.ForeignKeyConstraint(
            ["tenant_id", "evidence_id", "version"],
            ["evidence_versions.tenant_id", "evidence_versions.evidence_id", "evidence_versions.version"],
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("tenant_id", "evidence_id", "version", "position"),
    )
    op.create_index(
        "ix_evidence_lineage_ref", "evidence_lineage", ["tenant_id", "ref_kind", "ref_id"], unique=False
    )
    op.create_table(
        "evidence_readers",
        sa.Column("tenant_id", sa.String(36), nullable=False),
        sa.Column("evidence_id", sa.String(36), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("label", sa.String(250), nullable=False),
        sa.ForeignKeyConstraint(
            ["tenant_id", "evidence_id", "version"],
            ["evidence_versions.tenant_id", "evidence_versions.evidence_id", "evidence_versions.version"],
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("tenant_id", "evidence_id", "version", "label"),
    )
    op.create_table(
        "evidence_subjects",
        sa.Column("tenant_id", sa.String(36), nullable=False),
        sa.Column("evidence_id", sa.String(36), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("subject_hash", sa.String(64), nullable=False),
        sa.ForeignKeyConstraint(
            ["tenant_id", "evidence_id", "version"],
            ["evidence_versions.tenant_id", "evidence_versions.evidence_id", "evidence_versions.version"],
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("tenant_id", "evidence_id", "version", "subject_hash"),
    )
    op.create_index(
        "ix_evidence_subjects_subject", "evidence_subjects", ["tenant_id", "subject_hash"], unique=False
    )
    op.create_table(
        "members",
        sa.Column("tenant_id", sa.String(36), nullable=False),
        sa.Column("project_id", sa.String(36), nullable=False),
        sa.Column("subject", sa.String(200), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["tenant_id", "project_id"], ["projects.tenant_id", "projects.id"], name="fk_members_project"
        ),
        sa.PrimaryKeyConstraint("tenant_id", "project_id", "subject"),
    )
    op.create_index("ix_members_subject", "members", ["tenant_id", "subject"], unique=False)
    op.create_table(
        "memories",
        sa.Column("tenant_id", sa.String(36), nullable=False),
        sa.Column("id", sa.String(36), nullable=False),
        sa.Column("project_id", sa.String(36), nullable=False),
        sa.Column("class_name", sa.String(64), nullable=False),
        sa.Column("scope_key", sa.String(64), nullable=False),
        sa.Column("subject_hash", sa.String(64), nullable=False),
        sa.Column("key_hash", sa.String(64), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("status", sa.String(20), nullable=False),
        sa.Column("purpose", sa.String(64), nullable=False),
        sa.Column("trust", sa.String(20), nullable=False),
        sa.Column("policy_version", sa.String(71), nullable=False),
        sa.Column("observed_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("confirmed_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["tenant_id", "project_id"],
            ["projects.tenant_id", "projects.id"],
        ),
        sa.PrimaryKeyConstraint("tenant_id", "id"),
    )
    op.create_index("ix_memories_subject", "memories", ["tenant_id", "subject_hash", "id"], unique=False)
    op.create_index(
        "ux_memories_active_slot",
        "memories",
        ["tenant_id", "scope_key", "class_name", "key_hash"],
        unique=True,
        sqlite_where=sa.text("status = 'active'"),
        postgresql_where=sa.text("status = 'active'"),
    )
    op.create_table(
        "memory_proposals",
        sa.Column("tenant_id", sa.String(36), nullable=False),
        sa.Column("id", sa.String(36), nullable=False),
        sa.Column("project_id", sa.String(36), nullable=False),
        sa.Column("class_name", sa.String(200), nullable=False),
        sa.Column("subject_hash", sa.String(64), nullable=False),
        sa.Column("content_hash", sa.String(64), nullable=False),
        sa.Column("content", sa.LargeBinary(), nullable=True),
        sa.Column("outcome", sa.String(20), nullable=False),
        sa.Column("codes", sa.JSON(), nullable=False),
        sa.Column("approver", sa.String(20), nullable=True),
        sa.Column("approvals", sa.JSON(), nullable=False),
        sa.Column("policy_version", sa.String(71), nullable=False),
        sa.Column("purpose", sa.String(64), nullable=False),
        sa.Column("confidence", sa.Float(), nullable=False),
        sa.Column("proposer", sa.String(450), nullable=False),
        sa.Column("memory_id", sa.String(36), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("decided_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("decided_by", sa.String(450), nullable=True),
        sa.Column("decision_reason", sa.LargeBinary(), nullable=True),
        sa.ForeignKeyConstraint(
            ["tenant_id", "project_id"],
            ["projects.tenant_id", "projects.id"],
        ),
        sa.PrimaryKeyConstraint("tenant_id", "id"),
    )
    op.create_index(
        "ix_memory_proposals_memory", "memory_proposals", ["tenant_id", "memory_id"], unique=False
    )
    op.create_index(
        "ix_memory_proposals_outcome", "memory_proposals", ["tenant_id", "outcome", "id"], unique=False
    )
    op.create_table(
        "package_items",
        sa.Column("tenant_id", sa.String(36), nullable=False),
        sa.Column("package_id", sa.String(36), nullable=False),
        sa.Column("kind", sa.String(32), nullable=False),
        sa.Column("item_id", sa.String(200), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["tenant_id", "package_id"],
            ["packages.tenant_id", "packages.id"],
            name="fk_package_items_package",
        ),
        sa.PrimaryKeyConstraint("tenant_id", "package_id", "kind", "item_id", "version"),
    )
    op.create_index("ix_package_items_item", "package_items", ["tenant_id", "kind", "item_id"], unique=False)
    op.create_table(
        "memory_versions",
        sa.Column("tenant_id", sa.String(36), nullable=False),
        sa.Column("memory_id", sa.String(36), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("content", sa.LargeBinary(), nullable=False),
        sa.Column("content_hash", sa.String(64), nullable=False),
        sa.Column("provenance", sa.JSON(), nullable=False),
        sa.Column("confidence", sa.Float(), nullable=False),
        sa.Column("tokens", sa.Integer(), nullable=False),
        sa.Column("act", sa.String(20), nullable=False),
        sa.Column("by", sa.String(450), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["tenant_id", "memory_id"], ["memories.tenant_id", "memories.id"], ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("tenant_id", "memory_id", "version"),
    )
    protect(op.get_bind(), TENANT_TABLES)
