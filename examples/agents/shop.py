"""What both example agents use: the service over HTTP, the shop's order service, a model that only pretends.

Nothing here needs more than Python's standard library.
"""

import hashlib
import json
import time
import urllib.error
import urllib.request
from collections.abc import Mapping
from pathlib import Path
from typing import Any

THINKING_SECONDS = 0.15
COST_OF_A_THOUGHT = "0.01"
_CALL_SECONDS_MAX = 60
_NOT_FOUND = 404


class Refused(Exception):
    """The other side answered with an error."""

    def __init__(self, status: int, code: str) -> None:
        super().__init__(f"{status} {code}")
        self.status = status
        self.code = code


class Service:
    """A run on Muniment, over HTTP. While a lease is held, every call carries its token."""

    def __init__(self, url: str, token: str) -> None:
        self._url = f"{url}/v1"
        self._token = token
        self.fencing_token: int | None = None

    def get(self, path: str) -> Any:
        """Read something."""
        return self._send("GET", path)

    def post(self, path: str, body: Mapping[str, Any], headers: Mapping[str, str] | None = None) -> Any:
        """Write something new."""
        return self._send("POST", path, body, headers)

    def patch(self, path: str, body: Mapping[str, Any]) -> Any:
        """Change something."""
        return self._send("PATCH", path, body)

    def delete(self, path: str) -> None:
        """Take something back."""
        self._send("DELETE", path)

    def _send(
        self,
        method: str,
        path: str,
        body: Mapping[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Any:
        mine = {"Authorization": f"Bearer {self._token}"}
        if self.fencing_token is not None:
            mine["Fencing-Token"] = str(self.fencing_token)
        return _send(method, self._url + path, body, {**mine, **(headers or {})})


class Shop:
    """The shop's order service. It carries out every order that it is sent, repeated ones too."""

    def __init__(self, url: str) -> None:
        self._url = url

    def read(self, name: str) -> str:
        """Read a list, such as the stock."""
        with urllib.request.urlopen(f"{self._url}/{name}", timeout=_CALL_SECONDS_MAX) as answer:
            return str(answer.read().decode())

    def order(self, operation_id: str, request: Mapping[str, Any]) -> Any:
        """Place an order under a name that is ours."""
        return _send("POST", f"{self._url}/orders", request, {"Idempotency-Key": operation_id})

    def find_order(self, operation_id: str) -> Any:
        """Look an order up by that name; `None` when there is none."""
        try:
            return _send("GET", f"{self._url}/orders/{operation_id}")
        except Refused as refused:
            if refused.status == _NOT_FOUND:
                return None
            raise


def think(context: str, task_id: str, inputs: Mapping[str, str]) -> str:
    """Pretend to be a model: take a while, then write down what the inputs say.

    Like a model it keeps to what it is told, and only to what it is told in this very call.
    """
    time.sleep(THINKING_SECONDS)
    keeps_quiet = "never name a supplier" in context.lower()
    lines = [f"# {task_id}"]
    for name in sorted(inputs):
        told = inputs[name].splitlines()
        lines += [line.partition(" from ")[0] if keeps_quiet else line for line in told]
    return "\n".join(lines) + "\n"


def hash_text(text: str) -> str:
    """Answer the hash of a text, in Muniment's form."""
    return f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"


def hash_folder() -> str:
    """Hash every file that will be handed over: whoever finds the folder gets the same."""
    files = sorted(Path().glob("*.md"))
    return hash_text("".join(f"{file.name} {hash_text(file.read_text())}\n" for file in files))


def write_file(name: str, text: str) -> None:
    """Write a file whole or not at all: a process can be killed between two writes."""
    unfinished = Path(f".{name}.unfinished")
    unfinished.write_text(text)
    unfinished.replace(name)


def _send(
    method: str, url: str, body: Mapping[str, Any] | None = None, headers: Mapping[str, str] | None = None
) -> Any:
    content = None if body is None else json.dumps(body).encode()
    known = {"Content-Type": "application/json", **(headers or {})}
    request = urllib.request.Request(url, content, known, method=method)
    try:
        with urllib.request.urlopen(request, timeout=_CALL_SECONDS_MAX) as answer:
            return json.loads(answer.read() or "null")
    except urllib.error.HTTPError as error:
        try:
            code = str(json.loads(error.read()).get("code"))
        except ValueError:
            code = "unknown"
        raise Refused(error.code, code) from None
