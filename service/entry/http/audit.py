"""The route of the audit trail."""

from typing import Annotated, Any, Final, Literal

from fastapi import Query
from starlette.responses import Response

from service.audit.model import Link
from service.audit.read import Asked
from service.audit.store_events import Wanted
from service.core.paging import PAGE_ITEMS_DEFAULT
from service.entry.http.edge import Cursor, Edge, Limit, Reply, needs, new_router, operation
from service.governance.trail import list_events
from service.identity.matrix import AUDIT_READ, MEMORIES_OWN
from service.identity.unit import Unit
from service.wire.audit import EventAnswer, EventPage
from service.wire.scalars import When

router = new_router("audit")

_HASH: Final = "sha256:" + "0" * 64
EVENT_EXAMPLE: Final[dict[str, Any]] = {
    "sequence": 42,
    "at": "2026-11-30T10:00:00Z",
    "principal": "agent:agent-1:for:user-1",
    "credential_id": "m5v7mehwrfxkhv7t",
    "request_id": "01936d7e-5d5c-7c3e-9d0a-6c1f0f3f7a11",
    "action": "effect.settled",
    "kind": "execution",
    "ref": "01936d7e-4c1b-7f02-b6d1-2f9f3f0f7c55",
    "details": {"operation": "hmac:" + "1" * 64, "status": "committed"},
    "previous_hash": _HASH,
    "hash": _HASH,
}
Word = Annotated[str | None, Query(min_length=1, max_length=64)]
Order = Annotated[Literal["oldest", "newest"], Query(description="Which events come first.")]


@router.get(
    "/audit",
    **operation(
        summary="Read the audit trail",
        answer=EventPage,
        example={"items": [EVENT_EXAMPLE], "next_cursor": None},
    ),
)
def list_audit(  # noqa: PLR0917 - FastAPI passes each by name
    kind: Word = None,
    ref: Annotated[str | None, Query(min_length=1, max_length=200)] = None,
    action: Word = None,
    principal: Annotated[str | None, Query(min_length=1, max_length=450)] = None,
    from_: Annotated[When | None, Query(alias="from", description="The first moment.")] = None,
    to: Annotated[When | None, Query(description="The first moment that no longer belongs.")] = None,
    request_id: Annotated[str | None, Query(min_length=1, max_length=200)] = None,
    order: Order = "oldest",
    limit: Limit = PAGE_ITEMS_DEFAULT,
    cursor: Cursor = None,
    edge: Edge = needs(AUDIT_READ, MEMORIES_OWN),
) -> Response:
    """Answer what happened: to auditors all of it, to a person what happened to their own memories."""
    request = edge.page(limit, cursor, kind, ref, action, principal, from_, to, request_id, order)
    wanted = Wanted(kind, ref, action, since=from_, until=to, newest_first=order == "newest")

    def work(unit: Unit) -> Reply:
        page = list_events(Asked(wanted, principal, request_id), request, unit=unit)
        items = [event_answer(link) for link in page.items]
        return Reply(EventPage(items=items, next_cursor=page.next_cursor))

    return edge.read(work)


def event_answer(link: Link) -> EventAnswer:
    """Answer an event in its place."""
    event = link.event
    return EventAnswer(
        sequence=link.sequence,
        at=event.at,
        principal=event.principal,
        credential_id=event.credential_id,
        request_id=event.request_id,
        action=event.action,
        kind=event.kind,
        ref=event.ref,
        details=dict(event.details),
        previous_hash=link.previous_hash,
        hash=link.hash,
    )
