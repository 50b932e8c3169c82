"""Routes that make another policy version count: activate, approve as the second person, cancel, go back."""

from typing import Any, Final

from starlette.responses import Response

from service.authoring.activate import activate_plan, approve_activation, cancel_activation
from service.authoring.activation import (
    Activation,
    ActivationSettled,
    ActivationStatus,
    BlastRadiusExceeded,
    NothingToActivate,
    PlanMismatch,
    PlanOutdated,
    SecondPersonNeeded,
)
from service.authoring.measure import measure_activation, measure_plan
from service.authoring.rollback import roll_back
from service.authoring.store_activations import ActivationStore
from service.core.errors import NotFound
from service.core.paging import PAGE_ITEMS_DEFAULT
from service.entry.http.edge import Cursor, Edge, IfMatch, Limit, PathId, Reply, needs, new_router, operation
from service.identity.matrix import POLICIES_ACTIVATE, POLICIES_READ
from service.identity.unit import Unit
from service.wire.policies_activations import (
    ActivatePlan,
    ActivationAnswer,
    ActivationPage,
    RollBack,
    RollbackAnswer,
)

router = new_router("policies")

_ID: Final = "0197a000-0000-7000-8000-000000000001"
_HASH: Final = "sha256:" + "0" * 64
_ACTIVATION: Final[dict[str, Any]] = {
    "id": _ID,
    "kind": "activate",
    "status": "active",
    "direction": "stricter",
    "from_version": _HASH,
    "to_version": "sha256:" + "1" * 64,
    "revision": 2,
    "plan": _ID,
    "requested_by": "f2b0",
    "second_person": None,
    "created_at": "2026-11-30T10:00:00Z",
    "activated_at": "2026-11-30T10:00:00Z",
    "effective_at": "2026-12-07T10:00:00Z",
}
_REFUSALS: Final[list[Any]] = [NotFound, NothingToActivate]


@router.post(
    "/policies/activations",
    **operation(
        summary="Make a plan's version count",
        answer=ActivationAnswer,
        status=201,
        example={"plan": _ID, "hash": _HASH},
        problems=[*_REFUSALS, PlanMismatch, PlanOutdated, BlastRadiusExceeded],
    ),
)
def activate(body: ActivatePlan, revision: IfMatch, edge: Edge = needs(POLICIES_ACTIVATE)) -> Response:
    """Answer 201 where the version counts now, 202 where it waits for a second person."""
    if (kept := edge.find_answer()) is not None:
        return kept
    measured = edge.look(lambda unit: measure_plan(body.plan, unit=unit))

    def work(unit: Unit) -> Reply:
        return _reply(
            activate_plan(body.plan, body.hash, measured=measured, expected_revision=revision, unit=unit)
        )

    return edge.create(work)


@router.get(
    "/policies/activations",
    **operation(
        summary="List activations, the newest first",
        answer=ActivationPage,
        example={"items": [_ACTIVATION], "next_cursor": None},
    ),
)
def list_activations(
    edge: Edge = needs(POLICIES_READ), limit: Limit = PAGE_ITEMS_DEFAULT, cursor: Cursor = None
) -> Response:
    """Answer how the policy came to be what it is. A tenant's first version is no activation."""
    page = edge.page(limit, cursor)

    def work(unit: Unit) -> Reply:
        found = ActivationStore.of(unit).page(page)
        items = [ActivationAnswer(**_fields(one)) for one in found.items]
        return Reply(ActivationPage(items=items, next_cursor=found.next_cursor))

    return edge.read(work)


@router.post(
    "/policies/activations/{activation_id}/approve",
    **operation(
        summary="Approve an activation as the second person",
        answer=ActivationAnswer,
        example=_ACTIVATION,
        problems=[NotFound, ActivationSettled, SecondPersonNeeded, PlanOutdated, BlastRadiusExceeded],
    ),
)
def approve(activation_id: PathId, edge: Edge = needs(POLICIES_ACTIVATE)) -> Response:
    """Answer the activation, whose version counts from now on."""
    measured = edge.look(lambda unit: measure_activation(activation_id, unit=unit))
    return edge.write(
        lambda unit: Reply(
            ActivationAnswer(**_fields(approve_activation(activation_id, measured=measured, unit=unit)))
        )
    )


@router.post(
    "/policies/activations/{activation_id}/cancel",
    **operation(
        summary="Call off an activation that waits",
        answer=ActivationAnswer,
        example={
            **_ACTIVATION,
            "status": "cancelled",
            "revision": None,
            "activated_at": None,
            "effective_at": None,
        },
        problems=[NotFound, ActivationSettled],
    ),
)
def cancel(activation_id: PathId, edge: Edge = needs(POLICIES_ACTIVATE)) -> Response:
    """Answer the activation, which nobody can approve any more."""
    return edge.write(
        lambda unit: Reply(ActivationAnswer(**_fields(cancel_activation(activation_id, unit=unit))))
    )


@router.post(
    "/policies/rollback",
    **operation(
        summary="Go back to a version that counted before",
        answer=RollbackAnswer,
        status=201,
        example={"to": None},
        problems=_REFUSALS,
    ),
)
def go_back(body: RollBack, revision: IfMatch, edge: Edge = needs(POLICIES_ACTIVATE)) -> Response:
    """Answer as `activate`, and what going back does not undo."""

    def work(unit: Unit) -> Reply:
        done = roll_back(body.to, expected_revision=revision, unit=unit)
        answer = RollbackAnswer(**_fields(done.activation), cannot_be_undone=done.cannot_be_undone)
        return _reply(done.activation, answer)

    return edge.create(work)


def _reply(activation: Activation, answer: ActivationAnswer | None = None) -> Reply:
    waits = activation.status is ActivationStatus.PENDING_SECOND_PERSON
    return Reply(answer or ActivationAnswer(**_fields(activation)), status=202 if waits else 201)


def _fields(activation: Activation) -> dict[str, Any]:
    return {
        "id": activation.id,
        "kind": activation.kind.value,
        "status": activation.status.value,
        "direction": activation.direction,
        "from_version": activation.from_version,
        "to_version": activation.to_version,
        "revision": activation.revision,
        "plan": activation.plan_id,
        "requested_by": activation.requester[:16],
        "second_person": activation.second_person and activation.second_person[:16],
        "created_at": activation.created_at,
        "activated_at": activation.activated_at,
        "effective_at": activation.effective_at,
    }
