"""Who is asking, settled before anything else of a request is read."""

from typing import Final

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from service.core.errors import Unauthenticated
from service.entry.http.state import state_of
from service.identity.authenticate import authenticate
from service.wiring import Runtime

PUBLIC_PATHS: Final = frozenset({"/healthz", "/readyz"})
"""All that is answered to anybody. The OpenAPI document is not: like the calls, it needs a credential."""
_TOKEN_LENGTH_MAX: Final = 4_096


class Authenticate:
    """ASGI layer: every path but the public ones needs a bearer token, existing paths and others alike."""

    def __init__(self, app: ASGIApp, runtime: Runtime) -> None:
        self._app = app
        self._runtime = runtime

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Put the caller into the request's state. Raises `Unauthenticated`."""
        if scope["type"] == "http" and scope["path"] not in PUBLIC_PATHS:
            token = bearer_token(Headers(scope=scope))
            runtime = self._runtime
            state_of(scope).known_caller = await run_in_threadpool(
                authenticate, runtime.database, token, runtime.clock()
            )
        await self._app(scope, receive, send)


def bearer_token(headers: Headers) -> str:
    """Answer the token of the one `Authorization: Bearer` header. Raises `Unauthenticated`."""
    values = headers.getlist("authorization")
    if len(values) != 1:
        raise Unauthenticated("Send one Authorization header with a bearer token.")
    scheme, _, token = values[0].partition(" ")
    token = token.strip()
    if scheme.lower() != "bearer" or not token or len(token) > _TOKEN_LENGTH_MAX or not token.isascii():
        raise Unauthenticated("Send one Authorization header with a bearer token.")
    return token
