"""The route that tells where a memory was used."""

from starlette.responses import Response

from service.core.paging import PAGE_ITEMS_DEFAULT
from service.entry.http.edge import Cursor, Edge, Limit, PathId, Reply, needs, new_router, operation
from service.governance.uses import page_uses
from service.identity.matrix import MEMORIES_READ
from service.identity.unit import Unit
from service.policies.active import active_bundle
from service.wire.uses import UseAnswer, UsePage

router = new_router("memories")

_EXAMPLE = {
    "items": [
        {
            "package_id": "01936d7e-5d5c-7c3e-9d0a-6c1f0f3f7a11",
            "execution_id": "01936d7e-5d5c-7c3e-9d0a-6c1f0f3f7a12",
            "at": "2026-11-30T10:00:00Z",
            "by": "agent:agent-1:for:user-1",
            "purpose": "personalisation",
        }
    ],
    "next_cursor": None,
}


@router.get(
    "/memories/{memory_id}/uses",
    **operation(summary="List the packages that showed a memory", answer=UsePage, example=_EXAMPLE),
)
def uses(
    memory_id: PathId,
    edge: Edge = needs(MEMORIES_READ),
    limit: Limit = PAGE_ITEMS_DEFAULT,
    cursor: Cursor = None,
) -> Response:
    """Answer every package that contained it, newest first."""

    def work(unit: Unit) -> Reply:
        page = page_uses(memory_id, edge.page(limit, cursor), unit=unit, bundle=active_bundle(unit))
        items = [
            UseAnswer(
                package_id=use.package_id,
                execution_id=use.execution_id,
                at=use.at,
                by=use.by,
                purpose=use.purpose,
            )
            for use in page.items
        ]
        return Reply(UsePage(items=items, next_cursor=page.next_cursor))

    return edge.read(work)
