"""Plans and activations for tests, asked for as an admin does."""

from datetime import timedelta
from typing import Any

from authoring_world import add_memories, files, project_id_of, unit_of
from memories_world import MemoryWorld

from service.authoring.model import Plan
from service.authoring.plan import draft_plan
from service.authoring.plan import keep_plan as keep_drafted
from service.policies.load import load_bundle


def admin_of(world: MemoryWorld, name: str = "admin-a", tenant: str = "acme") -> dict[str, str]:
    """Answer the headers of a policy admin."""
    return world.of("policy_admin", name, tenant=tenant)


def keep_plan(world: MemoryWorld, *changes: tuple[str, str]) -> Plan:
    """Simulate the default policy with some of its classes' text said otherwise, and keep the plan."""
    changed = files(*changes)
    with unit_of(world, writes=True) as unit:
        drafted = draft_plan(load_bundle(changed), changed, unit=unit, days=30, progress=_unseen)
        keep_drafted(drafted, unit=unit)
    return drafted.plan


def keep_memories(world: MemoryWorld, number: int, *, tenant: str = "acme", **fields: Any) -> list[str]:
    """Keep that many memories, each of a person of its own."""
    with unit_of(world, tenant, writes=True) as unit:
        age = fields.pop("age", timedelta(days=1))
        return add_memories(unit, project_id_of(unit), number, age=age, **fields)


def send(world: MemoryWorld, path: str, body: Any, who: dict[str, str], revision: int | None) -> Any:
    """Ask for it and answer the response, whatever its status."""
    match = {} if revision is None else {"If-Match": f'"{revision}"'}
    return world.site.client.post(f"/v1/policies{path}", headers={**who, **match}, json=body)


def activate(world: MemoryWorld, plan: Plan, who: dict[str, str] | None = None, revision: int = 1) -> Any:
    """Ask for a plan to count, as it was looked at."""
    body = {"plan": plan.id, "hash": plan.hash}
    return send(world, "/activations", body, who or admin_of(world), revision)


def _unseen(_done: int, _total: int) -> None:
    """Show no progress."""
