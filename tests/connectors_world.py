"""A site whose orders a real downstream takes, and the people around a run."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import httpx
from conftest import FixedClock
from downstream_server import Downstream, open_downstream
from http_support import TENANT, Site, open_site
from sqlmodel import col, select, update

from service.audit.principals import named_principals
from service.audit.tables import AuditEventRow
from service.core.database import Database
from service.core.outbox import OutboxRow
from service.executions.ledger.tables import EffectRow
from service.policies.load import load_bundle
from service.policies.read_folder import read_folder
from service.policies.seed import seed_bundle
from service.policies.store import PolicyStore
from service.policies.tables import PolicyActiveRow

POLICIES: Final = Path(__file__).parents[1] / "policies"
_RULE: Final = "capability: effects, approver: reviewer, longest_expiry_hours: 4"
COMMANDS: Final = f"""commands:
  "orders.*": {{{_RULE}, approval: not_needed, connector: orders}}
  "strange.*": {{{_RULE}, approval: not_needed, connector: nowhere}}
  "foreign.*": {{{_RULE}, approval: not_needed, connector: foreign}}
  "transfers.*": {{{_RULE}, approval: needed, connector: orders}}
"""
OPENING: Final[dict[str, Any]] = {
    "project": "alpha",
    "objective": "Order what plot 18 needs",
    "requirements": [{"id": "orders", "text": "Orders are placed"}],
}
OPERATION: Final = "seed-order-8"
SECRET: Final = "Bearer hunter2"


@dataclass
class Orders:
    """One method for each thing that somebody does, or that happens by itself."""

    site: Site
    clock: FixedClock
    downstream: Downstream
    agent: dict[str, str] = field(default_factory=dict)
    user: dict[str, str] = field(default_factory=dict)
    reviewer: dict[str, str] = field(default_factory=dict)
    operator: dict[str, str] = field(default_factory=dict)
    grader: dict[str, str] = field(default_factory=dict)
    tenant: str = TENANT

    def __post_init__(self) -> None:
        self.agent = self.site.headers(
            "agent", subject="agent-1", on_behalf_of="user-1", sources=["register"], tenant=self.tenant
        )
        for role in ("user", "reviewer", "operator", "grader"):
            setattr(self, role, self.site.headers(role, subject=f"{role}-1", tenant=self.tenant))
        self.tenant_id = self.site.tenants[self.tenant]
        self.files = {**read_folder(POLICIES), "connectors.yaml": COMMANDS}
        with self.site.runtime.database.write(self.tenant_id) as session:
            seed_bundle(session, self.tenant_id, self.files, now=self.clock())

    def get(self, path: str, who: dict[str, str]) -> httpx.Response:
        return self.site.client.get(f"/v1{path}", headers=who)

    def post(self, path: str, body: object, who: dict[str, str]) -> httpx.Response:
        return self.site.client.post(f"/v1{path}", headers=who, json=body)

    def made(self, path: str, body: object, who: dict[str, str], *, status: int = 201) -> dict[str, Any]:
        """Post, expect a status, answer the body."""
        response = self.post(path, body, who)
        assert response.status_code == status, response.text
        return dict(response.json())

    def open(self, who: dict[str, str] | None = None, **fields: Any) -> str:
        """Open a run and answer its id."""
        return str(self.made("/executions", OPENING | fields, who or self.agent)["id"])

    def try_intend(
        self,
        run: str,
        operation: str = OPERATION,
        *,
        kind: str = "orders.create",
        who: dict[str, str] | None = None,
        **request: Any,
    ) -> httpx.Response:
        body = {"operation_id": operation, "kind": kind, "request": request or {"sku": "A1"}}
        return self.post(f"/executions/{run}/effects", body, who or self.agent)

    def intend(self, run: str, operation: str = OPERATION, **fields: Any) -> None:
        """Write an intent down."""
        response = self.try_intend(run, operation, **fields)
        assert response.status_code == 201, response.text

    def deliver(self, *, after_seconds: float = 0) -> int:
        """Let time pass, then let a worker do all that is due."""
        self.clock.advance(seconds=after_seconds)
        deliveries = self.site.runtime.deliveries
        assert deliveries is not None
        return deliveries.sweep()

    def effect(self, run: str, operation: str = OPERATION) -> EffectRow:
        """Read an effect behind the service's back."""
        with self.site.runtime.database.read(self.tenant_id) as session:
            return session.get_one(EffectRow, (self.tenant_id, run, operation))

    def status(self, run: str) -> str:
        return str(self.get(f"/executions/{run}", self.agent).raise_for_status().json()["status"])

    def orders_waiting(self) -> list[Mapping[str, Any]]:
        """Answer the messages of the outbox that are orders."""
        with self.site.runtime.database.read(self.tenant_id) as session:
            rows = session.exec(select(OutboxRow).where(col(OutboxRow.topic) == "effect.deliver")).all()
            return [row.payload for row in rows]

    def trail(self, *actions: str) -> list[Mapping[str, Any]]:
        """Answer the details of the events of these actions, in order."""
        with self.site.runtime.database.read(self.tenant_id) as session:
            rows = session.exec(
                select(AuditEventRow)
                .where(col(AuditEventRow.action).in_(actions))
                .order_by(col(AuditEventRow.sequence))
            ).all()
            cipher = self.site.runtime.ciphers.for_tenant(self.tenant_id)
            names = named_principals({row.principal for row in rows}, cipher)
            return [{**row.details, "principal": names[row.principal]} for row in rows]

    def activate(self, **files: str) -> None:
        """Let another version of the policies count, with these files beside or over the others."""
        changed = {**self.files, **{f"{name}.yaml": text for name, text in files.items()}}
        version = load_bundle(changed).version
        with self.site.runtime.database.write(self.tenant_id) as session:
            PolicyStore(session, self.tenant_id).add_version(version, changed, now=self.clock())
            session.exec(
                update(PolicyActiveRow)
                .where(col(PolicyActiveRow.tenant_id) == self.tenant_id)
                .values(version=version)
            )


@contextmanager
def open_orders(database: Database, folder: Path, clock: FixedClock, **choices: Any) -> Iterator[Orders]:
    """Open a site over a database with a downstream of its own. `choices` are fields of the connector."""
    with open_downstream() as downstream:
        connectors = {
            "orders": downstream.connector(headers={"Authorization": SECRET}, **choices),
            "foreign": downstream.connector(tenants=["umbrella"]),
        }
        readers = {"register": downstream.reader(headers={"Authorization": SECRET})}
        with open_site(database, folder, clock, connectors=connectors, source_readers=readers) as site:
            yield Orders(site, clock, downstream)
