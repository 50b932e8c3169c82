"""A service in a process of its own over prepared data: killed, started again, and read behind its back."""

import json
import shutil
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import httpx
import psycopg
from pydantic import SecretStr
from registry_support import Office

from service.core.clock import system_clock
from service.entry.cli.opening import Registry
from service.entry.demo.local_service import LocalService, local_service
from service.identity.model import NewKey, Role
from service.policies.read_folder import read_folder
from service.policies.seed import seed_bundle
from service.settings import Settings
from service.wiring import build_record

TENANT: Final = "acme"
RIVAL: Final = "rival"
PROJECT: Final = "alpha"
CASE: Final = "Plot 18: outline consent granted on 3 March, file 4711. The applicant asks for the order app."
CASE_TITLE: Final = "Case file of plot 18"
EXTERNAL_REF: Final = "order-app-42"
CASE_URI: Final = "tool://register/plots/18"
CANARY: Final = "RIVAL-ONLY-9d2f"
"""Stands in every text of the other tenant, beside the same words."""
LEASE_SECONDS: Final = 5
"""The shortest that there is: what a killed worker leaves behind is waited for, never forged."""
_POLICIES: Final = Path(__file__).parents[1] / "policies"
_CONNECTED: Final = """
  "orders.*":
    capability: effects
    approval: not_needed
    approver: reviewer
    longest_expiry_hours: 24
    connector: orders
"""


@dataclass(frozen=True, slots=True)
class Place:
    """Data of two tenants in a folder and, on PostgreSQL, a database; and the tokens that open them."""

    folder: Path
    database_url: str | None
    tenant_id: str
    rival_id: str
    tokens: Mapping[str, str]
    key_ids: Mapping[str, str]
    rival_marks: Sequence[str] = ()
    """Ids of what the other tenant holds: none of them may ever be told."""

    @property
    def data(self) -> Path:
        """The service's data folder."""
        return self.folder / "data"

    @property
    def policies(self) -> Path:
        """The folder of the bundle that both tenants began with."""
        return self.folder / "policies"

    @property
    def settings(self) -> Settings:
        """The settings of a process that opens the record beside the service."""
        url = None if self.database_url is None else SecretStr(self.database_url)
        return Settings(data_dir=self.data, policies_dir=self.policies, database_url=url)

    @contextmanager
    def serving(
        self, *, armed: Mapping[str, str] | None = None, extra: Mapping[str, str] | None = None
    ) -> Iterator[LocalService]:
        """Start `muniment serve` on this data, with fail points where `armed` names some."""
        chosen = {"MUNIMENT_LEASE_SECONDS": str(LEASE_SECONDS), **(extra or {})}
        if self.database_url is not None:
            chosen["MUNIMENT_DATABASE_URL"] = self.database_url
        if armed:
            chosen |= {"MUNIMENT_FAILPOINTS": json.dumps(armed), "MUNIMENT_FAILPOINTS_ALLOWED": "true"}
        with local_service(self.folder, self.policies, chosen) as service:
            yield service

    @contextmanager
    def office(self) -> Iterator[Office]:
        """Open the registry and the record, as the command line does beside a running service."""
        record = build_record(self.settings)
        try:
            yield Office(Registry(record, system_clock))
        finally:
            record.close()


def prepare(folder: Path, database_url: str | None) -> Place:
    """Found both tenants with the same people and the same case, by the registry and over HTTP."""
    shutil.copytree(_POLICIES, folder / "policies")
    access = folder / "policies" / "access.yaml"
    head, mark, tail = access.read_text().partition("\ntools:")
    access.write_text(f"{head}{_CONNECTED}{mark}{tail}")
    place = Place(folder, database_url, "", "", {}, {})
    with place.office() as office:
        tenant_id, tokens, key_ids = _found(office, TENANT, place.policies)
        rival_id, rivals, _ = _found(office, RIVAL, place.policies)
    place = replace(
        place,
        tenant_id=tenant_id,
        rival_id=rival_id,
        tokens={**tokens, "rival": rivals["agent"]},
        key_ids=key_ids,
    )
    with place.serving() as service:
        _tell(service.address, tokens["agent"], CASE)
        marks = [
            _tell(service.address, rivals["agent"], f"{CASE} {CANARY}"),
            _open(service.address, rivals["agent"]),
        ]
    return replace(place, rival_marks=marks)


def copy_of(place: Place, folder: Path, base_url: str | None) -> Place:
    """Answer a copy of a prepared place that nobody else uses. `base_url` is PostgreSQL's own address."""
    shutil.copytree(place.folder, folder, dirs_exist_ok=True)
    if place.database_url is None or base_url is None:
        return replace(place, folder=folder)
    name = f"r{uuid.uuid4().hex}"  # noqa: TID251 - a name for a throw-away database
    with psycopg.connect(base_url, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name} TEMPLATE {name_of(place.database_url)}")
    return replace(place, folder=folder, database_url=database_at(base_url, name))


def drop(place: Place, base_url: str | None) -> None:
    """Remove what a place holds outside its folder."""
    if place.database_url is not None and base_url is not None:
        with psycopg.connect(base_url, autocommit=True) as connection:
            connection.execute(f"DROP DATABASE {name_of(place.database_url)} WITH (FORCE)")


def database_at(base_url: str, name: str) -> str:
    """Answer the address of another database of the same server."""
    head, _, query = base_url.partition("?")
    return f"{head.rsplit('/', 1)[0]}/{name}" + (f"?{query}" if query else "")


def name_of(database_url: str) -> str:
    """Answer a database's name."""
    return database_url.partition("?")[0].rsplit("/", 1)[1]


def _found(office: Office, name: str, policies: Path) -> tuple[str, dict[str, str], dict[str, str]]:
    tenant_id = office.found(name, PROJECT)
    with office.registry.write(tenant_id) as unit:
        seed_bundle(unit.session, tenant_id, read_folder(policies), now=unit.now)
    office.join(tenant_id, PROJECT, "user-1", "agent-1", "reviewer-1", "grader-1", "operator-1")
    keys = {
        "agent": NewKey(Role.AGENT, "agent-1", on_behalf_of="user-1"),
        "user": NewKey(Role.USER, "user-1"),
        "reviewer": NewKey(Role.REVIEWER, "reviewer-1"),
        "grader": NewKey(Role.GRADER, "grader-1"),
        "operator": NewKey(Role.OPERATOR, "operator-1"),
    }
    issued = {who: office.issue(tenant_id, new) for who, new in keys.items()}
    tokens = {who: key.token for who, key in issued.items()}
    return tenant_id, tokens, {who: key.key.id for who, key in issued.items()}


def _tell(address: str, token: str, text: str) -> str:
    source = {"uri": CASE_URI, "kind": "record", "observed_at": "2026-11-30T10:00:00Z"}
    body = {"project": PROJECT, "text": text, "title": CASE_TITLE, "source": source}
    return _post(f"{address}/v1/evidence", token, body)


def _open(address: str, token: str) -> str:
    body = {"project": PROJECT, "external_ref": EXTERNAL_REF, "objective": f"The same, of {CANARY}"}
    return _post(f"{address}/v1/executions", token, body)


def _post(url: str, token: str, body: Mapping[str, Any]) -> str:
    answer = httpx.post(url, json=body, headers={"Authorization": f"Bearer {token}"}, timeout=30)
    return str(answer.raise_for_status().json()["id"])
