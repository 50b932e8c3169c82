"""What was erased after a backup does not come back with it, by any door."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from backup_world import BackupWorld, backup_world
from conftest import FixedClock
from erasure_world import CANARY

from service.core.database import Database
from service.retrieval.model import ItemKind


@pytest.fixture
def world(database: Database, tmp_path: Path, clock: FixedClock) -> Iterator[BackupWorld]:
    with backup_world(database, tmp_path, clock) as world:
        yield world


def test_a_record_put_back_is_the_record_that_was_copied(world: BackupWorld) -> None:
    world.site.leave_traces()
    world.site.leave_traces("globex")
    before = {tenant: world.site.rows(tenant) for tenant in ("acme", "globex")}
    folder = world.back_up()
    world.site.evidence(world.site.user(), uri="doc://later")

    done = world.restore(folder)

    assert [(each.chain_fault, each.erased, each.rights_ended) for each in done] == [(None, 0, 0)] * 2
    passing = {"idempotency", "idempotency_refs", "outbox"}
    for tenant, rows in before.items():
        after = world.site.rows(tenant)
        assert {name: count for name, count in after.items() if name not in passing} == {
            name: count for name, count in rows.items() if name not in passing
        }
    assert world.site.memories.search(world.site.agent()) == [f"Likes {CANARY}"]
    assert f"Likes {CANARY}" not in _bytes_of(folder)


def test_a_memory_erased_after_the_backup_stays_gone(world: BackupWorld) -> None:
    left = world.site.leave_traces()
    folder = world.back_up()
    user = world.site.user()
    world.site.call("DELETE", f"/memories/{left.memory}", user)

    done = world.restore(folder)

    assert done[0].erased >= 1
    assert world.site.call("GET", "/memories", user)["items"] == []
    world.site.call("GET", f"/memories/{left.memory}", user, expect=404)
    assert world.site.memories.search(world.site.agent()) == []
    assert world.site.rows("acme")["memory_versions"] == 0
    asked = {"project": "alpha", "purpose": "personalisation", "query": CANARY, "max_tokens": 4_000}
    package = world.site.call("POST", "/context-packages", world.site.agent(), asked, expect=201)
    assert f"Likes {CANARY}" not in str(package)
    index = world.runtime.index
    assert index.list_keys(world.site.memories.site.tenants["acme"], ItemKind.MEMORY) == []
    # The rest is there.
    world.site.call("GET", f"/evidence/{left.evidence}", user)


def test_evidence_erased_after_the_backup_stays_gone(world: BackupWorld) -> None:
    left = world.site.leave_traces()
    folder = world.back_up()
    user = world.site.user()
    world.site.call("DELETE", f"/evidence/{left.evidence}", user)

    world.restore(folder)

    world.site.call("GET", f"/evidence/{left.evidence}", user, expect=404)
    found = world.site.call("POST", "/evidence/search", user, {"project": "alpha", "query": CANARY})["items"]
    assert left.evidence not in {item["id"] for item in found}
    assert len(world.site.call("GET", "/memories", user)["items"]) == 1


@pytest.mark.parametrize("query", ["", "?account=true"])
def test_a_person_erased_after_the_backup_stays_gone(world: BackupWorld, query: str) -> None:
    left = world.site.leave_traces(name="hypatia-9")
    world.site.leave_traces(name="user-2")
    folder = world.back_up()
    world.site.erase_subject("hypatia-9", query=query)

    world.restore(folder)

    user = world.site.user(name="hypatia-9")
    if query:
        assert _standing(world, "hypatia-9") == []
        world.site.call("GET", "/memories", world.site.agent(name="hypatia-9"), expect=401)
    else:
        assert _standing(world, "hypatia-9") == ["api_keys", "members"]
        assert world.site.call("GET", "/memories", user)["items"] == []
        for path in (f"/memories/{left.memory}", f"/evidence/{left.evidence}", f"/evidence/{left.derived}"):
            world.site.call("GET", path, user, expect=404)
        assert world.site.call("GET", f"/executions/{left.run}", user)["objective"] is None
    assert len(world.site.call("GET", "/memories", world.site.user(name="user-2"))["items"]) == 1


def test_what_was_denied_a_person_erased_after_the_backup_stays_gone(world: BackupWorld) -> None:
    left = world.site.leave_traces()
    denied = {**left.body, "class": "quokka_class"}
    world.site.call("POST", "/memory-proposals", world.site.agent(), denied, expect=201)
    folder = world.back_up()
    world.site.erase_subject()

    world.restore(folder)

    assert world.site.rows("acme")["memory_proposals"] == 0
    assert _standing(world, "quokka_class") == []


def test_a_person_who_came_back_before_the_backup_keeps_what_is_new(world: BackupWorld) -> None:
    world.site.leave_traces()
    world.site.erase_subject()
    world.clock.advance(seconds=1)
    world.site.memories.consent()
    world.site.memories.propose(world.site.memories.turn(), text="Prefers short replies")
    folder = world.back_up()

    world.restore(folder)

    assert world.site.memories.search(world.site.agent()) == ["Prefers short replies"]


def test_a_receipt_says_when_the_last_backup_that_may_hold_it_expires(world: BackupWorld) -> None:
    first = world.site.leave_traces()
    world.site.leave_traces(name="user-2")
    gone = world.site.call("DELETE", f"/memories/{first.memory}", world.site.user())["receipt"]
    assert gone["backups_expire_at"] is None
    world.back_up("long", keep_days=20)
    world.back_up("short", keep_days=10)

    erasure = world.site.erase_subject("user-2")

    assert erasure["receipt"]["backups_expire_at"] == "2026-12-20T10:00:01Z"


def _bytes_of(folder: Path) -> str:
    return "".join(path.read_text(encoding="utf-8") for path in sorted(folder.iterdir()))


def _standing(world: BackupWorld, words: str) -> list[str]:
    """Answer the tables in which the words stand, in whatever column."""
    from sqlalchemy import text  # noqa: PLC0415 - one test looks so deep

    found = set()
    runtime, tenant_id = world.runtime, world.site.memories.site.tenants["acme"]
    with runtime.database.read(tenant_id) as session:
        for name in world.site.rows("acme"):
            rows: Any = session.connection().execute(text(f"SELECT * FROM {name}")).mappings()  # noqa: S608
            found |= {name for row in rows if any(words in str(value) for value in row.values())}
    return sorted(found)
