"""A site where a person has left something in every store, for tests of erasure."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from conftest import FixedClock
from memories_world import QUOTE, MemoryWorld, memory_world
from sqlalchemy import func, select
from sqlmodel import SQLModel

from service.core import failpoints
from service.core.database import Database
from service.core.hashing import hash_text
from service.migrations.tables import load_tables

CANARY = "Zanzibar-Quokka-7731"


@dataclass
class Traces:
    """What one person left: the ids by which it is asked for afterwards."""

    run: str
    memory: str
    evidence: str
    derived: str
    package: str
    keyed: dict[str, str]
    body: dict[str, Any]


@dataclass
class ErasureWorld:
    """Persons of several tenants, and the calls that most tests of erasure make."""

    memories: MemoryWorld
    tenants: list[str] = field(default_factory=list)

    def user(self, tenant: str = "acme", name: str = "user-1") -> dict[str, str]:
        return self.memories.of("user", name, tenant=tenant)

    def agent(self, tenant: str = "acme", name: str = "user-1") -> dict[str, str]:
        return self.memories.of("agent", "agent-1", for_user=name, tenant=tenant)

    def admin(self, tenant: str = "acme") -> dict[str, str]:
        return self.memories.of("admin", "admin-1", tenant=tenant)

    def call(self, *arguments: Any, expect: int = 200) -> Any:
        return self.memories.call(*arguments, expect=expect)

    def leave_traces(self, tenant: str = "acme", name: str = "user-1") -> Traces:
        """Leave something in every store that the service writes for a person."""
        user, agent = self.user(tenant, name), self.agent(tenant, name)
        consent = {"subject": name, "granted": True, "text_version": "2026-11"}
        self.call("PUT", "/consents/personalisation", user, consent)
        opened = {
            "project": "alpha",
            "objective": f"Answer {CANARY}",
            "external_ref": f"{CANARY}-{name}",
            "requirements": [{"id": "login", "text": f"{CANARY} works"}],
        }
        run = self.call("POST", "/executions", agent, opened, expect=201)["id"]
        turn = self._fill(run, agent)
        evidence = self.evidence(user, subjects=[name], uri=f"doc://about/{name}")
        derived = self.evidence(user, uri=f"doc://derived/{name}", derived_from=[f"evidence:{evidence}"])
        body = self.memories.proposal(turn, subject=name, text=f"Likes {CANARY}")
        keyed = agent | {"Idempotency-Key": "k-1"}
        memory = self.call("POST", "/memory-proposals", keyed, body, expect=201)["memory"]["id"]
        asked = {"project": "alpha", "execution_id": run, "purpose": "personalisation", "query": CANARY}
        package = self.call("POST", "/context-packages", agent, asked | {"max_tokens": 4_000}, expect=201)[
            "id"
        ]
        return Traces(run, memory, evidence, derived, package, keyed, body)

    def evidence(self, who: dict[str, str], *, uri: str, **more: Any) -> str:
        source = {"uri": uri, "kind": "document", "observed_at": "2026-11-30T10:00:00Z"}
        body = {"project": "alpha", "text": f"About {CANARY}", "source": source, **more}
        return str(self.call("POST", "/evidence", who, body, expect=201)["id"])

    def carry_out(self) -> None:
        """Let the workers do what is due."""
        self.memories.site.runtime.erasing.workers.sweep()

    def erase_subject(self, name: str = "user-1", tenant: str = "acme", query: str = "") -> Any:
        """Erase a person by their own word and answer how far it has come once the workers rest."""
        begun = self.call("DELETE", f"/subjects/{name}{query}", self.user(tenant, name), expect=202)
        self.carry_out()
        return self.call("GET", f"/erasures/{begun['id']}", self.admin(tenant))

    def rows(self, tenant: str) -> dict[str, int]:
        """Count the rows of every table of a tenant, but for the audit trail."""
        load_tables()
        tenant_id = self.memories.site.tenants[tenant]
        with self.memories.site.runtime.database.read(tenant_id) as session:
            return {
                name: session.connection()
                .execute(select(func.count()).where(table.c.tenant_id == tenant_id))
                .scalar_one()
                for name, table in SQLModel.metadata.tables.items()
                if "tenant_id" in table.columns and not name.startswith("audit_")
            }

    def _fill(self, run: str, agent: dict[str, str]) -> str:
        path = f"/executions/{run}"
        turn = self.call(
            "POST", f"{path}/turns", agent, {"role": "user", "text": f"{QUOTE}, {CANARY}"}, expect=201
        )["id"]
        source = {"uri": "tool://register", "kind": "tool", "observed_at": "2026-11-30T10:00:00Z"}
        calls: list[tuple[str, dict[str, Any]]] = [
            ("/pins", {"kind": "question", "text": f"What of {CANARY}?"}),
            ("/summaries", {"from_sequence": 1, "to_sequence": 1, "text": CANARY, "model": "m"}),
            ("/observations", {"source": source, "content": f"granted {CANARY}", "summary": CANARY}),
            ("/steps", {"task_id": "read", "exit_status": "started", "summary": CANARY}),
            ("/effects", {"operation_id": "order-8", "kind": "orders.create", "request": {"sku": CANARY}}),
            ("/candidates", {"artifact_hash": hash_text("build 17")}),
            ("/check-requests", {"requirements": ["login"]}),
            ("/approvals", {"command": {"kind": "orders.create", "sku": CANARY}, "evidence_ids": []}),
        ]
        for part, body in calls:
            self.call("POST", f"{path}{part}", agent, body, expect=201)
        self.call("PATCH", f"{path}/effects/order-8", agent, {"status": "dispatched"})
        state = {"transition": "start", "step": 1, "state": {"plan": [CANARY], "derived_from": []}}
        self.call("POST", f"{path}/checkpoints", agent | {"If-Match": '"1"'}, state, expect=201)
        return str(turn)


@contextmanager
def erasure_world(database: Database, folder: Path, clock: FixedClock) -> Iterator[ErasureWorld]:
    try:
        with memory_world(database, folder, clock) as memories:
            yield ErasureWorld(memories)
    finally:
        failpoints.arm({})
