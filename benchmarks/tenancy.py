"""A tenant with a project and a key, on a service of one's own."""

from collections.abc import Iterable, Iterator
from typing import Any

import httpx

from benchmarks.corpus import Document
from service.core.hashing import canonical_json
from service.entry.demo.local_service import LocalService

BATCH_LINES = 200
"""Evidence lines in one batch request: about 0.5 MB of documents."""


def open_tenant(service: LocalService, name: str) -> httpx.Client:
    """Create tenant, project `alpha` and a delegated agent's key; answer a client that speaks with it."""
    service.command("tenants", "create", name)
    service.command("projects", "create", "--tenant", name, "--name", "alpha", "--member", "user-1")
    return open_client(service.address, agent_token(service, name))


def agent_token(service: LocalService, name: str, project: str = "alpha") -> str:
    """Answer the token of an agent that acts for user-1 in the tenant's project."""
    return service.key(
        name, "--project", project, "--role", "agent", "--subject", "agent-1", "--on-behalf-of", "user-1"
    )


def open_client(address: str, token: str) -> httpx.Client:
    """Answer a client that speaks with `token`."""
    return httpx.Client(base_url=f"{address}/v1", headers={"Authorization": f"Bearer {token}"}, timeout=120)


def evidence_line(document: Document) -> dict[str, Any]:
    """Answer a document as the service takes it."""
    return {
        "project": "alpha",
        "text": document.text,
        "title": document.title,
        "source": {
            "uri": f"bank://documents/{document.id}",
            "kind": "document",
            "source_version": "1",
            "observed_at": "2026-11-30T10:00:00Z",
        },
        "authority": "document",
    }


def batches(documents: list[Document]) -> Iterator[bytes]:
    """Answer JSON Lines bodies of `BATCH_LINES` documents each."""
    for start in range(0, len(documents), BATCH_LINES):
        part = documents[start : start + BATCH_LINES]
        yield b"".join(canonical_json(evidence_line(document)) + b"\n" for document in part)


def ingest(client: httpx.Client, bodies: Iterable[bytes]) -> list[str]:
    """Send batches and answer the ids in order. Raises when a line is refused."""
    ids: list[str] = []
    for body in bodies:
        answer = client.post(
            "/evidence/batch", content=body, headers={"Content-Type": "application/x-ndjson"}
        )
        answer.raise_for_status()
        if answer.json()["rejected"]:
            raise RuntimeError(f"refused lines: {answer.json()['rejected'][:3]}")
        ids += answer.json()["ids"]
    return ids


def package_request(query: str, **changes: Any) -> dict[str, Any]:  # noqa: ANN401 - any field of the request
    """Answer a request for a package that answers `query` from evidence."""
    return {
        "project": "alpha",
        "purpose": "service",
        "query": query[:4_000],
        "encoding": "o200k_base",
        "max_tokens": 6_000,
        "reply_reserve": 500,
        "profile": "answer",
        "sections": {"evidence": {"max": 4_096}},
        "render": "markdown",
        **changes,
    }
