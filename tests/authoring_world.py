"""A tenant with memories and packages as rows, and candidates of its policy, for tests of plans."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Final

from http_support import TENANT
from memories_world import MemoryWorld
from sqlalchemy import insert

from service.context.tables import PackageRow
from service.identity.matrix import SCOPES_BY_ROLE
from service.identity.model import Caller, Role
from service.identity.store import IdentityStore
from service.identity.unit import Unit
from service.memories.tables import MemoryRow
from service.policies.read_folder import read_folder

POLICIES: Final = Path(__file__).parents[1] / "policies"


def files(*changes: tuple[str, str]) -> dict[str, str]:
    """Answer the default policy with some of the text of its classes said otherwise, at its first place."""
    found = dict(read_folder(POLICIES))
    for old, new in changes:
        assert old in found["classes.yaml"]
        found["classes.yaml"] = found["classes.yaml"].replace(old, new, 1)
    return {path: text for path, text in found.items() if not path.startswith("tests/")}


@contextmanager
def unit_of(world: MemoryWorld, tenant: str = TENANT, *, writes: bool = False) -> Iterator[Unit]:
    """Open a transaction of a policy author."""
    world.of("user", "user-1", tenant=tenant)
    runtime, tenant_id = world.site.runtime, world.site.tenants[tenant]
    author = Caller(
        tenant_id=tenant_id,
        credential_id="author",
        role=Role.POLICY_AUTHOR,
        subject="author",
        on_behalf_of=None,
        projects=frozenset(),
        scopes=SCOPES_BY_ROLE[Role.POLICY_AUTHOR],
    )
    opened = runtime.database.write(tenant_id) if writes else runtime.database.read(tenant_id)
    with opened as session:
        yield runtime.unit(session, author)


def add_memories(unit: Unit, project_id: str, number: int, **fields: Any) -> list[str]:
    """Keep that many memories without words, each of a person of its own."""
    ids = [unit.ids() for _ in range(number)]
    rows = [memory_row(unit, project_id, memory_id, **fields) for memory_id in ids]
    unit.session.connection().execute(insert(MemoryRow), rows)
    return ids


def memory_row(unit: Unit, project_id: str, memory_id: str, **fields: Any) -> Mapping[str, Any]:
    """Answer the row of a memory of a person of its own, made `age` ago."""
    subject = unit.cipher.keyed_hash(memory_id)
    days: timedelta = fields.pop("age", timedelta(days=1))
    made: datetime = unit.now - days
    class_name = fields.pop("class_name", "preference")
    return {
        "tenant_id": unit.tenant_id,
        "id": memory_id,
        "project_id": project_id,
        "class_name": class_name,
        "scope_key": subject,
        "subject_hash": subject,
        "key_hash": subject,
        "version": 1,
        "status": "active",
        "purpose": "personalisation",
        "trust": "first_party",
        "policy_version": "none",
        "created_at": made,
        "confirmed_at": made,
        # As the default policy says of preferences and, by its shortest time, of whatever else.
        "expires_at": made + timedelta(days=365 if class_name == "preference" else 180),
        **fields,
    }


def add_package(unit: Unit, project_id: str, shown: list[Mapping[str, Any]], **fields: Any) -> str:
    """Keep a package that showed these items."""
    package_id = unit.ids()
    unit.session.connection().execute(
        insert(PackageRow),
        {
            "tenant_id": unit.tenant_id,
            "id": package_id,
            "project_id": project_id,
            "acting_user": "user-1",
            "built_by": "agent:agent-1",
            "purpose": "personalisation",
            "digest": "",
            "request": b"",
            "manifest": {"profile": "default", "sections": [{"items": shown}]},
            "created_at": unit.now,
            **fields,
        },
    )
    return package_id


def project_id_of(unit: Unit) -> str:
    """Answer the id of the tenant's project."""
    found = IdentityStore(unit.session, unit.tenant_id).find_project("alpha")
    assert found is not None
    return found.id
