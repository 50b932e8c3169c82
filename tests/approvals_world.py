"""A site with the people around an approval: who asks, who decides, who stands beside."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import httpx
from conftest import FixedClock
from http_support import TENANT, Site, open_site
from sqlmodel import col, select, update

from service.audit.tables import AuditEventRow
from service.core.database import Database
from service.executions.approvals.tables import ApprovalRow
from service.executions.ledger.tables import EffectRow
from service.identity.store import IdentityStore
from service.identity.tables import ApiKeyRow, MemberRow
from service.policies.load import load_bundle
from service.policies.read_folder import read_folder
from service.policies.seed import seed_bundle
from service.policies.store import PolicyStore
from service.policies.tables import PolicyActiveRow

POLICIES: Final = Path(__file__).parents[1] / "policies"
COMMANDS: Final = """commands:
  "refunds.*":
    {capability: effects, approval: needed, approver: user, longest_expiry_hours: 4}
  "restarts.*":
    {capability: effects, approval: needed, approver: operator, longest_expiry_hours: 4}
  "launches.*":
    {capability: launching, approval: needed, approver: reviewer, longest_expiry_hours: 4}
"""
ORDER: Final[dict[str, Any]] = {"kind": "orders.create", "sku": "A1", "quantity": 2}
OPENING: Final[dict[str, Any]] = {
    "project": "alpha",
    "objective": "Order what plot 18 needs",
    "requirements": [{"id": "orders", "text": "Orders are placed"}],
}


@dataclass
class People:
    """A site, and one method for each thing that somebody does about approvals."""

    site: Site
    clock: FixedClock
    agent: dict[str, str] = field(default_factory=dict)
    user: dict[str, str] = field(default_factory=dict)
    reviewer: dict[str, str] = field(default_factory=dict)
    operator: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.agent = self.site.headers("agent", subject="agent-1", on_behalf_of="user-1")
        self.user = self.site.headers("user", subject="user-1")
        self.reviewer = self.site.headers("reviewer", subject="reviewer-1")
        self.operator = self.site.headers("operator", subject="operator-1")
        self.tenant_id = self.site.tenants[TENANT]
        self.files = {**read_folder(POLICIES), "approvals.yaml": COMMANDS}
        with self.site.runtime.database.write(self.tenant_id) as session:
            seed_bundle(session, self.tenant_id, self.files, now=self.clock())

    def get(self, path: str, who: dict[str, str]) -> httpx.Response:
        return self.site.client.get(f"/v1{path}", headers=who)

    def post(self, path: str, body: object, who: dict[str, str]) -> httpx.Response:
        return self.site.client.post(f"/v1{path}", headers=who, json=body)

    def open(self, who: dict[str, str] | None = None, **fields: Any) -> str:
        """Open a run and answer its id."""
        return str(self._made(self.post("/executions", OPENING | fields, who or self.agent), 201)["id"])

    def ask(
        self,
        run: str,
        command: dict[str, Any] = ORDER,
        *,
        who: dict[str, str] | None = None,
        **fields: Any,
    ) -> httpx.Response:
        return self.post(f"/executions/{run}/approvals", {"command": command, **fields}, who or self.agent)

    def asked(self, run: str, command: dict[str, Any] = ORDER, **fields: Any) -> str:
        """Ask, expect a new request, and answer its id."""
        return str(self._made(self.ask(run, command, **fields), 201)["id"])

    def decide(
        self, approval: str, decision: str = "approve", *, who: dict[str, str] | None = None
    ) -> httpx.Response:
        body = {"decision": decision, "reason": "the quote holds"}
        return self.post(f"/approvals/{approval}/decision", body, who or self.reviewer)

    def approved(self, run: str, command: dict[str, Any] = ORDER, **fields: Any) -> str:
        """Ask and have it approved; answer its id."""
        approval = self.asked(run, command, **fields)
        self._made(self.decide(approval), 200)
        return approval

    def redeem(
        self,
        approval: str,
        operation: str = "order-8",
        command: dict[str, Any] = ORDER,
        *,
        who: dict[str, str] | None = None,
    ) -> httpx.Response:
        body = {"command": command, "operation_id": operation}
        return self.post(f"/approvals/{approval}/redeem", body, who or self.agent)

    def cancel(self, approval: str, who: dict[str, str] | None = None) -> httpx.Response:
        return self.site.client.post(f"/v1/approvals/{approval}/cancel", headers=who or self.agent)

    def report(self, run: str, status: str, operation: str = "order-8") -> httpx.Response:
        return self.site.client.patch(
            f"/v1/executions/{run}/effects/{operation}", headers=self.agent, json={"status": status}
        )

    def status(self, approval: str) -> str:
        """Answer how an approval stands, as the agent reads it."""
        return str(self._made(self.get(f"/approvals/{approval}", self.agent), 200)["status"])

    def stored(self, approval: str) -> tuple[str, list[str]]:
        """Answer the status that is written down, and what moved."""
        with self.site.runtime.database.read(self.tenant_id) as session:
            row = session.exec(select(ApprovalRow).where(ApprovalRow.id == approval)).one()
            return row.status, list(row.moved)

    def evidence(self, text: str = "The quote is 120.", uri: str = "doc://quote", **fields: Any) -> str:
        """Keep a piece of evidence and answer its id."""
        source = {"uri": uri, "kind": "document", "observed_at": "2026-11-30T09:00:00Z"}
        body = {"project": "alpha", "text": text, "source": source, **fields}
        response = self.post("/evidence", body, self.agent)
        assert response.status_code in (200, 201), response.text
        return str(response.json()["id"])

    def actions(self, approval: str) -> list[str]:
        """Answer what the audit trail says about an approval, in order."""
        with self.site.runtime.database.read(self.tenant_id) as session:
            rows = session.exec(select(AuditEventRow).order_by(col(AuditEventRow.sequence))).all()
        return [row.action for row in rows if row.details.get("approval") == approval]

    def effects(self) -> int:
        return self.site.count(EffectRow)

    def change_policy(self) -> None:
        """Activate another version of the policy, that says the same but in one sentence."""
        files = {**self.files, "more.yaml": 'purposes:\n  planning: {description: "Planning."}\n'}
        with self.site.runtime.database.write(self.tenant_id) as session:
            version = load_bundle(files).version
            PolicyStore(session, self.tenant_id).add_version(version, files, now=self.clock())
            session.exec(update(PolicyActiveRow).values(version=version))

    def revoke_keys(self, subject: str) -> None:
        """End every key that somebody holds."""
        with self.site.runtime.database.write(self.tenant_id) as session:
            keys = session.exec(select(ApiKeyRow.id).where(ApiKeyRow.subject == subject)).all()
            for key_id in keys:
                IdentityStore(session, self.tenant_id).revoke_key(key_id, now=self.clock())

    def remove_member(self, subject: str) -> None:
        """End somebody's membership of the project."""
        with self.site.runtime.database.write(self.tenant_id) as session:
            rows = session.exec(select(MemberRow).where(MemberRow.subject == subject)).all()
            for row in rows:
                IdentityStore(session, self.tenant_id).remove_member(row.project_id, subject)

    def sweep(self) -> None:
        """Deliver what is due."""
        self.site.runtime.relay.drain(self.tenant_id)

    def at_once(self, count: int, act: Any) -> list[httpx.Response]:
        """Do something from so many threads at once."""
        with ThreadPoolExecutor(count) as pool:
            return list(pool.map(act, range(count)))

    @staticmethod
    def _made(response: httpx.Response, status: int) -> dict[str, Any]:
        assert response.status_code == status, response.text
        return dict(response.json())


def code(response: httpx.Response) -> tuple[int, str]:
    """Answer a refusal's status and code."""
    return response.status_code, str(response.json()["code"])


@contextmanager
def open_people(database: Database, folder: Path, clock: FixedClock) -> Iterator[People]:
    """Open a site with its people over a database."""
    with open_site(database, folder / "data", clock) as site:
        yield People(site, clock)
