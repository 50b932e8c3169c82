"""What requests and answers of long-term memory look like, for the OpenAPI document."""

from typing import Any, Final

_ID: Final = "01936d7e-5d5c-7c3e-9d0a-6c1f0f3f7a11"
_TURN_ID: Final = "01936d7e-4c1b-7f02-b6d1-2f9f3f0f7c55"
_VERSION: Final = "sha256:0e911f3ae2370841fcbcaa8de405158ac4bac41e1c30d74f42732e750c58b766"
_TIME: Final = "2026-11-30T10:00:00Z"
_CITED: Final = {"kind": "turn", "id": _TURN_ID, "quote": "keep it short"}

PROPOSE_EXAMPLE: Final[dict[str, Any]] = {
    "project": "alpha",
    "class": "preference",
    "subject": "user-1",
    "key": "reply_style",
    "text": "Prefers concise explanations",
    "confidence": 0.9,
    "provenance": [_CITED],
    "purpose": "personalisation",
}
PROPOSALS_EXAMPLE: Final[dict[str, Any]] = {
    "items": [
        {
            "id": _ID,
            "project": "alpha",
            "class": "preference",
            "decision": "pending_review",
            "codes": ["speculative", "review_required"],
            "decision_reason": None,
            "approver": "subject",
            "subject": "user-1",
            "key": "reply_style",
            "text": "Perhaps prefers concise explanations",
            "value": None,
            "provenance": [_CITED],
            "purpose": "personalisation",
            "confidence": 0.9,
            "valid_from": None,
            "valid_until": None,
            "detections": [{"place": "text", "kind": "speculative", "start": 0, "end": 7}],
            "proposer": "agent:agent-1:for:user-1",
            "policy_version": _VERSION,
            "memory_id": None,
            "created_at": _TIME,
            "age_seconds": 5400.0,
        }
    ],
    "next_cursor": None,
}
MEMORY_EXAMPLE: Final[dict[str, Any]] = {
    "id": _ID,
    "class": "preference",
    "project": "alpha",
    "subject": "user-1",
    "key": "reply_style",
    "text": "Prefers concise explanations",
    "value": None,
    "purpose": "personalisation",
    "purposes": ["personalisation"],
    "lawful_basis": "consent",
    "because": "a person should not have to repeat how they want to be answered.",
    "confidence": 0.9,
    "provenance": [{**_CITED, "version": None, "start": 7, "end": 20}],
    "trust": "internal_tool",
    "version": 1,
    "created_at": _TIME,
    "confirmed_at": _TIME,
    "expires_at": "2027-11-30T10:00:00Z",
    "valid_from": None,
    "valid_until": None,
    "grace_until": None,
    "conflict_group": None,
    "status": "active",
    "advisory": True,
    "revalidate": ["authority", "money", "safety", "access"],
    "policy_version": _VERSION,
}
MEMORIES_EXAMPLE: Final[dict[str, Any]] = {"items": [MEMORY_EXAMPLE], "next_cursor": None}
SEARCH_EXAMPLE: Final[dict[str, Any]] = {
    "query": "how should replies be written?",
    "subject": "user-1",
    "purpose": "personalisation",
    "limit": 10,
}
CONSENT_EXAMPLE: Final[dict[str, Any]] = {"subject": "user-1", "granted": True, "text_version": "2026-11"}
CONSENTS_EXAMPLE: Final[dict[str, Any]] = {
    "items": [
        {
            "purpose": "personalisation",
            "subject": "user-1",
            "granted": True,
            "text_version": "2026-11",
            "history": [{"granted": True, "text_version": "2026-11", "at": _TIME, "by": "user:user-1"}],
        }
    ]
}
