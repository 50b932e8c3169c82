"""Routes of the shadow: watch what a candidate would decide, beside the policy that counts."""

from typing import Any, Final

from starlette.responses import Response

from service.authoring.activation import NothingToActivate, PlanMismatch, PlanOutdated
from service.authoring.shadow import begin_shadow, end_shadow, look_at_shadow
from service.core.errors import NotFound
from service.entry.http.edge import Edge, Reply, needs, new_router, operation
from service.entry.policy_shadow import shadow_answer
from service.identity.matrix import POLICIES_ACTIVATE, POLICIES_READ
from service.identity.unit import Unit
from service.policies.active import PolicyUnreadable
from service.wire.policies_shadow import BeginShadow, ShadowAnswer

router = new_router("policies")

_ID: Final = "0197a000-0000-7000-8000-000000000001"
_HASH: Final = "sha256:" + "0" * 64
_SHADOW: Final[dict[str, Any]] = {
    "id": _ID,
    "plan": _ID,
    "status": "running",
    "base_version": _HASH,
    "candidate_version": "sha256:" + "1" * 64,
    "began_by": "f2b0",
    "began_at": "2026-12-01T10:00:00Z",
    "until": "2026-12-15T10:00:00Z",
    "ended_at": None,
    "affected": {"proposals": {"otherwise": 1, "judged": 40, "not_judged": 0}},
    "samples": {"proposals": [], "packages": []},
}


@router.post(
    "/policies/shadow",
    **operation(
        summary="Watch a plan's candidate beside the policy that counts",
        answer=ShadowAnswer,
        status=201,
        example={"plan": _ID, "hash": _HASH, "days": 14},
        problems=[NotFound, PlanMismatch, PlanOutdated, NothingToActivate],
    ),
)
def begin(body: BeginShadow, edge: Edge = needs(POLICIES_ACTIVATE)) -> Response:
    """Answer the shadow, which takes the place of one that runs. It decides nothing."""

    def work(unit: Unit) -> Reply:
        begin_shadow(body.plan, body.hash, days=body.days, unit=unit)
        return Reply(shadow_answer(look_at_shadow(unit), unit), status=201)

    return edge.create(work)


@router.get(
    "/policies/shadow",
    **operation(
        summary="Read what the candidate would have decided otherwise",
        answer=ShadowAnswer,
        example=_SHADOW,
        problems=[NotFound, PolicyUnreadable],
    ),
)
def look(edge: Edge = needs(POLICIES_READ)) -> Response:
    """Answer the shadow that runs, or the last one that did."""
    return edge.read(lambda unit: Reply(shadow_answer(look_at_shadow(unit), unit)))


@router.delete(
    "/policies/shadow",
    **operation(summary="Stop watching", answer=None, status=204, problems=[NotFound]),
)
def stop(edge: Edge = needs(POLICIES_ACTIVATE)) -> Response:
    """Take the shadow away. What it found can be read until the next one."""

    def work(unit: Unit) -> Reply:
        end_shadow(unit)
        return Reply(None, status=204)

    return edge.write(work)
