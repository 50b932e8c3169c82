"""A language model behind an OpenAI-compatible API, as a real HTTP server: it answers, or fails when told."""

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Behaviour = Callable[["Model", BaseHTTPRequestHandler], None]


@dataclass
class Model:
    """What the test sees and steers. `text` is what it answers, `behave` how."""

    address: str
    text: str = "The user asked about plot 18. The assistant claimed that it was granted."
    behave: Behaviour | None = None
    received: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    on_request: Callable[[], None] = lambda: None
    stop: threading.Event = field(default_factory=threading.Event)

    def answer(self, text: str, finish: str = "stop") -> bytes:
        """Write an answer as the API has it."""
        choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": finish}
        return json.dumps({"id": "x", "object": "chat.completion", "choices": [choice]}).encode()


def reply(status: int, body: bytes, **headers: str) -> Behaviour:
    """Behave so: answer these bytes."""

    def behave(_model: Model, request: BaseHTTPRequestHandler) -> None:
        request.send_response(status)
        request.send_header("Content-Length", str(len(body)))
        for name, value in headers.items():
            request.send_header(name.replace("_", "-"), value)
        request.end_headers()
        request.wfile.write(body)

    return behave


def hang(model: Model, _request: BaseHTTPRequestHandler) -> None:
    """Behave so: never answer."""
    model.stop.wait(30)


def drip(model: Model, request: BaseHTTPRequestHandler) -> None:
    """Behave so: answer a byte at a time, for ever."""
    request.send_response(200)
    request.end_headers()
    while not model.stop.is_set():
        request.wfile.write(b" ")
        request.wfile.flush()
        time.sleep(0.05)


@contextmanager
def serving_model() -> Iterator[Model]:
    """Serve a model on a port of this machine."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            size = int(self.headers.get("Content-Length", 0))
            model.received.append({"path": self.path, **json.loads(self.rfile.read(size))})
            model.headers.append(dict(self.headers))
            model.on_request()
            behave = model.behave or reply(200, model.answer(model.text))
            with suppress(BrokenPipeError, ConnectionResetError):
                behave(model, self)

        def log_message(self, *_arguments: Any) -> None:
            return

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    model = Model(f"http://127.0.0.1:{server.server_address[1]}/v1")
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield model
    finally:
        model.stop.set()
        server.shutdown()
        server.server_close()
