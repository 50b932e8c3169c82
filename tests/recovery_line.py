"""One principal's line to the service: every answer that it was given is written down before it is used."""

import json
import os
import ssl
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import httpx

TRUST: Final = ssl.create_default_context()
"""Made once: by itself the client reads all certificates anew for each call, which takes longer than that."""
_SECONDS_MAX: Final = 30


class Unexpected(RuntimeError):
    """The service answered what nobody reckoned with; the message says what to what."""


class Told:
    """A file of answers: what callers know, and so what the service may never take back."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def note(self, entry: Mapping[str, Any]) -> None:
        """Append an entry. It is in the system's hands when this returns, whoever is killed next."""
        handle = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        try:
            os.write(handle, (json.dumps(entry) + "\n").encode())
        finally:
            os.close(handle)

    def entries(self) -> list[dict[str, Any]]:
        """Answer all entries, in their order."""
        if not self._path.exists():
            return []
        return [json.loads(line) for line in self._path.read_text().splitlines()]


@dataclass
class Line:
    """Calls in the name of one credential. While `fencing_token` is set, every call shows it."""

    address: str
    token: str
    who: str
    told: Told
    fencing_token: int | None = None

    def call(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        key: str | None = None,
        version: int | None = None,
        expect: Collection[int] = (200, 201),
        accept: str | None = None,
    ) -> httpx.Response:
        """Make a call and answer the response.

        `key` makes it one that may be repeated. Raises `httpx.TransportError` when the service is gone, and
        `Unexpected` for a status that is not in `expect`.
        """
        headers = {"Authorization": f"Bearer {self.token}"}
        optional = {
            "Idempotency-Key": key,
            "If-Match": None if version is None else f'"{version}"',
            "Fencing-Token": None if self.fencing_token is None else str(self.fencing_token),
            "Accept": accept,
        }
        headers |= {name: value for name, value in optional.items() if value is not None}
        answer = httpx.request(
            method,
            f"{self.address}/v1{path}",
            json=body,
            headers=headers,
            timeout=_SECONDS_MAX,
            verify=TRUST,
        )
        self.told.note(
            {
                "who": self.who,
                "method": method,
                "path": path,
                "request": body,
                "status": answer.status_code,
                "answer": answer.text,
            }
        )
        if answer.status_code not in expect:
            raise Unexpected(f"{method} {path} answered {answer.status_code}: {answer.text[:500]}")
        return answer

    def ask(self, method: str, path: str, body: Any = None, **how: Any) -> Any:
        """Make a call and answer the JSON of its response."""
        return self.call(method, path, body, **how).json()
