"""Routes of delegations: who acts in my name, and an end to it."""

import re
from typing import Annotated, Any, Final

from fastapi import Path
from pydantic import AfterValidator
from starlette.responses import Response

from service.audit.record import record
from service.core.errors import NotFound
from service.core.paging import PAGE_ITEMS_DEFAULT
from service.entry.http.edge import Cursor, Edge, Limit, Reply, needs, new_router, operation
from service.identity.delegations import end_delegation, list_delegations
from service.identity.matrix import MEMORIES_OWN
from service.identity.unit import Unit
from service.wire.delegations import DelegationAnswer, DelegationPage

router = new_router("delegations")

_KEY_ID: Final = re.compile("[a-z2-7]{16}")
_EXAMPLE: Final[dict[str, Any]] = {
    "id": "m5v7mehwrfxkhv7t",
    "agent": "agent-1",
    "project": "alpha",
    "created_at": "2026-11-30T10:00:00Z",
    "expires_at": None,
}


def _known_key(text: str) -> str:
    if not _KEY_ID.fullmatch(text):
        raise NotFound
    return text


KeyId = Annotated[str, Path(), AfterValidator(_known_key)]
"""A key's public part; any other text is 404 like a key that does not exist."""


@router.get(
    "/delegations",
    **operation(
        summary="List who acts in your name",
        answer=DelegationPage,
        example={"items": [_EXAMPLE], "next_cursor": None},
    ),
)
def list_mine(
    limit: Limit = PAGE_ITEMS_DEFAULT, cursor: Cursor = None, edge: Edge = needs(MEMORIES_OWN)
) -> Response:
    """Answer the living keys with which agents act for you."""
    request = edge.page(limit, cursor)

    def work(unit: Unit) -> Reply:
        page = list_delegations(request, unit=unit)
        items = [
            DelegationAnswer(
                id=each.key.id,
                agent=each.key.subject,
                project=each.project,
                created_at=each.key.created_at,
                expires_at=each.key.expires_at,
            )
            for each in page.items
        ]
        return Reply(DelegationPage(items=items, next_cursor=page.next_cursor))

    return edge.read(work)


@router.delete(
    "/delegations/{key_id}", **operation(summary="End a delegation of yours", answer=None, status=204)
)
def end(key_id: KeyId, edge: Edge = needs(MEMORIES_OWN)) -> Response:
    """End the key: the agent's next request with it is refused."""

    def work(unit: Unit) -> Reply:
        end_delegation(key_id, unit=unit, trail=record)
        return Reply(None)

    return edge.write(work)
