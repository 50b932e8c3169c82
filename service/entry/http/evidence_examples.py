"""What requests and answers of evidence look like, for the OpenAPI document."""

from typing import Any, Final

EXAMPLE_ID: Final = "01936d7e-5d5c-7c3e-9d0a-6c1f0f3f7a11"
_TEXT: Final = "Plot 18: outline consent granted on 3 March."
_SOURCE: Final = {
    "uri": "register://plots/18",
    "kind": "record",
    "source_version": "v7",
    "observed_at": "2026-11-30T10:00:00Z",
}
_GROUP: Final = {"id": "register", "title": "Planning register", "sequence": 18}

ADD_EXAMPLE: Final[dict[str, Any]] = {
    "project": "alpha",
    "text": _TEXT,
    "title": "Planning register",
    "source": _SOURCE,
    "authority": "system_of_record",
    "readers": ["project:alpha"],
    "group": _GROUP,
}
SEARCH_EXAMPLE: Final[dict[str, Any]] = {
    "project": "alpha",
    "query": "plot 18",
    "limit": 10,
    "filters": {"authority": ["document"], "observed_after": "2026-11-01T00:00:00Z"},
}
BATCH_EXAMPLE: Final[dict[str, Any]] = {
    "accepted": 1,
    "unchanged": 0,
    "rejected": [
        {
            "line": 2,
            "type": "urn:muniment:problem:invalid",
            "code": "invalid",
            "detail": "The request does not have the shape that this call takes.",
            "errors": [{"pointer": "/source", "message": "Field required"}],
        }
    ],
    "rejected_count": 1,
    "ids": [EXAMPLE_ID],
}
TEXT_EXAMPLE: Final[dict[str, Any]] = {
    "id": EXAMPLE_ID,
    "version": 1,
    "start": 0,
    "end": 7,
    "characters": len(_TEXT),
    "text": _TEXT[:7],
}
ITEM_EXAMPLE: Final[dict[str, Any]] = {
    "id": EXAMPLE_ID,
    "version": 1,
    "current_version": 1,
    "project": "alpha",
    "title": "Planning register",
    "text": _TEXT,
    "truncated": None,
    "media_type": "text/plain",
    "sha256": "sha256:" + "8d" * 32,
    "characters": len(_TEXT),
    "tokens": 12,
    "chunks": 1,
    "trust": "first_party",
    "authority": "system_of_record",
    "limited": None,
    "source": {**_SOURCE, "retrieved_by": "agent:agent-1"},
    "readers": ["project:alpha"],
    "subjects": [],
    "group": _GROUP,
    "fresh_until": None,
    "stale": False,
    "supersedes": None,
    "superseded_by": None,
    "quarantined": False,
    "derived_from": [],
    "metadata": {},
    "created_at": "2026-11-30T10:00:01Z",
    "created_by": "agent:agent-1",
}
