"""The calls of evidence."""

from collections.abc import Iterable

from service.client.connection import JSON, JSON_LINES, Connection, as_json, given, idempotent
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


class EvidenceCalls(Connection):
    """Keep, read, search and delete evidence: requests and answers are wire models."""

    def add_evidence(self, new: AddEvidence, *, idempotency_key: str | None = None) -> EvidenceKept:
        """Keep a text as evidence."""
        headers = JSON | idempotent(idempotency_key)
        return self._call("POST", "/evidence", EvidenceKept, content=as_json(new), headers=headers)

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
            data={"meta": as_json(new).decode()},
            headers=idempotent(idempotency_key),
        )

    def add_evidence_batch(self, lines: Iterable[AddEvidence | bytes]) -> BatchKept:
        """Keep many texts. Lines are sent as they come; bytes are taken as lines that are written already."""
        content = (line + b"\n" for line in map(_line, lines))
        return self._call("POST", "/evidence/batch", BatchKept, content=content, headers=JSON_LINES)

    def get_evidence(self, evidence_id: str, *, version: int | None = None) -> EvidenceAnswer:
        """Read an item's provenance and the beginning of its text."""
        return self._call("GET", f"/evidence/{evidence_id}", EvidenceAnswer, params=given(version=version))

    def read_evidence_text(
        self, evidence_id: str, *, start: int = 0, end: int | None = None, version: int | None = None
    ) -> TextAnswer:
        """Read the characters from `start` to `end` of an item's text."""
        params = given(start=start, end=end, version=version)
        return self._call("GET", f"/evidence/{evidence_id}/text", TextAnswer, params=params)

    def grep_evidence(self, evidence_id: str, wanted: Grep) -> GrepAnswer:
        """Find a literal in an item's text."""
        path = f"/evidence/{evidence_id}/grep"
        return self._call("POST", path, GrepAnswer, content=as_json(wanted), headers=JSON)

    def delete_evidence(self, evidence_id: str) -> EvidenceDeleted:
        """Delete your own evidence."""
        return self._call("DELETE", f"/evidence/{evidence_id}", EvidenceDeleted)

    def search_evidence(self, wanted: SearchEvidence) -> EvidenceFound:
        """Search evidence in words."""
        return self._call("POST", "/evidence/search", EvidenceFound, content=as_json(wanted), headers=JSON)


def _line(line: AddEvidence | bytes) -> bytes:
    return line if isinstance(line, bytes) else as_json(line)
