"""A site where runs end and time passes, for tests of retention."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from conftest import FixedClock
from erasure_world import ErasureWorld, erasure_world
from sqlalchemy import LargeBinary, text
from sqlmodel import SQLModel

from service.core.database import Database
from service.jobs.retain import Retain
from service.jobs.system_unit import SystemUnits
from service.policies.read_folder import read_folder
from service.policies.seed import seed_bundle
from service.policies.store import PolicyStore

POLICIES = Path(__file__).parents[1] / "policies"


@dataclass
class RetentionWorld:
    """A site, and the hours and days that pass in it."""

    site: ErasureWorld
    clock: FixedClock

    def end(self, run: str, who: dict[str, str] | None = None) -> None:
        """Let the run's own person cancel it."""
        user = who or self.site.user()
        version = self.site.call("GET", f"/executions/{run}", user)["version"]
        headers = user | {"If-Match": f'"{version}"'}
        self.site.call("POST", f"/executions/{run}/cancel", headers, {"reason": "no longer needed"})

    def sweep(self, tenant: str = "acme") -> None:
        """Do what a process does when it starts, and let the workers of erasures rest afterwards."""
        runtime = self.site.memories.site.runtime
        units = SystemUnits(runtime.database, runtime.ciphers, runtime.tokens, runtime.clock, runtime.ids)
        Retain(units)(self.site.memories.site.tenants[tenant])
        self.site.carry_out()

    def use_policy(self, change: Any, tenant: str = "acme") -> None:
        """Make the default policy, with its files changed by `change`, the active one."""
        files = dict(read_folder(POLICIES))
        change(files)
        tenant_id = self.site.memories.site.tenants[tenant]
        runtime = self.site.memories.site.runtime
        with runtime.database.write(tenant_id) as session:
            session.connection().execute(text("DELETE FROM policy_active"))
            seed_bundle(session, tenant_id, files, now=runtime.clock())
            assert PolicyStore(session, tenant_id).find_active() is not None

    def ciphertexts(self, run: str, tenant: str = "acme") -> list[str]:
        """Answer `table.column` of whatever still holds words of the run, sealed."""
        found = []
        tenant_id = self.site.memories.site.tenants[tenant]
        with self.site.memories.site.runtime.database.read(tenant_id) as session:
            for table in SQLModel.metadata.tables.values():
                key = "id" if table.name == "executions" else "execution_id"
                if key not in table.columns:
                    continue
                rows = session.connection().execute(table.select().where(table.c[key] == run)).mappings()
                found += [
                    f"{table.name}.{column.name}"
                    for row in rows
                    for column in table.columns
                    if isinstance(column.type, LargeBinary) and row[column.name]
                ]
        return sorted(set(found))


@contextmanager
def retention_world(database: Database, folder: Path, clock: FixedClock) -> Iterator[RetentionWorld]:
    with erasure_world(database, folder, clock) as site:
        yield RetentionWorld(site, clock)
