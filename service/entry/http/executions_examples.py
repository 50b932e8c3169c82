"""What requests and answers of runs look like, for the OpenAPI document."""

import json
from typing import Any, Final

EXAMPLE_ID: Final = "01936d7e-5d5c-7c3e-9d0a-6c1f0f3f7a11"
EXAMPLE_HASH: Final = "sha256:" + "4b" * 32
_TIME: Final = "2026-11-30T10:00:00Z"
_REQUIREMENTS: Final = [
    {"id": "login", "text": "Login works", "grader": "browser", "depends_on": ["src/login"]},
    {"id": "orders", "text": "Orders can be filtered", "grader": None, "depends_on": []},
]

OPEN_EXAMPLE: Final[dict[str, Any]] = {
    "project": "alpha",
    "external_ref": "order-app-42",
    "objective": "Answer the planning query for plot 18",
    "requirements": [_REQUIREMENTS[0], {"id": "orders", "text": "Orders can be filtered"}],
    "budgets": {"cost": "5.00", "steps": 40, "revisions": 3},
    "retention_class": "operational",
    "memory_mode": "read_write",
}
CHECKPOINT_EXAMPLE: Final[dict[str, Any]] = {
    "transition": "advance",
    "step": 1,
    "state": {"plan": ["read", "draft"], "next_action": "read the case file"},
    "cost": "0.12",
}
LISTED_EXAMPLE: Final[dict[str, Any]] = {
    "id": EXAMPLE_ID,
    "project": "alpha",
    "external_ref": "order-app-42",
    "version": 2,
    "status": "running",
    "ended_reason": None,
    "objective": "Answer the planning query for plot 18",
    "step": 1,
    "cost_used": "0.12",
    "budgets": {"cost": "5.00", "steps": 40, "revisions": 3},
    "deadline": None,
    "retention_class": "operational",
    "memory_mode": "read_write",
    "schema_version": 1,
    "acting_user": "user-1",
    "agent": "agent-1",
    "contract_hash": EXAMPLE_HASH,
    "contract_origin": "agent",
    "contract_confirmed": True,
    "created_at": _TIME,
    "updated_at": "2026-11-30T10:04:31.25Z",
    "content_erased_at": None,
}
EXECUTION_EXAMPLE: Final[dict[str, Any]] = {
    **LISTED_EXAMPLE,
    "requirements": _REQUIREMENTS,
    "tasks": {"done": 1, "open": 1, "blocked": 0},
    "pending_action": "continue:draft",
    "next_action": "draft the reply",
    "lease": {"until": _TIME},
}
MANIFEST_EXAMPLE: Final[dict[str, Any]] = {
    "tasks": [
        {"id": "read-case", "title": "Read the case file", "outputs": ["case-summary"]},
        {"id": "draft", "inputs": ["case-summary"], "outputs": ["reply"]},
    ]
}
STEP_EXAMPLE: Final[dict[str, Any]] = {
    "task_id": "read-case",
    "exit_status": "completed",
    "inputs": [{"ref": "file:case.pdf", "sha256": EXAMPLE_HASH}],
    "outputs": [{"name": "case-summary", "ref": "file:case-summary.md", "sha256": EXAMPLE_HASH}],
    "summary": "Case file read",
}
LOG_EXAMPLE: Final = json.dumps({"id": EXAMPLE_ID, "at": _TIME, **STEP_EXAMPLE}) + "\n"
TASKS_EXAMPLE: Final[dict[str, Any]] = {
    "items": [
        {
            "id": "draft",
            "title": None,
            "standing": "pending",
            "inputs": ["case-summary"],
            "outputs": [{"name": "reply", "ref": None, "sha256": None}],
        }
    ]
}
HANDOFF_EXAMPLE: Final[dict[str, Any]] = {
    "schema_version": 2,
    "execution_id": EXAMPLE_ID,
    "external_ref": "order-app-42",
    "revision": 3,
    "contract_hash": EXAMPLE_HASH,
    "artifact_hash": None,
    "completed": ["read-case"],
    "next_action": "draft the reply",
    "outputs": [
        {
            "task_id": "read-case",
            "name": "case-summary",
            "ref": "file:case-summary.md",
            "sha256": EXAMPLE_HASH,
        }
    ],
    "blockers": [
        {"kind": "effect", "ref": "seed-order-8", "text": "outcome unknown (dispatched)"},
    ],
    "checks": [
        {
            "requirement": "login",
            "status": "missing",
            "check_id": None,
            "evidence": None,
            "failure_kind": None,
            "carried_from": None,
            "failures": 0,
            "escalated": False,
        }
    ],
    "effects": [{"operation_id": "seed-order-8", "status": "dispatched"}],
    "environment": {},
    "approvals": [{"id": EXAMPLE_ID, "status": "pending"}],
}
LEASE_EXAMPLE: Final[dict[str, Any]] = {"fencing_token": 3, "mode": "recovery", "expires_at": _TIME}
RESUME_EXAMPLE: Final[dict[str, Any]] = {
    "artifact_hash": EXAMPLE_HASH,
    "contract_hash": EXAMPLE_HASH,
    "environment": {"commit": "4be1c07"},
}
NEXT_STEPS_EXAMPLE: Final = (
    f"Run order-app-42 (execution:{EXAMPLE_ID}) is running, revision 3; 1 of 2 tasks done."
    f" Completed last: read-case (step:{EXAMPLE_ID}): Case file read. Next: draft the reply (continue:draft)."
    " Outputs: case-summary (file:case-summary.md). Nothing blocks."
)
OBSERVATION_EXAMPLE: Final[dict[str, Any]] = {
    "source": {
        "uri": "tool://register",
        "kind": "tool",
        "source_version": "7",
        "observed_at": _TIME,
    },
    "media_type": "application/json",
    "content": '{"plot": 18, "consent": "outline"}',
    "summary": "Plot 18 has outline consent",
}
CANDIDATE_EXAMPLE: Final[dict[str, Any]] = {
    "artifact_hash": EXAMPLE_HASH,
    "inputs": [{"ref": "src/login/form.py", "sha256": EXAMPLE_HASH}],
}
CHECK_REQUEST_EXAMPLE: Final[dict[str, Any]] = {
    "id": EXAMPLE_ID,
    "execution_id": EXAMPLE_ID,
    "requirement": "login",
    "text": "Login works",
    "grader": "browser",
    "artifact_hash": EXAMPLE_HASH,
    "contract_hash": EXAMPLE_HASH,
    "at": _TIME,
}
REASON_EXAMPLE: Final[dict[str, Any]] = {"reason": "The order was withdrawn by its customer"}
HAPPENING_EXAMPLE: Final[dict[str, Any]] = {
    "at": _TIME,
    "kind": "effect",
    "actor": "agent:agent-1:for:user-1",
    "what": "effect.settled",
    "ref": "effect:seed-order-8",
    "details": {"operation": "seed-order-8", "status": "committed"},
}
CHECK_EXAMPLE: Final[dict[str, Any]] = {
    "requirement": "login",
    "passed": False,
    "artifact_hash": EXAMPLE_HASH,
    "contract_hash": EXAMPLE_HASH,
    "grader": {"id": "browser", "version": "3"},
    "environment": {"commit": "4be1c07"},
    "expected": "The start page after signing in",
    "observed": "403",
    "reproduce": "Sign in as a new user",
    "failure_kind": "permission",
}
