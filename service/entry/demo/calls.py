"""The few HTTP calls that the worked example makes, each checked for the status it must answer."""

from dataclasses import dataclass
from typing import Any, Self

import httpx


class UnexpectedAnswer(RuntimeError):
    """The service answered something that the worked example does not expect."""


@dataclass(frozen=True, slots=True)
class Person:
    """One credential of the example, and what it says over HTTP."""

    http: httpx.Client
    token: str

    @classmethod
    def at(cls, http: httpx.Client, token: str) -> Self:
        """Answer the holder of `token`, speaking through `http`."""
        return cls(http, token)

    def get(self, path: str, *, accept: str = "application/json") -> Any:  # noqa: ANN401 - whatever JSON held
        """Read `path`; text where `accept` is plain text, else the JSON."""
        answer = self._send("GET", path, 200, headers={"Accept": accept})
        return answer.json() if accept == "application/json" else answer.text

    def post(self, path: str, body: dict[str, Any], *, expect: int = 201, if_match: int | None = None) -> Any:  # noqa: ANN401
        """Send `body` and answer the JSON."""
        headers = {} if if_match is None else {"If-Match": f'"{if_match}"'}
        return self._send("POST", path, expect, json=body, headers=headers).json()

    def put(self, path: str, body: dict[str, Any], *, if_match: int | None = None) -> Any:  # noqa: ANN401
        """Put `body` and answer the JSON."""
        headers = {} if if_match is None else {"If-Match": f'"{if_match}"'}
        return self._send("PUT", path, 200, json=body, headers=headers).json()

    def patch(self, path: str, body: dict[str, Any]) -> Any:  # noqa: ANN401 - whatever JSON held
        """Patch with `body` and answer the JSON."""
        return self._send("PATCH", path, 200, json=body).json()

    def delete(self, path: str, *, fencing_token: int) -> None:
        """Delete `path` as the holder of a run's lease."""
        self._send("DELETE", path, 204, headers={"Fencing-Token": str(fencing_token)})

    def _send(
        self,
        method: str,
        path: str,
        expect: int,
        *,
        json: dict[str, Any] | None = None,
        headers: dict[str, str] | None = None,
    ) -> httpx.Response:
        answer = self.http.request(
            method,
            f"/v1{path}",
            json=json,
            headers={"Authorization": f"Bearer {self.token}", **(headers or {})},
        )
        if answer.status_code != expect:
            raise UnexpectedAnswer(f"{method} {path} answered {answer.status_code}: {answer.text[:400]}")
        return answer
