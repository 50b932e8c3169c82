"""Routes of legal holds."""

from starlette.responses import Response

from service.core.errors import NotFound
from service.core.paging import PAGE_ITEMS_DEFAULT
from service.entry.http.edge import Cursor, Edge, Limit, PathId, Reply, needs, new_router, operation
from service.entry.http.erasures_shapes import HOLD_EXAMPLE, HOLDS_EXAMPLE, PLACE_EXAMPLE, hold_answer
from service.governance.hold import list_holds, place_hold, release_hold
from service.governance.model import HoldEnded, HoldScope
from service.identity.matrix import SUBJECTS_ERASE
from service.identity.unit import Unit
from service.wire.erasures import HoldAnswer, HoldPage, PlaceHold

router = new_router("holds")


@router.post(
    "/holds",
    **operation(
        summary="Keep something from being deleted, on a legal basis",
        answer=HoldAnswer,
        example=PLACE_EXAMPLE,
        status=201,
        problems=[NotFound, HoldEnded],
    ),
)
def place(body: PlaceHold, edge: Edge = needs(SUBJECTS_ERASE)) -> Response:
    """Answer the hold: while it stands, every deletion of what it names is 409 with its basis.

    What it names leaves search and packages meanwhile: only what is needed is kept, and it is not used.
    """

    def work(unit: Unit) -> Reply:
        hold = place_hold(HoldScope(body.scope), body.ref, basis=body.basis, until=body.until, unit=unit)
        return Reply(hold_answer(hold), status=201, refs=(hold.id,))

    return edge.create(work)


@router.get("/holds", **operation(summary="List legal holds", answer=HoldPage, example=HOLDS_EXAMPLE))
def list_all(
    limit: Limit = PAGE_ITEMS_DEFAULT, cursor: Cursor = None, edge: Edge = needs(SUBJECTS_ERASE)
) -> Response:
    """Answer holds, released ones too, newest first."""
    page = edge.page(limit, cursor)

    def work(unit: Unit) -> Reply:
        found = list_holds(page, unit=unit)
        items = [hold_answer(hold) for hold in found.items]
        return Reply(HoldPage(items=items, next_cursor=found.next_cursor))

    return edge.read(work)


@router.delete(
    "/holds/{hold_id}",
    **operation(summary="Release a legal hold", answer=HoldAnswer, example=HOLD_EXAMPLE, problems=[NotFound]),
)
def release(hold_id: PathId, edge: Edge = needs(SUBJECTS_ERASE)) -> Response:
    """Answer the hold, released: what it named can be deleted and used again."""

    def work(unit: Unit) -> Reply:
        return Reply(hold_answer(release_hold(hold_id, unit=unit)))

    return edge.write(work)
