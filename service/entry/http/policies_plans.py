"""Routes of plans: compare a candidate policy with what counts, simulate it, read again what was found."""

from typing import Any, Final

from starlette.responses import Response

from service.authoring.compare import compare
from service.authoring.plan import draft_plan, keep_plan
from service.authoring.store_plans import PlanStore
from service.core.errors import NotFound
from service.entry.http.edge import Edge, PathId, Reply, needs, new_router, operation
from service.entry.policy_plan import plan_answer
from service.identity.matrix import POLICIES_READ, POLICIES_VALIDATE
from service.identity.unit import Unit
from service.policies.active import PolicyUnreadable
from service.policies.findings import BundleInvalid
from service.policies.load import load_bundle
from service.wire.policies import ValidateBundle
from service.wire.policies_plans import DifferenceAnswer, PlanAnswer, RuleChangeAnswer, SimulateBundle

router = new_router("policies")

_VERSION: Final = "sha256:0e911f3ae2370841fcbcaa8de405158ac4bac41e1c30d74f42732e750c58b766"
_FILES: Final = {"purposes.yaml": "purposes:\n  service:\n    description: Doing the work.\n"}
_PLAN: Final[dict[str, Any]] = {
    "id": "0197a000-0000-7000-8000-000000000001",
    "hash": "sha256:" + "0" * 64,
    "candidate_version": "sha256:" + "1" * 64,
    "base_version": _VERSION,
    "base_revision": 1,
    "days": 30,
    "made_at": "2026-11-30T10:00:00Z",
    "direction": "neutral",
    "changes": [],
    "affected": {"memories": {"unchanged": 3, "total": 3}, "subjects": 0, "subjects_are": "exact"},
    "samples": {"memories": [], "proposals": [], "packages": []},
}


@router.post(
    "/policies/differences",
    **operation(
        summary="Tell what a candidate policy says otherwise than the active version",
        answer=DifferenceAnswer,
        example={"files": _FILES},
        problems=[BundleInvalid, PolicyUnreadable],
    ),
)
def tell_differences(body: ValidateBundle, edge: Edge = needs(POLICIES_VALIDATE)) -> Response:
    """Answer each rule that changes, before and after, and whether that only allows less; keeps nothing."""
    candidate = load_bundle(body.files)  # before the transaction, which has no part in it

    def work(unit: Unit) -> Reply:
        found = compare(candidate, unit=unit)
        return Reply(
            DifferenceAnswer(
                candidate_version=found.candidate.version,
                base_version=found.base.version,
                base_revision=found.base_revision,
                direction=found.direction,
                changes=[RuleChangeAnswer(**change) for change in found.changes],
            )
        )

    return edge.read(work)


@router.post(
    "/policies/simulations",
    **operation(
        summary="Work out what a candidate policy would do, changing nothing",
        answer=PlanAnswer,
        status=201,
        example={"files": _FILES},
        problems=[BundleInvalid, PolicyUnreadable],
    ),
)
def simulate_bundle(body: SimulateBundle, edge: Edge = needs(POLICIES_VALIDATE)) -> Response:
    """Answer the plan and keep it. Reading may take seconds and blocks no writer."""
    if (kept := edge.find_answer()) is not None:
        return kept
    candidate = load_bundle(body.files)
    drafted = edge.look(
        lambda unit: draft_plan(
            candidate, body.files, unit=unit, days=body.days, progress=lambda _done, _total: None
        )
    )

    def keep(unit: Unit) -> Reply:
        keep_plan(drafted, unit=unit)
        return Reply(plan_answer(drafted.plan, unit), status=201)

    return edge.create(keep)


@router.get(
    "/policies/simulations/{plan_id}",
    **operation(
        summary="Read what a simulation found", answer=PlanAnswer, example=_PLAN, problems=[NotFound]
    ),
)
def read_simulation(plan_id: PathId, edge: Edge = needs(POLICIES_READ)) -> Response:
    """Answer a plan of the tenant, as it was worked out (auditors too)."""
    return edge.read(lambda unit: Reply(plan_answer(PlanStore.of(unit).get(plan_id), unit)))
