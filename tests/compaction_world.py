"""A run that people talk in, over HTTP: what tests of summaries stand on."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from conftest import FixedClock
from evidence_site import POLICIES
from http_support import Site, open_site

from service.core.database import Database
from service.executions.compaction.summary_text import SummaryText, read_summary
from service.policies.read_folder import read_folder
from service.policies.seed import seed_bundle

SEEN: Final = "2026-11-30T09:00:00Z"


@dataclass
class Talk:
    """One run and its agent's headers. Each method is one call."""

    site: Site
    headers: dict[str, str]
    run: str = ""

    def post(
        self,
        path: str,
        body: object,
        *,
        expect: int = 201,
        key: str | None = None,
        version: int | None = None,
    ) -> dict[str, Any]:
        """Post to the run."""
        headers = {} if key is None else {"Idempotency-Key": key}
        headers |= {} if version is None else {"If-Match": f'"{version}"'}
        answer = self.site.client.post(
            f"/v1/executions/{self.run}/{path}", headers=self.headers | headers, json=body
        )
        assert answer.status_code == expect, answer.text
        return dict(answer.json())

    def open(self, **fields: Any) -> str:
        """Open a run and go on with it."""
        opening = {"project": "alpha", "objective": "Answer the planning query", **fields}
        answer = self.site.client.post("/v1/executions", headers=self.headers, json=opening)
        self.run = answer.raise_for_status().json()["id"]
        return self.run

    def say(self, text: str, role: str = "user", *, pin: str | None = None, **fields: Any) -> dict[str, Any]:
        """Say something, and pin it perhaps."""
        body = {"role": role, "text": text, **fields}
        return self.post("turns", body | ({"pin": {"kind": pin}} if pin else {}))

    def see(self, content: str, uri: str = "tool://register", **fields: Any) -> dict[str, Any]:
        """Keep a tool result."""
        source = {"uri": uri, "kind": "tool", "source_version": "7", "observed_at": SEEN}
        return self.post("observations", {"source": source, "content": content, **fields})

    def compact(self, *, expect: int = 201, key: str | None = None, **fields: Any) -> dict[str, Any]:
        """Have a summary written."""
        return self.post("summaries", fields, expect=expect, key=key)

    def package(self, *, profile: str = "default", max_tokens: int = 4_000, **fields: Any) -> dict[str, Any]:
        """Build a context package in the run."""
        body = {
            "project": "alpha",
            "execution_id": self.run,
            "purpose": "service",
            "profile": profile,
            "max_tokens": max_tokens,
            "render": "markdown",
            **fields,
        }
        answer = self.site.client.post("/v1/context-packages", headers=self.headers, json=body)
        assert answer.status_code == 201, answer.text
        return dict(answer.json())


@contextmanager
def open_talk(database: Database, folder: Path, clock: FixedClock, **settings: Any) -> Iterator[Talk]:
    """Open an application with the default policies and one run in it."""
    with open_site(database, folder / "data", clock, **settings) as site:
        headers = site.headers("agent", subject="agent-1", on_behalf_of="user-1")
        with database.write(site.tenants["acme"]) as session:
            seed_bundle(session, site.tenants["acme"], read_folder(POLICIES), now=clock())
        talk = Talk(site, headers)
        talk.open()
        yield talk


def parts(summary: dict[str, Any]) -> SummaryText:
    """Answer the parts of a summary that was written here."""
    found = read_summary(summary["text"])
    assert found is not None
    return found


def section(package: dict[str, Any], name: str) -> dict[str, Any]:
    """Answer one section of a package."""
    return next(part for part in package["sections"] if part["name"] == name)
