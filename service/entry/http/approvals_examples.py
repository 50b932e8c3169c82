"""What requests and answers of approvals look like, for the OpenAPI document."""

from typing import Any, Final

from service.entry.http.executions_examples import EXAMPLE_HASH, EXAMPLE_ID

_COMMAND: Final = {"kind": "orders.create", "sku": "A1"}

ASK_EXAMPLE: Final[dict[str, Any]] = {
    "command": _COMMAND,
    "evidence_ids": [EXAMPLE_ID],
    "expires_at": "2026-11-30T14:00:00Z",
}
DECIDE_EXAMPLE: Final[dict[str, Any]] = {"decision": "approve", "reason": "The quote is still valid"}
REDEEM_EXAMPLE: Final[dict[str, Any]] = {"command": _COMMAND, "operation_id": "seed-order-8"}
LISTED_EXAMPLE: Final[dict[str, Any]] = {
    "id": EXAMPLE_ID,
    "execution_id": EXAMPLE_ID,
    "project": "alpha",
    "kind": "orders.create",
    "command": _COMMAND,
    "command_hash": EXAMPLE_HASH,
    "status": "pending",
    "approver_role": "reviewer",
    "requested_by": "agent:agent-1:for:user-1",
    "acting_user": "user-1",
    "agent": "agent-1",
    "policy_version": EXAMPLE_HASH,
    "expires_at": "2026-11-30T14:00:00Z",
    "decided_by": None,
    "decider_role": None,
    "decided_at": None,
    "reason": None,
    "operation_id": None,
    "redeemed_at": None,
    "moved": [],
    "created_at": "2026-11-30T10:00:00Z",
}
APPROVAL_EXAMPLE: Final[dict[str, Any]] = {
    **LISTED_EXAMPLE,
    "evidence": [{"id": EXAMPLE_ID, "version": 1, "sha256": EXAMPLE_HASH, "moved": None}],
}
