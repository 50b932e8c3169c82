"""A small HTTP server for this machine alone: bounded bodies, a thread for each connection, no streaming."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Final

from service.entry.rehearse.switch import Cut

BODY_BYTES_MAX: Final = 40 * 1024 * 1024
"""Room for the largest file that the service takes, with its form around it."""
_HOST: Final = "127.0.0.1"
_IDLE_SECONDS_MAX: Final = 600
_CHUNK_LINE_BYTES_MAX: Final = 1_024


class BodyTooLarge(Exception):
    """More than the server takes."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A request as it came. `path` has its query; header names are as they were written."""

    method: str
    path: str
    headers: tuple[tuple[str, str], ...]
    body: bytes

    def header(self, name: str) -> str | None:
        """Answer the first header of that name."""
        return next((value for key, value in self.headers if key.lower() == name), None)


def _nothing() -> None:
    """Do nothing."""


@dataclass(frozen=True, slots=True)
class Told:
    """A response to send, and what to call once it was written."""

    status: int
    body: bytes = b""
    headers: tuple[tuple[str, str], ...] = ()
    delivered: Callable[[], None] = _nothing


Answering = Callable[[Asked], Told]
"""Answers one request, in many threads. Raises `Cut` to close the connection without a word."""


@contextmanager
def listening(answering: Answering) -> Iterator[str]:
    """Serve on a free port of this machine until the block ends; answer the address."""
    server = _Server((_HOST, 0), _handler(answering))
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield f"http://{_HOST}:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    # An agent may open many connections at once.
    request_queue_size = 128

    def handle_error(self, request: object, client_address: object) -> None:
        """Say nothing: the agent at the other end was killed, which is what happens here."""


def _handler(answering: Answering) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        timeout = _IDLE_SECONDS_MAX

        def _answer(self) -> None:
            try:
                told = answering(Asked(self.command, self.path, tuple(self.headers.items()), _body(self)))
            except Cut:
                self.close_connection = True
                return
            except BodyTooLarge:
                self.close_connection = True
                told = Told(413)
            except (ValueError, EOFError):
                self.close_connection = True
                told = Told(400)
            self.send_response_only(told.status)
            for name, value in told.headers:
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(told.body)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(told.body)
            self.wfile.flush()
            told.delivered()

        do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = do_HEAD = do_OPTIONS = _answer  # noqa: N815 - the library's names

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the library's name
            """Write no log: paths hold ids, and the report has the calls."""

    return Handler


def _body(handler: BaseHTTPRequestHandler) -> bytes:
    headers = handler.headers
    if headers.get("Expect", "").lower() == "100-continue":
        handler.send_response_only(100)
        handler.end_headers()
    if headers.get("Transfer-Encoding", "").lower() == "chunked":
        return _chunks(handler)
    length = int(headers.get("Content-Length", "0"))
    if length < 0:
        raise ValueError("a length below 0")
    if length > BODY_BYTES_MAX:
        raise BodyTooLarge
    return _exactly(handler, length)


def _chunks(handler: BaseHTTPRequestHandler) -> bytes:
    body = bytearray()
    while True:
        size = int(handler.rfile.readline(_CHUNK_LINE_BYTES_MAX).partition(b";")[0], 16)
        if size < 0 or len(body) + size > BODY_BYTES_MAX:
            raise BodyTooLarge
        if size == 0:
            break
        body += _exactly(handler, size)
        handler.rfile.readline(_CHUNK_LINE_BYTES_MAX)
    while handler.rfile.readline(_CHUNK_LINE_BYTES_MAX).strip():
        pass
    return bytes(body)


def _exactly(handler: BaseHTTPRequestHandler, length: int) -> bytes:
    body = handler.rfile.read(length)
    if len(body) != length:
        raise EOFError
    return body
