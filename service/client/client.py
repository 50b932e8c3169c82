"""A Python client of the HTTP interface, so far for evidence: requests and answers are wire models."""

from collections.abc import Iterable, Mapping
from types import TracebackType
from typing import Any, Final, Self, TypeVar

import httpx
from pydantic import BaseModel

from service.wire.evidence import (
    AddEvidence,
    BatchKept,
    EvidenceAnswer,
    EvidenceDeleted,
    EvidenceFound,
    EvidenceKept,
    Grep,
    GrepAnswer,
    SearchEvidence,
    TextAnswer,
)

TIMEOUT_SECONDS: Final = 300.0
"""A file of 32 MiB is read, cut, embedded and indexed before its answer comes."""
_JSON: Final = {"Content-Type": "application/json"}
_JSON_LINES: Final = {"Content-Type": "application/x-ndjson"}
_CLIENT_ERROR: Final = 400

Received = TypeVar("Received", bound=BaseModel)


class Problem(Exception):
    """The service answered with a problem. `members` holds all of it, `code` is what programs compare."""

    def __init__(self, status: int, members: Mapping[str, Any]) -> None:
        self.status = status
        self.code = str(members.get("code", "unknown"))
        self.detail = str(members.get("detail", ""))
        self.members = members
        super().__init__(f"{status} {self.code}: {self.detail}")


class Muniment:
    """A connection to one service with one credential. Use it in a `with` block, or `close` it.

    Every method raises `Problem` when the service refuses, and httpx's errors when it does not answer.
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

    def add_evidence(self, new: AddEvidence, *, idempotency_key: str | None = None) -> EvidenceKept:
        """Keep a text as evidence."""
        headers = _JSON | _idempotent(idempotency_key)
        return self._call("POST", "/evidence", EvidenceKept, content=_json(new), headers=headers)

    def add_evidence_file(
        self,
        new: AddEvidence,
        content: bytes,
        *,
        name: str,
        media_type: str = "application/octet-stream",
        idempotency_key: str | None = None,
    ) -> EvidenceKept:
        """Keep a file as evidence; `new` describes it and has no text of its own."""
        return self._call(
            "POST",
            "/evidence",
            EvidenceKept,
            files={"file": (name, content, media_type)},
            data={"meta": _json(new).decode()},
            headers=_idempotent(idempotency_key),
        )

    def add_evidence_batch(self, lines: Iterable[AddEvidence | bytes]) -> BatchKept:
        """Keep many texts. Lines are sent as they come; bytes are taken as lines that are written already."""
        content = (line + b"\n" for line in map(_line, lines))
        return self._call("POST", "/evidence/batch", BatchKept, content=content, headers=_JSON_LINES)

    def get_evidence(self, evidence_id: str, *, version: int | None = None) -> EvidenceAnswer:
        """Read an item's provenance and the beginning of its text."""
        return self._call("GET", f"/evidence/{evidence_id}", EvidenceAnswer, params=_given(version=version))

    def read_evidence_text(
        self, evidence_id: str, *, start: int = 0, end: int | None = None, version: int | None = None
    ) -> TextAnswer:
        """Read the characters from `start` to `end` of an item's text."""
        params = _given(start=start, end=end, version=version)
        return self._call("GET", f"/evidence/{evidence_id}/text", TextAnswer, params=params)

    def grep_evidence(self, evidence_id: str, wanted: Grep) -> GrepAnswer:
        """Find a literal in an item's text."""
        path = f"/evidence/{evidence_id}/grep"
        return self._call("POST", path, GrepAnswer, content=_json(wanted), headers=_JSON)

    def delete_evidence(self, evidence_id: str) -> EvidenceDeleted:
        """Delete your own evidence."""
        return self._call("DELETE", f"/evidence/{evidence_id}", EvidenceDeleted)

    def search_evidence(self, wanted: SearchEvidence) -> EvidenceFound:
        """Search evidence in words."""
        return self._call("POST", "/evidence/search", EvidenceFound, content=_json(wanted), headers=_JSON)

    def _call(self, method: str, path: str, answer: type[Received], **request: Any) -> Received:  # noqa: ANN401 - httpx's own
        response = self._http.request(method, path, **request)
        if response.status_code >= _CLIENT_ERROR:
            raise Problem(response.status_code, _members(response))
        return answer.model_validate_json(response.content)


def _members(response: httpx.Response) -> Mapping[str, Any]:
    try:
        members = response.json()
    except ValueError:
        return {}
    return members if isinstance(members, dict) else {}


def _json(body: BaseModel) -> bytes:
    return body.model_dump_json(exclude_defaults=True, by_alias=True).encode()


def _line(line: AddEvidence | bytes) -> bytes:
    return line if isinstance(line, bytes) else _json(line)


def _idempotent(key: str | None) -> dict[str, str]:
    return {} if key is None else {"Idempotency-Key": key}


def _given(**params: int | None) -> dict[str, int]:
    return {name: value for name, value in params.items() if value is not None}
