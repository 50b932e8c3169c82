"""Looking through the audit trail by time, action, principal and request; who acts for a person."""

from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_index("ix_audit_events_at", "audit_events", ["tenant_id", "at", "sequence"])
    op.create_index("ix_audit_events_action", "audit_events", ["tenant_id", "action", "at", "sequence"])
    op.create_index("ix_audit_events_principal", "audit_events", ["tenant_id", "principal", "at", "sequence"])
    op.create_index("ix_audit_events_request", "audit_events", ["tenant_id", "request_id"])
    op.create_index("ix_api_keys_on_behalf_of", "api_keys", ["tenant_id", "on_behalf_of"])
