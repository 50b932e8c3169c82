"""A system beside the service, as a real HTTP server: it takes orders, holds records, and fails when told.

It writes down all that it was sent. `orders` is what it did: with `honours_keys` one for each idempotency
key, without, one for each request, as careless systems do.
"""

import json
import socket
import struct
import threading
import time
from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import StrEnum
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import unquote


class Fault(StrEnum):
    """What goes wrong with one request. Those that take orders do it before they fail."""

    LOSE_ANSWER = "lose_answer"
    """The order is taken, and the connection breaks before the answer."""
    FAIL_AFTER_COMMIT = "fail_after_commit"
    """The order is taken, and the answer is 500."""
    SLOW = "slow"
    """The order is taken after `slow_seconds`, and then answered."""
    REPEAT = "repeat"
    """The network delivers the request twice."""
    REFUSE = "refuse"
    """422, and nothing is done."""
    FAIL = "fail"
    """503, and nothing is done."""
    REDIRECT = "redirect"
    """307 to `redirect_to`, and nothing is done."""
    DRIP = "drip"
    """Nothing is done; the answer comes a byte at a time and never ends."""
    GONE = "gone"
    """404, and nothing is done."""
    FLOOD = "flood"
    """The order is taken, and the answer is far larger than anybody reads."""


@dataclass(frozen=True)
class Received:
    """One request as it came."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: Any = None


@dataclass
class Downstream:
    """What the test sees and steers. `faults` are used up, one for each dispatch, the first one first."""

    address: str
    honours_keys: bool = True
    slow_seconds: float = 0.5
    redirect_to: str = ""
    faults: deque[Fault] = field(default_factory=deque)
    look_up_faults: deque[Fault] = field(default_factory=deque)
    received: list[Received] = field(default_factory=list)
    orders: list[dict[str, Any]] = field(default_factory=list)
    records: dict[str, tuple[str, str]] = field(default_factory=dict)
    """Version and text of what stands under each path of `/records/`."""
    before_answer: threading.Event = field(default_factory=threading.Event)
    """Set whenever an order has been taken and its answer is on the way."""
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def dispatches(self) -> list[Received]:
        """The orders that were sent, also those that were refused."""
        return [one for one in self.received if one.method == "POST"]

    @property
    def look_ups(self) -> list[Received]:
        """What was asked for."""
        return [one for one in self.received if one.method == "GET"]

    def connector(self, **choices: Any) -> dict[str, Any]:
        """Answer the settings of a connector to this system."""
        return {
            "dispatch_url": f"{self.address}/orders",
            "lookup_url": f"{self.address}/orders/{{operation_id}}",
            "tenants": ["acme"],
            "timeout_seconds": 2,
            "absent_after_seconds": 0,
            **choices,
        }

    def reader(self, **choices: Any) -> dict[str, Any]:
        """Answer the settings of a source reader of this system's records."""
        return {
            "uri_prefix": "register://",
            "url": f"{self.address}/records/{{path}}",
            "tenants": ["acme"],
            "timeout_seconds": 2,
            "source": "register",
            **choices,
        }

    def take(self, key: str, body: dict[str, Any]) -> dict[str, Any]:
        """Do the order, or answer the one that this key stands for."""
        with self._lock:
            for order in self.orders:
                if self.honours_keys and order["key"] == key:
                    return order
            order = {"id": f"order:{len(self.orders) + 1}", "key": key, **body}
            self.orders.append(order)
            return order

    def find(self, operation_id: str) -> dict[str, Any] | None:
        """Answer the order of an operation."""
        return next((order for order in self.orders if order["operation_id"] == operation_id), None)


class _Handler(BaseHTTPRequestHandler):
    downstream: Downstream
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        body = json.loads(raw)
        self.downstream.received.append(Received("POST", self.path, dict(self.headers), body))
        fault = self.downstream.faults.popleft() if self.downstream.faults else None
        if self._fails(fault):
            return
        if fault is Fault.SLOW:
            time.sleep(self.downstream.slow_seconds)
        key = self.headers["Idempotency-Key"]
        order = self.downstream.take(key, body)
        if fault is Fault.REPEAT:
            order = self.downstream.take(key, body)
        self.downstream.before_answer.set()
        match fault:
            case Fault.LOSE_ANSWER:
                self._break_off()
            case Fault.FAIL_AFTER_COMMIT:
                self._answer(500, {"error": "worker died"})
            case Fault.FLOOD:
                self._answer(201, {**order, "padding": "x" * 1_000_000})
            case _:
                self._answer(201, order)

    def do_GET(self) -> None:
        self.downstream.received.append(Received("GET", self.path, dict(self.headers)))
        if self.path.startswith("/records/"):
            self._read_record()
            return
        fault = self.downstream.look_up_faults.popleft() if self.downstream.look_up_faults else None
        if self._fails(fault):
            return
        found = self.downstream.find(unquote(self.path.rsplit("/", 1)[-1]))
        self._answer(404 if found is None else 200, found or {"error": "no such order"})

    def log_message(self, *_parts: object) -> None:
        """Say nothing."""

    def _read_record(self) -> None:
        fault = self.downstream.look_up_faults.popleft() if self.downstream.look_up_faults else None
        if self._fails(fault):
            return
        found = self.downstream.records.get(self.path.removeprefix("/records/"))
        if found is None:
            self._answer(404, {})
            return
        version, text = found
        content = text.encode()
        self.send_response(200)
        self.send_header("ETag", f'W/"{version}"')
        self.send_header("Content-Type", "text/plain; charset=utf-8")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def _fails(self, fault: Fault | None) -> bool:
        """Answer what does nothing; say whether there was such a fault."""
        match fault:
            case Fault.REFUSE:
                self._answer(422, {"error": "not like this"})
            case Fault.FAIL:
                self._answer(503, {"error": "later"})
            case Fault.GONE:
                self._answer(404, {"error": "no such order"})
            case Fault.REDIRECT:
                self.send_response(307)
                self.send_header("Location", self.downstream.redirect_to)
                self.send_header("Content-Length", "0")
                self.end_headers()
            case Fault.DRIP:
                self._drip()
            case _:
                return False
        return True

    def _drip(self) -> None:
        try:
            for byte in b"HTTP/1.1 200 OK\r\nX-Padding: " + b"x" * 10_000:
                self.wfile.write(bytes([byte]))
                self.wfile.flush()
                time.sleep(0.05)
        except OSError:
            self.close_connection = True

    def _break_off(self) -> None:
        # Lingering for no time sends a reset instead of an orderly end.
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.connection.close()
        self.close_connection = True

    def _answer(self, status: int, body: Mapping[str, Any]) -> None:
        content = json.dumps(body).encode()
        try:
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)
        except OSError:
            # The other side did not wait for it.
            self.close_connection = True


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def handle_error(self, request: object, client_address: object) -> None:
        """Say nothing: connections break here on purpose."""


@contextmanager
def open_downstream(**choices: Any) -> Iterator[Downstream]:
    """Run a downstream on a port of this machine."""
    handler = type("Handler", (_Handler,), {})
    server = _Server(("127.0.0.1", 0), handler)
    downstream = Downstream(f"http://127.0.0.1:{server.server_address[1]}", **choices)
    handler.downstream = downstream
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield downstream
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
