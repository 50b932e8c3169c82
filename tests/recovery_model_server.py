"""A language model of one's own, as a real HTTP server: it answers by the book, once it is let."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Final

CONSTRAINT: Final = "Keep every reply under 200 words."
REPLY: Final = "Outline consent for plot 18 was granted on 3 March."
FORGOTTEN: Final = "A very long reply, since nobody said how long it may be."


@dataclass
class Model:
    """What it was asked. `on_prompt` is called while the caller waits for its answer."""

    address: str = ""
    prompts: list[str] = field(default_factory=list)
    on_prompt: Callable[[], None] = lambda: None


@contextmanager
def open_model() -> Iterator[Model]:
    """Run a model on a port of this machine. It keeps to the constraint exactly where the prompt holds it."""
    model = Model()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            prompt = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["prompt"]
            model.prompts.append(prompt)
            model.on_prompt()
            content = json.dumps({"text": REPLY if CONSTRAINT in prompt else FORGOTTEN}).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_parts: object) -> None:
            """Say nothing."""

    class Quiet(ThreadingHTTPServer):
        daemon_threads = True
        block_on_close = False

        def handle_error(self, *_arguments: object) -> None:
            """Say nothing: who asks is killed here while it waits."""

    server = Quiet(("127.0.0.1", 0), Handler)
    model.address = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield model
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
