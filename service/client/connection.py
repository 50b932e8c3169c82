"""One service and one credential: how a call is made, and how its refusal reads."""

from collections.abc import Mapping
from types import TracebackType
from typing import Any, Final, Self, TypeVar

import httpx
from pydantic import BaseModel

TIMEOUT_SECONDS: Final = 300.0
"""A file of 32 MiB is read, cut, embedded and indexed before its answer comes."""
JSON: Final = {"Content-Type": "application/json"}
JSON_LINES: Final = {"Content-Type": "application/x-ndjson"}
_CLIENT_ERROR: Final = 400

Received = TypeVar("Received", bound=BaseModel)


class Problem(Exception):
    """The service answered with a problem. `members` holds all of it, `code` is what programs compare.

    `retry_after_seconds` says when to try again, where the service said so.
    """

    def __init__(
        self, status: int, members: Mapping[str, Any], *, retry_after_seconds: int | None = None
    ) -> None:
        self.status = status
        self.code = str(members.get("code", "unknown"))
        self.detail = str(members.get("detail", ""))
        self.members = members
        self.retry_after_seconds = retry_after_seconds
        super().__init__(f"{status} {self.code}: {self.detail}")


class Connection:
    """A connection to one service with one credential. Use it in a `with` block, or `close` it.

    Every call raises `Problem` when the service refuses, and httpx's errors when it does not answer.
    """

    def __init__(
        self,
        base_url: str,
        token: str,
        *,
        timeout_seconds: float = TIMEOUT_SECONDS,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        self._http = httpx.Client(
            base_url=f"{base_url.rstrip('/')}/v1",
            headers={"Authorization": f"Bearer {token}"},
            timeout=timeout_seconds,
            transport=transport,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Give the connections back."""
        self._http.close()

    def _call(self, method: str, path: str, answer: type[Received], **request: Any) -> Received:  # noqa: ANN401 - httpx's own
        return answer.model_validate_json(self._send(method, path, **request).content)

    def _send(self, method: str, path: str, **request: Any) -> httpx.Response:  # noqa: ANN401 - httpx's own
        response = self._http.request(method, path, **request)
        if response.status_code >= _CLIENT_ERROR:
            wait = response.headers.get("Retry-After", "")
            raise Problem(
                response.status_code,
                _members(response),
                retry_after_seconds=int(wait) if wait.isdecimal() else None,
            )
        return response


def as_json(body: BaseModel) -> bytes:
    """Answer a request's body: the same bytes for equal requests."""
    return body.model_dump_json(exclude_defaults=True, by_alias=True).encode()


def given(**params: str | int | None) -> dict[str, str | int]:
    """Answer the parameters that have a value."""
    return {name: value for name, value in params.items() if value is not None}


def idempotent(key: str | None) -> dict[str, str]:
    """Answer the header under which a repeat is answered as the first time, if there is a key."""
    return {} if key is None else {"Idempotency-Key": key}


def _members(response: httpx.Response) -> Mapping[str, Any]:
    try:
        members = response.json()
    except ValueError:
        return {}
    return members if isinstance(members, dict) else {}
