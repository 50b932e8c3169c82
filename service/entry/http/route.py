"""What happens to a request between its authentication and its route: scope, path, query, body, in order.

A route that demands no scope, or that was made without this class, cannot be served.
"""

import inspect
import re
from collections.abc import Callable, Coroutine, Iterator, Sequence
from typing import Any, Final
from urllib.parse import unquote_to_bytes

from fastapi import APIRouter, params
from fastapi.dependencies.models import Dependant
from fastapi.routing import APIRoute
from pydantic import TypeAdapter
from starlette.requests import Request
from starlette.responses import Response

from service.core.errors import Forbidden, Invalid, NotFound
from service.core.text import text_fault
from service.entry.http.body import off_loop, read_body
from service.entry.http.problems import pointer_to
from service.entry.http.state import RequestState, state_of
from service.entry.http.strict_json import read_model

API_PREFIX: Final = "/v1"
UPLOAD_MARK: Final = "x-upload"
_PATH_PART_LENGTH_MAX: Final = 200
_QUERY_LENGTH_MAX: Final = 8_000
_WRITTEN_BADLY: Final = re.compile("[\x00-\x1f\x7f\ufffd]")

RouteHandler = Callable[[Request], Coroutine[Any, Any, Response]]


class QueryInvalid(Invalid):
    """The query string holds something that this call does not take."""

    code = "invalid_query"
    title = "The query string is not one that this call takes"


class EdgeRoute(APIRoute):
    """A route that checks scope, path, query and body before FastAPI sees the request."""

    def get_route_handler(self) -> RouteHandler:
        """Answer FastAPI's handler behind our checks."""
        handle = super().get_route_handler()
        scopes = _scopes(self.endpoint)
        query_names = frozenset(_query_names(self.dependant))
        template = API_PREFIX + self.path_format
        adapter = None if self.body_field is None else _adapter(self.body_field.field_info.annotation)
        takes_file = bool((self.openapi_extra or {}).get(UPLOAD_MARK))

        async def checked(request: Request) -> Response:
            state = state_of(request.scope)
            state.route = template
            if not scopes & state.caller.scopes:
                raise Forbidden("The credential's role does not include this call.")
            _check_path(request.path_params)
            _check_query(request.scope.get("query_string", b""), query_names)
            if adapter is not None:
                request = await _with_model(request, state, adapter, takes_file=takes_file)
            return await handle(request)

        return checked


def new_router(tag: str) -> APIRouter:
    """Answer a router whose routes all pass the edge. `tag` groups them in the OpenAPI document."""
    return APIRouter(route_class=EdgeRoute, tags=[tag])


class _ReadRequest(Request):
    """A request whose body was read, checked and made a model before FastAPI asks for it."""

    def __init__(self, request: Request, raw: bytes, model: object) -> None:
        # FastAPI asks for JSON only when the media type says so, and an upload's fields are JSON too.
        headers = [(name, value) for name, value in request.scope["headers"] if name != b"content-type"]
        super().__init__(
            {**request.scope, "headers": [*headers, (b"content-type", b"application/json")]}, request.receive
        )
        self._raw, self._model = raw, model

    async def body(self) -> bytes:
        """Answer the bytes that were read."""
        return self._raw

    async def json(self) -> object:
        """Answer the model itself, which FastAPI's validation takes as it is."""
        return self._model


async def _with_model(
    request: Request, state: RequestState, adapter: TypeAdapter[Any], *, takes_file: bool
) -> Request:
    body = await read_body(request, takes_file=takes_file)
    model = await off_loop(len(body.raw), lambda: read_model(body.raw, adapter))
    state.body_digest, state.upload = body.digest, body.upload
    return _ReadRequest(request, body.raw, model)


def _adapter(model: Any) -> TypeAdapter[Any]:  # noqa: ANN401 - whatever the route says that its body is
    return TypeAdapter(model)


def _scopes(endpoint: Callable[..., Any]) -> frozenset[str]:
    """Answer the scopes of which the caller needs one. Raises `TypeError` for a route without any."""
    found = {
        scope
        for parameter in inspect.signature(endpoint).parameters.values()
        if isinstance(parameter.default, params.Security)
        for scope in parameter.default.scopes or ()
    }
    if not found:
        raise TypeError(f"{endpoint.__name__} demands no scope: give it `edge: Edge = needs(...)`")
    return frozenset(found)


def _query_names(dependant: Dependant) -> Iterator[str]:
    yield from (field.alias for field in dependant.query_params)
    for child in dependant.dependencies:
        yield from _query_names(child)


def _check_path(path_parameters: dict[str, Any]) -> None:
    # The server turns bytes that are not UTF-8 into U+FFFD. No name of ours is written so: not found.
    for value in path_parameters.values():
        text = str(value)
        if len(text) > _PATH_PART_LENGTH_MAX or _WRITTEN_BADLY.search(text) or text_fault(text):
            raise NotFound


def _check_query(query: bytes, known: frozenset[str]) -> None:
    if len(query) > _QUERY_LENGTH_MAX:
        raise QueryInvalid(f"The query string is longer than {_QUERY_LENGTH_MAX} bytes.")
    seen: set[str] = set()
    for pair in filter(None, query.split(b"&")):
        name, value = _decode_pair(pair)
        if name not in known:
            raise QueryInvalid("is not a parameter of this call", pointer=pointer_to([name]))
        if name in seen:
            raise QueryInvalid("is given twice", pointer=pointer_to([name]))
        if fault := text_fault(value):
            raise QueryInvalid(fault, pointer=pointer_to([name]))
        seen.add(name)


def _decode_pair(pair: bytes) -> Sequence[str]:
    name, _, value = pair.replace(b"+", b" ").partition(b"=")
    try:
        return unquote_to_bytes(name).decode(), unquote_to_bytes(value).decode()
    except UnicodeDecodeError:
        raise QueryInvalid("The query string is not valid UTF-8.") from None
