"""Routes of policies: the active version, the versions there were, and validation."""

from typing import Final

from starlette.responses import Response

from service.core.paging import PAGE_ITEMS_DEFAULT
from service.entry.http.edge import Cursor, Edge, Limit, Reply, needs, new_router, operation
from service.entry.http.policies_shapes import policy_answer, validation_answer, versions_answer
from service.identity.matrix import POLICIES_READ, POLICIES_VALIDATE
from service.identity.unit import Unit
from service.policies.active import PolicyUnreadable, active_bundle
from service.policies.lint.lint import lint_files
from service.policies.store import PolicyStore
from service.wire.policies import PolicyAnswer, PolicyVersionPage, ValidateBundle, ValidationAnswer

router = new_router("policies")

_VERSION: Final = "sha256:0e911f3ae2370841fcbcaa8de405158ac4bac41e1c30d74f42732e750c58b766"
_TIME: Final = "2026-11-30T10:00:00Z"
_ACTIVE_EXAMPLE: Final = {
    "version": _VERSION,
    "revision": 1,
    "activated_at": _TIME,
    "purposes": {"service": "Doing the work that you asked for."},
    "classes": [],
    "profiles": {"default": "For the next step of a run."},
    "retention_classes": {"operational": "Ordinary work."},
    "files": {"purposes.yaml": "purposes:\n  service:\n    description: Doing the work.\n"},
}
_VERSIONS_EXAMPLE: Final = {
    "items": [{"version": _VERSION, "created_at": _TIME, "active": True}],
    "next_cursor": None,
}


@router.get(
    "/policies",
    **operation(
        summary="Read the active policy version",
        answer=PolicyAnswer,
        example=_ACTIVE_EXAMPLE,
        problems=[PolicyUnreadable],
    ),
)
def read_active(edge: Edge = needs(POLICIES_READ)) -> Response:
    """Answer what counts now; its `ETag` is the revision of the activation."""

    def work(unit: Unit) -> Reply:
        store = PolicyStore.of(unit)
        active = store.find_active()
        files = (store.find_files(active.version) if active else None) or {}
        body = policy_answer(active, active_bundle(unit), files)
        return Reply(body, etag=active.revision if active else None)

    return edge.read(work)


@router.get(
    "/policies/versions",
    **operation(
        summary="List the policy versions, the newest first",
        answer=PolicyVersionPage,
        example=_VERSIONS_EXAMPLE,
    ),
)
def list_versions(
    edge: Edge = needs(POLICIES_READ), limit: Limit = PAGE_ITEMS_DEFAULT, cursor: Cursor = None
) -> Response:
    """Answer every version that was ever active or kept for this tenant."""
    page = edge.page(limit, cursor)

    def work(unit: Unit) -> Reply:
        store = PolicyStore.of(unit)
        return Reply(versions_answer(store.list_versions(page), store.find_active()))

    return edge.read(work)


@router.post(
    "/policies/validate",
    **operation(
        summary="Look for faults in a policy bundle",
        answer=ValidationAnswer,
        example={"files": {"purposes.yaml": "purposes:\n  service:\n    description: Doing the work.\n"}},
    ),
)
def validate(body: ValidateBundle, edge: Edge = needs(POLICIES_VALIDATE)) -> Response:
    """Answer all findings; a bundle with errors is a good question, and so 200. Nothing is kept."""
    found = lint_files(body.files)  # before the transaction, which has no part in it
    return edge.read(lambda _unit: Reply(validation_answer(found)))
