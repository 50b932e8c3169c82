"""The route that explains a decision of policy."""

from typing import Any, Final

from starlette.responses import Response

from service.authoring.explain import explain_decision
from service.core.errors import NotFound
from service.entry.http.edge import Edge, PathId, Reply, needs, new_router, operation
from service.entry.policy_explanation import explanation_answer
from service.identity.matrix import POLICIES_READ
from service.wire.policies_explain import ExplanationAnswer

router = new_router("policies")

_EXPLANATION: Final[dict[str, Any]] = {
    "id": "0197a000-0000-7000-8000-000000000001",
    "memory": None,
    "class_name": "preference",
    "outcome": "denied",
    "codes": ["consent_missing"],
    "by_person": False,
    "created_at": "2026-11-30T10:00:00Z",
    "decided_at": None,
    "policy_version": "sha256:" + "0" * 64,
    "policy_outcome": "denied",
    "policy_codes": ["consent_missing"],
    "rule": "classes.preference.consent_needed",
    "steps": [
        {
            "check": "consent_missing",
            "result": "denies",
            "rule": "classes.preference.consent_needed",
            "says": True,
            "because": "the subject has not consented to this purpose",
            "saw": {"purpose": "personalisation", "consent": False},
        }
    ],
    "facts": {"consent": False},
    "content_hash": "0" * 64,
    "agrees": True,
    "unexplained": None,
}


@router.get(
    "/policies/explanations/{ref}",
    **operation(
        summary="Explain the decision on a proposal or memory",
        answer=ExplanationAnswer,
        example=_EXPLANATION,
        problems=[NotFound],
    ),
)
def explain(ref: PathId, edge: Edge = needs(POLICIES_READ)) -> Response:
    """Answer every check in order, with the facts that it saw, under the version that decided."""
    return edge.read(lambda unit: Reply(explanation_answer(explain_decision(ref, unit=unit))))
