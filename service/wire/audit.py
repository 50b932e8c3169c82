"""Shapes of the audit trail."""

from typing import Any

from service.wire.scalars import Answer, When


class EventAnswer(Answer):
    """One event. `details` hold ids, codes, numbers and keyed hashes, never what anybody wrote.

    Persons who were erased stand in it by a pseudonym that nobody can resolve.
    """

    sequence: int
    at: When
    principal: str
    credential_id: str
    request_id: str
    action: str
    kind: str
    ref: str
    details: dict[str, Any]
    previous_hash: str
    hash: str


class EventPage(Answer):
    """Events in the order asked for."""

    items: list[EventAnswer]
    next_cursor: str | None
