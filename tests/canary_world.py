"""A service in a process of its own, and one person whose words enter it by every door."""

import shutil
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import httpx
from recovery_site import Place
from registry_support import Office

from service.entry.demo.local_service import LocalService, environment_of, run_command
from service.identity.model import NewKey, Role
from service.policies.read_folder import read_folder
from service.policies.seed import seed_bundle

STEM: Final = "zanzibarquokka7731"
"""Stands in whatever the person says. What follows it names the door by which it came in."""
PERSON: Final = "hypatia-of-alexandria-4711"
OTHER: Final = "euclid-of-megara-4712"
TENANT: Final = "acme"
PROJECT: Final = "alpha"
QUOTE: Final = "keep it short"
_POLICIES: Final = Path(__file__).parents[1] / "policies"
_WAIT_SECONDS_MAX: Final = 60


def mark(door: str) -> str:
    """Answer the person's words as they enter by a door; letters and digits alone fit every field."""
    return f"{STEM}x{door}0"


@dataclass
class CanaryWorld:
    """One tenant's people and their tokens over a place; `address` is the running service's."""

    place: Place
    tokens: Mapping[str, str]
    address: str = ""
    starts: int = 0
    ids: dict[str, str] = field(default_factory=dict)

    def call(
        self,
        method: str,
        path: str,
        who: str = "agent",
        body: Any = None,
        *,
        expect: int | None = None,
        headers: Mapping[str, str] | None = None,
        **parts: Any,
    ) -> httpx.Response:
        """Send a request, its body as JSON unless `parts` say otherwise; `expect` is its status."""
        sent = {"Authorization": f"Bearer {self.tokens.get(who, who)}", **(headers or {})}
        if body is not None:
            parts["json"] = body
        answer = httpx.request(method, f"{self.address}/v1{path}", headers=sent, timeout=60, **parts)
        assert expect is None or answer.status_code == expect, (method, path, answer.status_code, answer.text)
        return answer

    def made(self, path: str, body: Any, who: str = "agent", **more: Any) -> str:
        """Send a creating request and answer the id of what it made."""
        return str(self.call("POST", path, who, body, expect=201, **more).json().get("id", ""))

    @contextmanager
    def serving(self, armed: Mapping[str, str] | None = None) -> Iterator[LocalService]:
        """Start the service; what it logged stays in a file of its own afterwards."""
        try:
            with self.place.serving(armed=armed) as service:
                self.address = service.address
                yield service
        finally:
            self.starts += 1
            (self.place.folder / "serve.log").rename(self.place.folder / f"serve-{self.starts}.log")

    def command(self, *arguments: str) -> Any:
        """Run a command on the data while nobody serves."""
        extra = {} if self.place.database_url is None else {"MUNIMENT_DATABASE_URL": self.place.database_url}
        return run_command(environment_of(self.place.folder, self.place.policies, extra), *arguments)

    def erase(self, *, account: bool = True) -> str:
        """Ask for the person's erasure, as an administrator, by default with the account; answer its id."""
        path = f"/subjects/{PERSON}?account={str(account).lower()}"
        return str(self.call("DELETE", path, "admin", expect=202).json()["id"])

    def await_erased(self, erasure_id: str) -> Any:
        """Wait until the erasure is complete and its files are tidied; answer it."""
        until = time.monotonic() + _WAIT_SECONDS_MAX
        while time.monotonic() < until:
            found = self.call("GET", f"/erasures/{erasure_id}", "admin", expect=200).json()
            if found["status"] == "completed":
                return found
            time.sleep(0.1)
        raise AssertionError(f"not erased after {_WAIT_SECONDS_MAX} s: {found}")


def found_world(folder: Path, database_url: str | None) -> CanaryWorld:
    """Found the tenant with its people, in a new folder and, on PostgreSQL, an empty database."""
    shutil.copytree(_POLICIES, folder / "policies")
    place = Place(folder, database_url, "", "", {}, {})
    with place.office() as office:
        tokens = _found(office, place)
    return CanaryWorld(place, tokens)


def _found(office: Office, place: Place) -> dict[str, str]:
    tenant_id = office.found(TENANT, PROJECT)
    with office.registry.write(tenant_id) as unit:
        seed_bundle(unit.session, tenant_id, read_folder(place.policies), now=unit.now)
    staff = ("reviewer", "grader", "operator", "admin", "auditor")
    office.join(tenant_id, PROJECT, PERSON, OTHER, "agent-1", *(f"{role}-1" for role in staff))
    keys = {
        "agent": NewKey(Role.AGENT, "agent-1", on_behalf_of=PERSON),
        "user": NewKey(Role.USER, PERSON),
        "other_agent": NewKey(Role.AGENT, "agent-1", on_behalf_of=OTHER),
        "other": NewKey(Role.USER, OTHER),
        **{role: NewKey(Role(role), f"{role}-1") for role in staff},
    }
    return {who: office.issue(tenant_id, new).token for who, new in keys.items()}
