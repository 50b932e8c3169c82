"""Erasing a person reaches every store, and nobody else's is touched."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import FixedClock
from erasure_world import CANARY, ErasureWorld, erasure_world
from sqlalchemy import text

from service.core.database import Database
from service.core.lineage import Node
from service.retrieval.model import ItemKind


@pytest.fixture
def world(database: Database, tmp_path: Path, clock: FixedClock) -> Iterator[ErasureWorld]:
    with erasure_world(database, tmp_path / "data", clock) as world:
        yield world


def test_erasing_a_person_is_verified_in_every_store(world: ErasureWorld) -> None:
    left = world.leave_traces()

    erasure = world.erase_subject()

    assert erasure["status"] == "completed"
    stores = {store["store"]: store for store in erasure["receipt"]["stores"]}
    assert all(store["verified"] and store["state"] == "done" for store in stores.values())
    removed = {name for name, store in stores.items() if store["removed"]}
    expected = "keys tombstones memories proposals evidence conversation states work checks ledger packages"
    assert removed >= {*expected.split(), "idempotency", "consents", "names", "index"}
    user = world.user()
    assert world.call("GET", "/memories", user)["items"] == []
    for path in (f"/memories/{left.memory}", f"/evidence/{left.evidence}", f"/evidence/{left.derived}"):
        world.call("GET", path, user, expect=404)
    world.call("GET", f"/context-packages/{left.package}", user, expect=404)
    assert world.call("POST", "/memory-proposals", left.keyed, left.body, expect=410)["code"] == "erased"
    run = world.call("GET", f"/executions/{left.run}", user)
    assert (run["status"], run["objective"]) == ("cancelled", None)
    assert world.memories.search(world.agent()) == []


def test_what_is_gone_is_in_the_ledger_and_out_of_the_index(world: ErasureWorld) -> None:
    left = world.leave_traces()
    runtime, tenant_id = world.memories.site.runtime, world.memories.site.tenants["acme"]
    subject = runtime.ciphers.for_tenant(tenant_id).keyed_hash("user-1")

    world.erase_subject()

    buried = [
        Node(kind, name)
        for kind, name in (
            ("memory", left.memory),
            ("evidence", left.evidence),
            ("evidence", left.derived),
            ("execution", left.run),
            ("subject", subject),
        )
        if runtime.erasing.ledger.buried(tenant_id, kind, [name])
    ]
    assert len(buried) == 5
    assert [runtime.index.list_keys(tenant_id, kind) for kind in ItemKind] == [[], []]


def test_nothing_that_names_the_person_is_left_once_the_account_is_closed(world: ErasureWorld) -> None:
    world.leave_traces(name="hypatia-9")
    world.call("PUT", "/refusals", world.user(name="hypatia-9"), _refusal("hypatia-9"))

    erasure = world.erase_subject("hypatia-9", query="?account=true")

    assert erasure["status"] == "completed"
    assert _holding(world, "hypatia-9") == []
    assert _holding(world, CANARY) == []
    world.call("GET", "/memories", world.agent(name="hypatia-9"), expect=401)
    # The person's own key names nobody any more; it still follows the erasure.
    world.call("GET", f"/erasures/{erasure['id']}", world.user(name="hypatia-9"))


def test_a_person_who_keeps_the_account_comes_back_with_a_new_key(world: ErasureWorld) -> None:
    left = world.leave_traces()
    world.erase_subject()
    assert {table for table, _ in _holding(world, "user-1")} == {"api_keys", "members"}

    world.memories.consent()
    kept = world.memories.propose(world.memories.turn(), text="Prefers short replies")

    assert kept["decision"] == "approved"
    assert kept["memory"]["id"] != left.memory
    assert world.memories.search(world.agent()) == ["Prefers short replies"]
    assert world.erase_subject()["status"] == "completed"
    assert world.memories.search(world.agent()) == []


def test_of_three_tenants_only_the_one_that_asked_loses_anything(world: ErasureWorld) -> None:
    for tenant in ("acme", "globex", "initech"):
        world.leave_traces(tenant)
        world.leave_traces(tenant, "user-2")
    before = {tenant: world.rows(tenant) for tenant in ("globex", "initech")}

    world.erase_subject()

    assert {tenant: world.rows(tenant) for tenant in ("globex", "initech")} == before
    for tenant, name in (("globex", "user-1"), ("initech", "user-1"), ("acme", "user-2")):
        assert len(world.call("GET", "/memories", world.user(tenant, name))["items"]) == 1
    assert world.erase_subject("user-2")["status"] == "completed"


def test_only_the_person_and_an_administrator_erase_a_person(world: ErasureWorld) -> None:
    world.leave_traces()

    for role in ("reviewer", "auditor", "operator", "policy_admin", "grader"):
        world.call("DELETE", "/subjects/user-1", world.memories.of(role, f"{role}-1"), expect=403)
    world.call("DELETE", "/subjects/user-1", world.agent(), expect=403)
    world.call("DELETE", "/subjects/user-1", world.user(name="user-2"), expect=404)
    world.call("DELETE", "/subjects/user-1", world.user("globex", "user-1"), expect=202)
    world.carry_out()
    assert len(world.call("GET", "/memories", world.user())["items"]) == 1

    begun = world.call("DELETE", "/subjects/user-1", world.admin(), expect=202)
    world.carry_out()
    assert world.call("GET", f"/erasures/{begun['id']}", world.admin())["status"] == "completed"
    world.call("GET", f"/erasures/{begun['id']}", world.user(name="user-2"), expect=404)


def _refusal(name: str) -> dict[str, object]:
    return {"subject": name, "class": None, "refused": True}


def _holding(world: ErasureWorld, words: str) -> list[tuple[str, str]]:
    """Answer the tables and columns in which the words stand in plain, in whatever type of column."""
    found = []
    tenant_id = world.memories.site.tenants["acme"]
    with world.memories.site.runtime.database.read(tenant_id) as session:
        for name in world.rows("acme") | {"audit_events": 0}:
            rows = session.connection().execute(text(f"SELECT * FROM {name}")).mappings()  # noqa: S608
            for row in rows:
                found += [(name, column) for column, value in row.items() if words in str(value)]
    return sorted(set(found))


def test_what_administrators_wrote_about_a_person_goes_too(world: ErasureWorld) -> None:
    left = world.leave_traces()
    asked: list[tuple[str, dict[str, str]]] = [
        ("/holds", {"scope": "subject", "ref": "user-1", "basis": f"They say {CANARY}"}),
        ("/quarantines", {"source": f"evidence:{left.evidence}", "reason": f"They say {CANARY}"}),
    ]
    keyed = world.admin() | {"Idempotency-Key": "k-8"}
    hold, quarantine = [world.call("POST", path, keyed, body, expect=201)["id"] for path, body in asked]
    world.call("DELETE", f"/holds/{hold}", world.admin())

    assert world.erase_subject()["status"] == "completed"

    assert world.call("GET", f"/quarantines/{quarantine}", world.admin())["reason"] == ""
    assert world.call("GET", "/holds", world.admin())["items"] == []
    for path, body in asked:
        assert world.call("POST", path, keyed, body, expect=410)["code"] == "erased"
