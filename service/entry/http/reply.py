"""Answers: what a route's work gives back, and its bytes and headers."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final

from pydantic import BaseModel
from starlette.datastructures import URL
from starlette.responses import Response

from service.entry.http.preconditions import etag
from service.identity.unit import Unit

JSON_MEDIA_TYPE: Final = "application/json"
_EMPTY_STATUS: Final = 204


@dataclass(frozen=True, slots=True)
class Reply:
    """What a route's work answers.

    `body` is a model, or ready text in `media_type`, or nothing. `refs` are the ids of the items and
    `subjects` the persons whose text the body holds, by which erasure finds a kept answer. `project_id` is
    the project that a caller must still see to be given a kept answer again.
    """

    body: BaseModel | str | None
    status: int = 200
    etag: int | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    refs: tuple[str, ...] = ()
    project_id: str | None = None
    subjects: tuple[str, ...] = ()
    media_type: str = JSON_MEDIA_TYPE


@dataclass(frozen=True, slots=True)
class Derived:
    """What reading alone worked out: the reply, and what keeps it, in whatever transaction that gets."""

    reply: Reply
    keep: Callable[[Unit], None]


@dataclass(frozen=True, slots=True)
class Answered:
    """An answer as it is sent, or kept to be sent again."""

    status: int
    headers: dict[str, str]
    text: str

    def response(self) -> Response:
        """Answer the response."""
        return Response(self.text.encode(), self.status, self.headers)


def render(reply: Reply, url: URL) -> Answered:
    """Write a reply out. Raises `ValueError` for a body that cannot be sent, before anything is committed."""
    headers = {"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff", **reply.headers}
    if reply.etag is not None:
        headers["ETag"] = etag(reply.etag)
    if reply.body is None:
        return Answered(_EMPTY_STATUS if reply.status == 200 else reply.status, headers, "")  # noqa: PLR2004 - the default
    headers["Content-Type"] = reply.media_type
    if isinstance(reply.body, str):
        text = reply.body
    else:
        text = reply.body.model_dump_json(by_alias=True)
        cursor = getattr(reply.body, "next_cursor", None)
        if cursor is not None:
            following = url.include_query_params(cursor=cursor)
            headers["Link"] = f'<{following.path}?{following.query}>; rel="next"'
    text.encode()
    return Answered(reply.status, headers, text)
