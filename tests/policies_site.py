"""Services in processes of their own over one record, for tests of policies in many processes."""

import json
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import httpx
from policies_bundle import FOLDER
from pydantic import SecretStr
from registry_support import Office

from service.core.clock import system_clock
from service.entry.cli.opening import Registry
from service.entry.demo.local_service import LocalService, environment_of, local_service, run_command
from service.identity.model import NewKey, Role
from service.policies.read_folder import read_folder
from service.policies.seed import seed_bundle
from service.settings import Settings
from service.wiring import build_record

SECONDS_MAX: Final = 60


@dataclass
class PolicySite:
    """A tenant with its people in a record, and the services that are started over it."""

    folder: Path
    database_url: str | None = None
    tokens: dict[str, str] = field(default_factory=dict)

    @property
    def policies(self) -> Path:
        """The folder of the bundle on disk."""
        return self.folder / "policies"

    @property
    def settings(self) -> dict[str, str]:
        """The settings that every process has in common."""
        if self.database_url is None:
            return {}
        keys = self.folder / "data" / "keystore"
        shared = {"MUNIMENT_DATABASE_URL": self.database_url}
        if (keys / "master.key").exists():
            shared["MUNIMENT_KEYSTORE_URL"] = f"sqlite:///{keys / 'keys.db'}"
            shared["MUNIMENT_MASTER_KEY"] = (keys / "master.key").read_text().strip()
        return shared

    def found(self) -> None:
        """Found the tenant with its first version, out of the folder on disk."""
        shutil.copytree(FOLDER, self.policies)
        url = None if self.database_url is None else SecretStr(self.database_url)
        record = build_record(Settings(data_dir=self.folder / "data", database_url=url))
        office = Office(Registry(record, system_clock))
        tenant_id = office.found("acme", "alpha")
        office.join(tenant_id, "alpha", "user-1")
        with office.registry.write(tenant_id) as unit:
            seed_bundle(unit.session, tenant_id, read_folder(self.policies), now=unit.now)
        for name in ("admin-a", "admin-b"):
            self.tokens[name] = office.issue(tenant_id, NewKey(Role.POLICY_ADMIN, name)).token
        agent = NewKey(Role.AGENT, "agent-1", on_behalf_of="user-1", project="alpha")
        self.tokens["agent-1"] = office.issue(tenant_id, agent).token
        record.close()

    def run(self, *words: str) -> Any:
        """Run a command beside the services."""
        return run_command(environment_of(self.folder, self.policies, self.settings), *words)

    @contextmanager
    def serving(self, name: str, **armed: str) -> Iterator["Desk"]:
        """Start a service; on PostgreSQL with a data folder of its own. `armed` are fail points."""
        own = self.folder if self.database_url is None else self.folder / name
        extra = dict(self.settings)
        if armed:
            points = {point.replace("__", "."): action for point, action in armed.items()}
            extra |= {"MUNIMENT_FAILPOINTS": json.dumps(points), "MUNIMENT_FAILPOINTS_ALLOWED": "true"}
        with local_service(own, self.policies, extra) as service:
            yield Desk(service, self.tokens, own / "serve.log")


@dataclass(frozen=True)
class Desk:
    """One service, and the calls that people make there."""

    service: LocalService
    tokens: Mapping[str, str]
    log: Path

    def send(
        self, method: str, path: str, body: Any = None, *, who: str = "admin-a", **headers: str
    ) -> httpx.Response:
        """Send one request."""
        given = {"Authorization": f"Bearer {self.tokens[who]}"} | headers
        address = f"{self.service.address}/v1{path}"
        return httpx.request(method, address, json=body, headers=given, timeout=SECONDS_MAX)

    def active(self) -> tuple[str, int]:
        """Answer the version that counts here, and its revision."""
        found = self.send("GET", "/policies").raise_for_status().json()
        return found["version"], found["revision"]

    def plan(self, files: Mapping[str, str]) -> dict[str, Any]:
        """Simulate a candidate; answer the plan."""
        made = self.send("POST", "/policies/simulations", {"files": dict(files)})
        assert made.status_code == 201, made.text
        return dict(made.json())

    def activate(self, plan: Mapping[str, Any], revision: int) -> httpx.Response:
        """Ask for a plan's version to count in place of a revision."""
        body = {"plan": plan["id"], "hash": plan["hash"]}
        return self.send("POST", "/policies/activations", body, **{"If-Match": f'"{revision}"'})

    def judged_by(self) -> str:
        """Propose something, and answer the version that it was judged by."""
        proposal = {
            "project": "alpha", "class": "preference", "subject": "user-1", "key": "style", "text": "Short.",
            "confidence": 0.9, "provenance": [], "purpose": "personalisation",
        }  # fmt: skip
        made = self.send("POST", "/memory-proposals", proposal, who="agent-1")
        assert made.status_code == 201, made.text
        return str(made.json()["policy_version"])


def stricter(quota: int) -> dict[str, str]:
    """Answer the default bundle with a smaller quota of preferences."""
    files = dict(read_folder(FOLDER))
    files["classes.yaml"] = files["classes.yaml"].replace("quota: 200", f"quota: {quota}", 1)
    return {path: text for path, text in files.items() if not path.startswith("tests/")}
