"""The arithmetic of the chain: what an event's hash covers, and what an event may hold."""

from collections.abc import Mapping
from typing import Final

from service.audit.model import Detail, Event
from service.core.clock import format_time
from service.core.hashing import hash_json

VALUE_LENGTH_MAX: Final = 200
_DETAILS_MAX: Final = 32
_LIST_LENGTH_MAX: Final = 200
_INTEGER_MAX: Final = 2**53
"""Beyond this canonical JSON (RFC 8785) is not exact."""


def hash_event(event: Event, *, sequence: int, previous_hash: str) -> str:
    """Answer `sha256:<hex>` over the event, its place and its predecessor, as canonical JSON (RFC 8785)."""
    return hash_json(
        {
            "previous_hash": previous_hash,
            "sequence": sequence,
            "at": format_time(event.at),
            "principal": event.principal,
            "credential_id": event.credential_id,
            "request_id": event.request_id,
            "action": event.action,
            "kind": event.kind,
            "ref": event.ref,
            "details": dict(event.details),
        }
    )


def head_text(*, sequence: int, head_hash: str) -> str:
    """Answer the text whose keyed hash seals a chain's end."""
    return f"audit-head/{sequence}/{head_hash}"


def detail_fault(details: Mapping[str, Detail]) -> str | None:
    """Answer why `details` cannot be recorded, or `None`.

    The trail outlives every erasure, so it must never hold what a person wrote. White space is what tells
    text from ids and codes; length catches the rest.
    """
    if len(details) > _DETAILS_MAX:
        return f"an event has at most {_DETAILS_MAX} details"
    for name, value in details.items():
        values = value if isinstance(value, list) else [value]
        if len(values) > _LIST_LENGTH_MAX:
            return f"{name} holds more than {_LIST_LENGTH_MAX} values"
        if not all(_may_stand(part) for part in values):
            return f"{name} is neither an id nor a code nor a number"
    return None


def _may_stand(value: object) -> bool:
    if isinstance(value, str):
        return is_code(value)
    return value is None or (isinstance(value, int) and abs(value) <= _INTEGER_MAX)


def is_code(value: str) -> bool:
    """Say whether `value` may stand in the trail: an id or a code, short and without white space."""
    return len(value) <= VALUE_LENGTH_MAX and value.isprintable() and not any(map(str.isspace, value))
