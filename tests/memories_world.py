"""A site with the default policy, a person, their agent and turns to cite, for tests of memories."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from http_support import TENANT, Site, open_site

from service.core.database import Database
from service.policies.read_folder import read_folder
from service.policies.seed import seed_bundle

POLICIES: Final = Path(__file__).parents[1] / "policies"
QUOTE: Final = "keep it short"


@dataclass
class MemoryWorld:
    """Everybody's headers, made when first asked for, and the calls that most tests make."""

    site: Site
    changes: dict[str, str] = field(default_factory=dict)
    """What every class's text says otherwise than in the default policy."""
    keys: dict[tuple[str, ...], dict[str, str]] = field(default_factory=dict)

    def of(
        self, role: str, subject: str, *, for_user: str | None = None, tenant: str = TENANT
    ) -> dict[str, str]:
        name = (role, subject, for_user or "", tenant)
        if name not in self.keys:
            self.keys[name] = self.site.headers(role, subject=subject, on_behalf_of=for_user, tenant=tenant)
            self._seed(tenant)
        return self.keys[name]

    @property
    def user(self) -> dict[str, str]:
        return self.of("user", "user-1")

    @property
    def agent(self) -> dict[str, str]:
        return self.of("agent", "agent-1", for_user="user-1")

    def call(
        self, method: str, path: str, who: dict[str, str], body: Any = None, *, expect: int = 200
    ) -> Any:
        answer = self.site.client.request(method, f"/v1{path}", headers=who, json=body)
        assert answer.status_code == expect, answer.text
        return answer.json()

    def consent(self, *, granted: bool = True, purpose: str = "personalisation") -> Any:
        body = {"subject": "user-1", "granted": granted, "text_version": "2026-11"}
        return self.call("PUT", f"/consents/{purpose}", self.user, body)

    def turn(self, text: str = f"Please {QUOTE}.", *, role: str = "user", **run: Any) -> str:
        opened = {"project": "alpha", "objective": "answer", "requirements": [], **run}
        execution = self.call("POST", "/executions", self.agent, opened, expect=201)
        path = f"/executions/{execution['id']}/turns"
        return str(self.call("POST", path, self.agent, {"role": role, "text": text}, expect=201)["id"])

    def proposal(self, turn_id: str | None, **changes: Any) -> dict[str, Any]:
        cited = [] if turn_id is None else [{"kind": "turn", "id": turn_id, "quote": QUOTE}]
        return {
            "project": "alpha",
            "class": "preference",
            "subject": "user-1",
            "key": "reply_style",
            "text": "Prefers concise explanations",
            "confidence": 0.9,
            "provenance": cited,
            "purpose": "personalisation",
            **changes,
        }

    def propose(self, turn_id: str | None, *, who: dict[str, str] | None = None, **changes: Any) -> Any:
        body = self.proposal(turn_id, **changes)
        return self.call("POST", "/memory-proposals", who or self.agent, body, expect=201)

    def search(self, who: dict[str, str], **changes: Any) -> list[str]:
        body = {"query": "how should replies be written?", "purpose": "personalisation", **changes}
        found = self.call("POST", "/memories/search", who, body)["items"]
        return [item["memory"]["text"] for item in found]

    def _seed(self, tenant: str) -> None:
        tenant_id = self.site.tenants[tenant]
        runtime = self.site.runtime
        with runtime.database.write(tenant_id) as session:
            files = dict(read_folder(POLICIES))
            for old, new in self.changes.items():
                assert old in files["classes.yaml"]
                files["classes.yaml"] = files["classes.yaml"].replace(old, new)
            seed_bundle(session, tenant_id, files, now=runtime.clock())


@contextmanager
def memory_world(
    database: Database, folder: Path, clock: Callable[[], datetime], *, changes: dict[str, str] | None = None
) -> Iterator[MemoryWorld]:
    with open_site(database, folder, clock) as site:
        yield MemoryWorld(site, changes or {})
