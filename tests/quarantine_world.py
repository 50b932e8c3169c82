"""A poisoned page and all that was made from it, over HTTP, for tests of quarantines."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from conftest import FixedClock
from memories_world import MemoryWorld, memory_world

from service.core.database import Database

POISON: Final = "Plot 18 was sold to Harold Quince, who pays every fee in advance."
QUESTION: Final = "who pays the fees of plot 18"
CONVENTION: Final = "Fees of plot 18 are paid in advance"


@dataclass
class QuarantineWorld(MemoryWorld):
    """Calls that most tests of quarantines make."""

    @property
    def reviewer(self) -> dict[str, str]:
        return self.of("reviewer", "reviewer-1")

    def page(self, text: str = POISON, *, uri: str = "doc://pages/18", **fields: Any) -> str:
        source = {"uri": uri, "kind": "document", "observed_at": "2026-11-30T09:00:00Z"}
        body = {"project": "alpha", "text": text, "source": source, **fields}
        return str(self.call("POST", "/evidence", self.agent, body, expect=201)["id"])

    def run(self) -> str:
        opened = {"project": "alpha", "objective": "answer", "requirements": []}
        return str(self.call("POST", "/executions", self.agent, opened, expect=201)["id"])

    def say(self, execution: str, text: str, *, role: str = "user", **fields: Any) -> str:
        path, body = f"/executions/{execution}/turns", {"role": role, "text": text, **fields}
        return str(self.call("POST", path, self.agent, body, expect=201)["id"])

    def derive_state(self, execution: str, *refs: str, version: int = 1, expect: int = 201) -> Any:
        body = {"transition": "start", "step": 1, "state": {"derived_from": list(refs)}}
        headers = {**self.agent, "If-Match": f'"{version}"'}
        return self.call("POST", f"/executions/{execution}/checkpoints", headers, body, expect=expect)

    def resume(self, execution: str) -> Any:
        seen = self.call("GET", f"/executions/{execution}", self.agent)
        body = {"contract_hash": seen["contract_hash"]}
        return self.call("POST", f"/executions/{execution}/resume", self.agent, body)

    def summarise(self, execution: str, *refs: str, expect: int = 201, **fields: Any) -> Any:
        body = {"from_sequence": 1, "to_sequence": 1, "text": "Fees were told.", "model": "m", **fields}
        body["derived_from"] = list(refs)
        return self.call("POST", f"/executions/{execution}/summaries", self.agent, body, expect=expect)

    def remember(self, kind: str, item_id: str, *, key: str = "fees", text: str = CONVENTION) -> Any:
        """Propose a convention of the project from a source, and have it approved."""
        proposed = self.ask_to_remember(kind, item_id, key=key, text=text)
        assert proposed["decision"] == "pending_review", proposed
        body = {"decision": "approve", "reason": "fine"}
        return self.call("POST", f"/memory-proposals/{proposed['id']}/decision", self.reviewer, body)

    def ask_to_remember(self, kind: str, item_id: str, *, key: str = "fees", text: str = CONVENTION) -> Any:
        body = {
            "project": "alpha",
            "class": "project_convention",
            "subject": None,
            "key": key,
            "text": text,
            "confidence": 0.9,
            "provenance": [{"kind": kind, "id": item_id}],
            "purpose": "service",
        }
        return self.call("POST", "/memory-proposals", self.agent, body, expect=201)

    def package(self, execution: str | None = None, *, query: str = QUESTION, **fields: Any) -> Any:
        body = {
            "project": "alpha",
            "execution_id": execution,
            "purpose": "service",
            "query": query,
            "encoding": "o200k_base",
            "max_tokens": 4000,
            "reply_reserve": 500,
            "render": "markdown",
            **fields,
        }
        return self.call("POST", "/context-packages", self.agent, body, expect=201)

    def text(self, execution: str | None = None, **fields: Any) -> str:
        """Build a package and answer its text."""
        return str(self.package(execution, **fields)["rendered"]["text"])

    def found(self, query: str = QUESTION) -> list[str]:
        body = {"project": "alpha", "query": query, "limit": 10}
        return [item["id"] for item in self.call("POST", "/evidence/search", self.agent, body)["items"]]

    def quarantine(
        self, source: str, *, who: dict[str, str] | None = None, expect: int = 201, **fields: Any
    ) -> Any:
        body = {"source": source, "reason": "somebody else wrote it", **fields}
        return self.call("POST", "/quarantines", who or self.reviewer, body, expect=expect)

    def release(self, quarantine: Any, *, who: dict[str, str] | None = None, expect: int = 200) -> Any:
        path = f"/quarantines/{quarantine['id']}/release"
        return self.call("POST", path, who or self.reviewer, expect=expect)


@contextmanager
def quarantine_world(database: Database, folder: Path, clock: FixedClock) -> Iterator[QuarantineWorld]:
    with memory_world(database, folder, clock) as world:
        yield QuarantineWorld(world.site)


def omitted(package: Any) -> dict[str, str]:
    """Answer why things are not in a package, by their ids."""
    return {one["id"]: one["reason"] for one in package["omissions"]}
