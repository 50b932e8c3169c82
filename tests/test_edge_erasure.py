"""The edge: what has been erased is not answered again, and its old answers say so."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import FixedClock
from http_support import Site, open_site
from memories_world import MemoryWorld, memory_world

from service.core.database import Database
from service.core.hashing import hash_text
from service.core.idempotency import IdempotencyStore


@pytest.fixture
def site(database: Database, tmp_path: Path, clock: FixedClock) -> Iterator[Site]:
    with open_site(database, tmp_path / "data", clock) as site:
        yield site


@pytest.fixture
def world(database: Database, tmp_path: Path, clock: FixedClock) -> Iterator[MemoryWorld]:
    with memory_world(database, tmp_path / "data", clock) as world:
        yield world


def test_repeating_the_request_of_deleted_evidence_is_410_and_revives_nothing(site: Site) -> None:
    headers = site.headers()
    keyed = headers | {"Idempotency-Key": "k-1"}
    body = {
        "project": "alpha",
        "text": "Plot 18: outline consent granted.",
        "source": {"uri": "register://plots/18", "kind": "record", "observed_at": "2026-11-30T10:00:00Z"},
    }
    added = site.client.post("/v1/evidence", headers=keyed, json=body)
    evidence = added.raise_for_status().json()["id"]
    site.client.delete(f"/v1/evidence/{evidence}", headers=headers).raise_for_status()

    again = site.client.post("/v1/evidence", headers=keyed, json=body)

    assert (again.status_code, again.json()["code"]) == (410, "erased")
    assert site.client.get(f"/v1/evidence/{evidence}", headers=headers).status_code == 404


def test_every_kept_answer_about_a_run_goes_with_the_run(world: MemoryWorld) -> None:
    run = world.call("POST", "/executions", world.agent, {"project": "alpha", "objective": "x"}, expect=201)
    turn = {"role": "user", "text": "Keep it short."}
    source = {"uri": "tool://register", "kind": "tool", "observed_at": "2026-11-30T10:00:00Z"}
    package = {"project": "alpha", "execution_id": run["id"], "purpose": "service", "max_tokens": 4_000}
    creating = [
        ("/turns", turn),
        ("/pins", {"kind": "question", "text": "How short?"}),
        ("/summaries", {"from_sequence": 1, "to_sequence": 1, "text": "Asked to be short.", "model": "m"}),
        ("/observations", {"source": source, "content": "granted"}),
        ("/steps", {"task_id": "read", "exit_status": "started"}),
        ("/effects", {"operation_id": "order-8", "kind": "orders.create"}),
        ("/candidates", {"artifact_hash": hash_text("build 17")}),
    ]
    calls: list[tuple[str, object]] = [(f"/executions/{run['id']}{path}", body) for path, body in creating]
    calls.append(("/context-packages", package))
    keyed = world.agent | {"Idempotency-Key": "k-1"}
    for path, body in calls:
        world.call("POST", path, keyed, body, expect=201)
    with world.site.runtime.database.write(world.site.tenants["acme"]) as session:
        tenant_id = world.site.tenants["acme"]
        cipher = world.site.runtime.ciphers.for_tenant(tenant_id)
        emptied = IdempotencyStore(session, tenant_id, cipher).erase([run["id"]])

    assert emptied == len(calls)
    for path, body in calls:
        assert world.call("POST", path, keyed, body, expect=410)["code"] == "erased"


def test_a_kept_package_is_not_repeated_to_who_may_no_longer_read_what_it_shows(world: MemoryWorld) -> None:
    source = {"uri": "doc://plot-18", "kind": "document", "observed_at": "2026-11-30T10:00:00Z"}
    text = {"project": "alpha", "text": "Plot 18 is contaminated.", "source": source}
    package = {"project": "alpha", "query": "plot 18", "purpose": "service", "max_tokens": 4_000}
    other = world.of("user", "user-2")
    world.call("POST", "/evidence", world.user, text, expect=201)
    keyed = other | {"Idempotency-Key": "k-1"}
    first = world.call("POST", "/context-packages", keyed, package, expect=201)

    world.call("POST", "/evidence", world.user, text | {"readers": ["user:user-1"]}, expect=201)

    assert "contaminated" in first["rendered"]["text"]
    world.call("POST", "/context-packages", keyed, package, expect=410)
    fresh = world.call("POST", "/context-packages", other, package, expect=201)
    assert "contaminated" not in fresh["rendered"]["text"]
