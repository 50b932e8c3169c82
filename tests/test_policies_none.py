"""Without a policy version nothing is allowed, on any path; what was kept before is shown to no machine."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import FixedClock
from memories_world import MemoryWorld, memory_world
from sqlalchemy import delete

from service.core.database import Database
from service.memories.tables import MemoryRow
from service.policies.tables import PolicyActiveRow


@pytest.fixture
def world(database: Database, tmp_path: Path, clock: FixedClock) -> Iterator[MemoryWorld]:
    with memory_world(database, tmp_path, clock) as world:
        yield world


def _forget_the_policy(world: MemoryWorld) -> None:
    tenant_id = world.site.tenants["acme"]
    with world.site.runtime.database.write(tenant_id) as session:
        session.connection().execute(delete(PolicyActiveRow))


def _package(world: MemoryWorld, **changes: Any) -> Any:
    body = {
        "project": "alpha", "purpose": "personalisation", "query": "how should replies be written?",
        "encoding": "o200k_base", "max_tokens": 2_000, **changes,
    }  # fmt: skip
    return world.site.client.post("/v1/context-packages", headers=world.agent, json=body)


def test_nothing_is_remembered(world: MemoryWorld) -> None:
    world.consent()
    proposal = world.proposal(world.turn())
    _forget_the_policy(world)

    refused = world.call("POST", "/memory-proposals", world.agent, proposal, expect=422)

    assert refused["code"] == "purpose_unknown"
    assert world.site.count(MemoryRow) == 0


def test_what_was_kept_before_is_found_by_no_search_and_in_no_package(world: MemoryWorld) -> None:
    world.consent()
    assert world.propose(world.turn())["decision"] == "approved"
    before = _package(world).json()
    assert "Prefers concise" in str(before)
    assert world.search(world.agent) == ["Prefers concise explanations"]

    _forget_the_policy(world)
    after = _package(world)

    body = {"query": "how should replies be written?", "purpose": "personalisation"}
    for who in (world.agent, world.user):
        refused = world.call("POST", "/memories/search", who, body, expect=422)
        assert refused["code"] == "purpose_unknown"
    assert world.call("GET", "/memories?subject=user-1", world.agent)["items"] == []
    assert after.status_code == 422
    assert "Prefers concise" not in after.text


def test_no_effect_is_begun_and_no_run_opened(world: MemoryWorld) -> None:
    opened = {"project": "alpha", "objective": "order", "requirements": []}
    run = world.call("POST", "/executions", world.agent, opened, expect=201)["id"]
    _forget_the_policy(world)
    effect = {"operation_id": "order-1", "kind": "orders.create", "request": {"sku": "A1"}}

    begun = world.site.client.post(f"/v1/executions/{run}/effects", headers=world.agent, json=effect)
    again = world.site.client.post("/v1/executions", headers=world.agent, json=opened)

    assert begun.status_code == 403
    assert (again.status_code, again.json()["code"]) == (422, "retention_class_unknown")


def test_nobody_makes_a_first_version_count_over_http(world: MemoryWorld) -> None:
    admin = world.of("policy_admin", "admin-a")
    _forget_the_policy(world)

    refused = [
        world.site.client.post(
            "/v1/policies/rollback", headers=admin | {"If-Match": f'"{n}"'}, json={"to": None}
        )
        for n in (0, 1)
    ]

    assert {answer.status_code for answer in refused} <= {409, 412}
    assert world.call("GET", "/policies", admin)["version"] is None
