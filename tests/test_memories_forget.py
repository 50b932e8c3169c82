"""Erasing a memory reaches every store, and nobody else's is touched."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from conftest import FixedClock
from memories_world import MemoryWorld, memory_world

from service.core import failpoints
from service.core.database import Database
from service.core.failpoints import Action
from service.memories.tables import MemoryRow, MemoryVersionRow
from service.retrieval.model import ItemKind


@pytest.fixture
def world(database: Database, tmp_path: Path, clock: FixedClock) -> Iterator[MemoryWorld]:
    with memory_world(database, tmp_path, clock) as world:
        world.consent()
        yield world
    failpoints.arm({})


def test_erasing_answers_a_verified_receipt_and_nothing_returns_it(world: MemoryWorld) -> None:
    memory = world.propose(world.turn())["memory"]
    kept = world.propose(world.turn(), key="language", text="Prefers English")["memory"]

    receipt = world.call("DELETE", f"/memories/{memory['id']}", world.user)["receipt"]

    assert receipt["status"] == "completed"
    names = {store["store"] for store in receipt["stores"]}
    assert names >= {"memories", "proposals", "idempotency", "lineage", "tombstones", "index"}
    assert {store["state"] for store in receipt["stores"]} == {"done"}
    assert all(store["verified"] for store in receipt["stores"])
    world.call("GET", f"/memories/{memory['id']}", world.user, expect=404)
    world.call("DELETE", f"/memories/{memory['id']}", world.user, expect=404)
    assert world.search(world.agent) == ["Prefers English"]
    assert world.site.count(MemoryRow) == world.site.count(MemoryVersionRow) == 1
    index, tenant_id = world.site.runtime.index, world.site.tenants["acme"]
    assert [key.item_id for key in index.list_keys(tenant_id, ItemKind.MEMORY)] == [kept["id"]]
    followed = world.call("GET", f"/erasures/{receipt['id']}", world.user)
    assert (followed["id"], followed["status"], followed["receipt"]) == (receipt["id"], "completed", receipt)
    assert followed["due_at"] == "2026-12-28T10:00:00Z"
    world.call("GET", f"/erasures/{receipt['id']}", world.of("user", "user-2"), expect=404)


def test_an_erasure_that_the_index_missed_is_running_until_it_is_followed_to_its_end(
    world: MemoryWorld,
) -> None:
    memory = world.propose(world.turn())["memory"]
    failpoints.arm({"erase.index.before": Action.RAISE})

    receipt = world.call("DELETE", f"/memories/{memory['id']}", world.user)["receipt"]
    unfinished = world.call("GET", f"/erasures/{receipt['id']}", world.user)
    failpoints.arm({})
    finished = world.call("GET", f"/erasures/{receipt['id']}", world.user)

    assert receipt["status"] == unfinished["status"] == "running"
    assert {store["state"] for store in receipt["stores"]} == {"pending"}
    assert unfinished["failure"] == "FailpointReached"
    assert unfinished["receipt"] == receipt
    assert finished["status"] == finished["receipt"]["status"] == "completed"
    assert finished["failure"] is None
    assert world.call("GET", f"/erasures/{receipt['id']}", world.user) == finished


def test_nobody_but_the_person_erases(world: MemoryWorld) -> None:
    memory = world.propose(world.turn())["memory"]

    world.call("DELETE", f"/memories/{memory['id']}", world.agent, expect=403)
    world.call("DELETE", f"/memories/{memory['id']}", world.of("user", "user-2"), expect=404)
    world.call("DELETE", f"/memories/{memory['id']}", world.of("user", "user-1", tenant="other"), expect=404)

    assert world.search(world.agent) == ["Prefers concise explanations"]


@pytest.mark.parametrize("ended_by", ["erasure", "withdrawal"])
def test_a_kept_package_answer_that_showed_the_memory_is_gone_with_it(
    world: MemoryWorld, ended_by: str
) -> None:
    memory = world.propose(world.turn())["memory"]
    asked = {
        "project": "alpha",
        "purpose": "personalisation",
        "query": "how should replies be written?",
        "encoding": "o200k_base",
        "max_tokens": 4_000,
        "reply_reserve": 0,
        "profile": "default",
        "render": "markdown",
    }
    headers = {**world.agent, "Idempotency-Key": "package-1"}
    assert (
        "concise" in world.call("POST", "/context-packages", headers, asked, expect=201)["rendered"]["text"]
    )

    if ended_by == "erasure":
        world.call("DELETE", f"/memories/{memory['id']}", world.user)
    else:
        world.consent(granted=False)

    world.call("POST", "/context-packages", headers, asked, expect=410)
    again = world.call("POST", "/context-packages", world.agent, asked, expect=201)
    assert "concise" not in again["rendered"]["text"]


def test_of_many_erasures_at_once_one_is_answered_with_a_receipt(world: MemoryWorld) -> None:
    path = f"/v1/memories/{world.propose(world.turn())['memory']['id']}"
    user = world.user

    with ThreadPoolExecutor(6) as pool:
        answers = list(pool.map(lambda _: world.site.client.delete(path, headers=user), range(6)))

    assert sorted(answer.status_code for answer in answers) == [200, *[404] * 5]


def test_of_many_proposals_at_once_one_value_is_active(world: MemoryWorld) -> None:
    turn = world.turn()

    def propose(number: int) -> str:
        return str(world.propose(turn, text=f"Prefers style {number}")["decision"])

    with ThreadPoolExecutor(8) as pool:
        decisions = list(pool.map(propose, range(8)))

    active = world.call("GET", "/memories?status=active", world.user)["items"]
    assert decisions == ["approved"] * 8
    assert len(active) == 1
    assert world.search(world.agent) == [active[0]["text"]]


def test_a_receipt_counts_what_each_store_really_held(world: MemoryWorld) -> None:
    turn = world.turn()
    old = world.propose(turn)["memory"]
    world.propose(turn, text="Prefers detailed explanations")

    receipt = world.call("DELETE", f"/memories/{old['id']}", world.user)["receipt"]

    removed = {store["store"]: store["removed"] for store in receipt["stores"]}
    # What is superseded has left the index before, and nothing kept an answer with it.
    held = {name: removed[name] for name in ("memories", "proposals", "idempotency", "index", "tombstones")}
    assert held == {"memories": 2, "proposals": 1, "idempotency": 0, "index": 0, "tombstones": 2}
    assert world.search(world.agent) == ["Prefers detailed explanations"]
