"""The outermost layer: the request's id, one log line, and an answer whatever fails inside."""

import re
import time
from collections.abc import Callable, Iterator
from pathlib import PurePath
from types import TracebackType
from typing import Final

import structlog
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from service.core.ids import IdSource
from service.entry.http.problems import problem_response, refusal_of
from service.entry.http.state import RequestState, put_state

REQUEST_ID_HEADER: Final = "X-Request-ID"
_REQUEST_ID: Final = re.compile(r"[A-Za-z0-9._-]{1,100}")
_CLIENT_CLOSED_REQUEST: Final = 499
_FRAMES_MAX: Final = 20
_log: Final = structlog.get_logger("muniment.http")

Saw = Callable[[str, str, int, float], None]
"""Is told a request's method, the template of its route, its status and how many seconds it took."""


class Shell:
    """ASGI layer around everything. Logs hold no query string, no body and no exception's text."""

    def __init__(self, app: ASGIApp, ids: IdSource, saw: Saw | None = None) -> None:
        self._app = app
        self._ids = ids
        self._saw = saw

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request; what is not HTTP is passed on."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        state = RequestState(self._request_id(Headers(scope=scope)))
        put_state(scope, state)
        started = time.perf_counter()
        answer = _Answer(send, state.request_id)
        try:
            await self._app(scope, receive, answer.send)
        except ClientDisconnect:
            answer.status = answer.status or _CLIENT_CLOSED_REQUEST
        except Exception as failure:  # noqa: BLE001 - the last place where a failure can become an answer
            _log_fault(failure, state)
            if not answer.status:
                await problem_response(failure, state.request_id)(scope, receive, answer.send)
        seconds = time.perf_counter() - started
        if self._saw is not None:
            self._saw(scope["method"], state.route, answer.status, seconds)
        _log.info(
            "request",
            method=scope["method"] if scope["method"].isalpha() else "other",
            route=state.route,
            status=answer.status,
            duration_ms=round(seconds * 1_000, 1),
            request_id=state.logged_id,
        )

    def _request_id(self, headers: Headers) -> str:
        given = headers.get(REQUEST_ID_HEADER, "")
        return given if _REQUEST_ID.fullmatch(given) else self._ids()


class _Answer:
    """Watches the answer go out and puts the request's id on it. `status` is 0 until it has begun."""

    def __init__(self, send: Send, request_id: str) -> None:
        self._send = send
        self._request_id = request_id
        self.status = 0

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            MutableHeaders(scope=message)[REQUEST_ID_HEADER] = self._request_id
        await self._send(message)


def _log_fault(failure: Exception, state: RequestState) -> None:
    refusal = refusal_of(failure)
    if refusal is None:
        _log.error("fault", request_id=state.logged_id, route=state.route, causes=list(describe(failure)))
    elif refusal is not failure:
        _log.warning(
            "refused",
            request_id=state.logged_id,
            code=refusal.code,
            failure=type(failure).__name__,
        )


def describe(failure: BaseException) -> Iterator[str]:
    """Answer each cause as its class and where it was raised, never its text: that may quote input."""
    cause: BaseException | None = failure
    for _ in range(_FRAMES_MAX):
        if cause is None:
            return
        yield f"{type(cause).__name__} at {' < '.join(_frames(cause.__traceback__))}"
        cause = cause.__cause__ or cause.__context__


def _frames(traceback: TracebackType | None) -> list[str]:
    frames: list[str] = []
    while traceback is not None:
        code = traceback.tb_frame.f_code
        frames.append(f"{PurePath(code.co_filename).name}:{traceback.tb_lineno}:{code.co_name}")
        traceback = traceback.tb_next
    return frames[::-1][:_FRAMES_MAX]
