"""The arithmetic of the chain: what an event's hash covers."""

from service.audit.model import Event
from service.core.clock import format_time
from service.core.hashing import hash_json


def hash_event(event: Event, *, sequence: int, previous_hash: str) -> str:
    """Answer `sha256:<hex>` over the event's place, its predecessor and its content (RFC 8785)."""
    return hash_link(hash_content(event), sequence=sequence, previous_hash=previous_hash)


def hash_link(content_hash: str, *, sequence: int, previous_hash: str) -> str:
    """Answer the hash of an event of which only the content's hash is known.

    So a stretch of the chain can be proved to somebody who may not read all that happened in it.
    """
    return hash_json({"previous_hash": previous_hash, "sequence": sequence, "content_hash": content_hash})


def hash_content(event: Event) -> str:
    """Answer `sha256:<hex>` over what happened, without its place."""
    return hash_json(content_of(event))


def content_of(event: Event) -> dict[str, object]:
    """Answer what happened as the JSON that is hashed."""
    return {
        "at": format_time(event.at),
        "principal": event.principal,
        "credential_id": event.credential_id,
        "request_id": event.request_id,
        "action": event.action,
        "kind": event.kind,
        "ref": event.ref,
        "details": dict(event.details),
    }


def hash_event_of_first_form(event: Event, *, sequence: int, previous_hash: str) -> str:
    """Answer the hash as it was made before contents were hashed by themselves; chains begin with such."""
    return hash_json({"previous_hash": previous_hash, "sequence": sequence, **content_of(event)})


def head_text(*, sequence: int, head_hash: str) -> str:
    """Answer the text whose keyed hash seals a chain's end."""
    return f"audit-head/{sequence}/{head_hash}"
