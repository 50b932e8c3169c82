"""Routes of quarantines: put a source aside, list, look, release."""

from typing import Annotated, Any, Final

from fastapi import Query
from starlette.responses import Response

from service.core.errors import NotFound
from service.core.paging import PAGE_ITEMS_DEFAULT
from service.entry.http.edge import Cursor, Edge, Limit, PathId, Reply, needs, new_router, operation
from service.governance.model_quarantines import Quarantine, QuarantineReleased, SourceUnreadable
from service.governance.quarantine import preview_quarantine, quarantine, read_source
from service.governance.release import (
    get_quarantine,
    named_executions,
    page_items,
    page_quarantines,
    release_quarantine,
)
from service.identity.matrix import QUARANTINES_READ, QUARANTINES_WRITE
from service.identity.unit import Unit
from service.wire.quarantines import (
    Affected,
    NewQuarantine,
    QuarantineBegun,
    QuarantineDetail,
    QuarantineItem,
    QuarantineListed,
    QuarantinePage,
    QuarantineReleasedAnswer,
    QuarantineStatus,
)

router = new_router("quarantines")

_ID: Final = "01936d7e-5d5c-7c3e-9d0a-6c1f0f3f7a11"
_RUN: Final = "01936d7e-5d5c-7c3e-9d0a-6c1f0f3f7a12"
_AFFECTED: Final = {
    "memories": 1,
    "summaries": 1,
    "packages": 4,
    "executions": 1,
    "evidence": 2,
    "observations": 0,
    "turns": 0,
}
_LISTED: Final[dict[str, Any]] = {
    "id": _ID,
    "source": f"evidence:{_ID}",
    "reason": "The page was replaced by somebody who is not its author.",
    "status": "standing",
    "affected": _AFFECTED,
    "by": "reviewer:reviewer-1",
    "created_at": "2026-11-30T10:00:00Z",
    "released_at": None,
    "released_by": None,
}
_ANSWER: Final = {**_LISTED, "executions": [_RUN]}
_RELEASED: Final = {
    **_LISTED,
    "status": "released",
    "released_at": "2026-11-30T11:00:00Z",
    "released_by": "reviewer:reviewer-1",
}


@router.post(
    "/quarantines",
    **operation(
        summary="Put a source aside with all that was made from it",
        answer=QuarantineBegun,
        status=201,
        example={"source": f"evidence:{_ID}", "reason": "The page was replaced by a stranger."},
        problems=[NotFound, SourceUnreadable],
    ),
)
def begin(body: NewQuarantine, edge: Edge = needs(QUARANTINES_WRITE)) -> Response:
    """Answer 201 for a new one, 200 with the one that stands for this source already, 200 for a preview."""
    source = read_source(body.source)

    def look(unit: Unit) -> Reply:
        reach = preview_quarantine(source, unit=unit)
        affected = Affected.model_validate(reach.affected)
        executions = list(reach.executions)
        return Reply(
            QuarantineBegun(
                id=None,
                source=body.source,
                reason=body.reason,
                status="preview",
                affected=affected,
                executions=executions,
            )
        )

    def work(unit: Unit) -> Reply:
        made, is_new = quarantine(source, body.reason or "", unit=unit)
        return Reply(_begun(made, unit), status=201 if is_new else 200, refs=(made.id,))

    return edge.read(look) if body.preview else edge.create(work)


@router.get(
    "/quarantines",
    **operation(
        summary="List quarantines, newest first",
        answer=QuarantinePage,
        example={"items": [_LISTED], "next_cursor": None},
    ),
)
def list_all(
    edge: Edge = needs(QUARANTINES_READ),
    status: Annotated[QuarantineStatus | None, Query()] = None,
    limit: Limit = PAGE_ITEMS_DEFAULT,
    cursor: Cursor = None,
) -> Response:
    """Answer those that began in the caller's projects; a page may hold fewer than were asked for."""

    def work(unit: Unit) -> Reply:
        standing = None if status is None else status == "standing"
        page = page_quarantines(edge.page(limit, cursor, status), standing=standing, unit=unit)
        items = [QuarantineListed(**_listed(one)) for one in page.items]
        return Reply(QuarantinePage(items=items, next_cursor=page.next_cursor))

    return edge.read(work)


@router.get(
    "/quarantines/{quarantine_id}",
    **operation(
        summary="Look at a quarantine and what it holds",
        answer=QuarantineDetail,
        example={**_ANSWER, "items": [{"kind": "memory", "id": _ID}], "next_cursor": None},
    ),
)
def look_at(
    quarantine_id: PathId,
    edge: Edge = needs(QUARANTINES_READ),
    limit: Limit = PAGE_ITEMS_DEFAULT,
    cursor: Cursor = None,
) -> Response:
    """Answer it with a page of what it holds now, by kind and id; what is released holds nothing."""

    def work(unit: Unit) -> Reply:
        found = get_quarantine(quarantine_id, unit=unit)
        page = page_items(found.id, edge.page(limit, cursor), unit=unit)
        items = [QuarantineItem(kind=node.kind, id=node.id) for node in page.items]
        executions = list(named_executions(found.id, unit=unit))
        shown = QuarantineDetail(
            **_listed(found), executions=executions, items=items, next_cursor=page.next_cursor
        )
        return Reply(shown)

    return edge.read(work)


@router.post(
    "/quarantines/{quarantine_id}/release",
    **operation(
        summary="Release a quarantine",
        answer=QuarantineReleasedAnswer,
        example={**_RELEASED, "restored": _AFFECTED},
        problems=[QuarantineReleased],
    ),
)
def release(quarantine_id: PathId, edge: Edge = needs(QUARANTINES_WRITE)) -> Response:
    """Bring back what no other quarantine holds, each thing to what it was."""

    def work(unit: Unit) -> Reply:
        restored = release_quarantine(quarantine_id, unit=unit)
        counts = Affected.model_validate(restored.counts)
        answer = QuarantineReleasedAnswer(**_listed(restored.quarantine), restored=counts)
        return Reply(answer, refs=(quarantine_id,))

    return edge.create(work)


def _begun(found: Quarantine, unit: Unit) -> QuarantineBegun:
    return QuarantineBegun(
        id=found.id,
        source=str(found.source),
        reason=found.reason,
        status="standing",
        affected=Affected.model_validate(found.affected),
        executions=list(named_executions(found.id, unit=unit)),
        by=found.by,
        created_at=found.created_at,
    )


def _listed(found: Quarantine) -> dict[str, Any]:
    return {
        "id": found.id,
        "source": str(found.source),
        "reason": found.reason,
        "status": "standing" if found.stands else "released",
        "affected": Affected.model_validate(found.affected),
        "by": found.by,
        "created_at": found.created_at,
        "released_at": found.released_at,
        "released_by": found.released_by,
    }
