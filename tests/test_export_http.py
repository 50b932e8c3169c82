"""A person gets all that is kept of them, with counts and hashes; nobody else gets any of it."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import FixedClock
from erasure_world import CANARY, ErasureWorld, erasure_world

from service.core.database import Database
from service.core.hashing import hash_text


@pytest.fixture
def world(database: Database, tmp_path: Path, clock: FixedClock) -> Iterator[ErasureWorld]:
    with erasure_world(database, tmp_path / "data", clock) as world:
        yield world


def test_an_export_holds_all_of_a_person_and_nothing_of_others(world: ErasureWorld) -> None:
    left = world.leave_traces()
    other = world.leave_traces(name="user-2")

    answer = world.memories.site.client.get("/v1/subjects/user-1/export", headers=world.user())

    assert answer.status_code == 200
    found = answer.json()
    for name, section in found["manifest"]["sections"].items():
        items = found["contents"][name]
        written = json.dumps(items, ensure_ascii=False, separators=(",", ":"))
        assert section == {"count": len(items), "sha256": hash_text(written)}, name
    contents = found["contents"]
    [memory] = contents["memories"]
    assert (memory["id"], memory["text"]) == (left.memory, f"Likes {CANARY}")
    assert [version["text"] for version in memory["history"]] == [f"Likes {CANARY}"]
    assert left.package in {use["package_id"] for use in memory["uses"]}
    [run] = contents["executions"]
    assert run["id"] == left.run
    assert CANARY in run["turns"][0]["text"]
    assert run["summaries"][0]["text"] == CANARY
    assert run["state"]["plan"] == [CANARY]
    assert [item["id"] for item in contents["evidence"]] == [left.evidence]
    assert contents["evidence"][0]["text"] == f"About {CANARY}"
    assert contents["consents"][0]["granted"]
    assert len(contents["proposals"]) == len(contents["delegations"]) == 1
    assert not {other.run, other.memory, other.evidence} & set(answer.text.split('"'))


def test_an_export_reads_well_and_runs_nothing(world: ErasureWorld) -> None:
    world.leave_traces()
    world.evidence(world.user(), subjects=["user-1"], uri="doc://x", title="<script>alert(1)</script>")
    headers = world.user() | {"Accept": "text/html,application/json;q=0.9"}

    answer = world.memories.site.client.get("/v1/subjects/user-1/export", headers=headers)

    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert answer.headers["content-security-policy"].startswith("default-src 'none'")
    assert f"Likes {CANARY}" in answer.text
    assert "<script" not in answer.text
    assert "&lt;script&gt;" in answer.text


def test_nobody_but_the_person_gets_an_export(world: ErasureWorld) -> None:
    world.leave_traces()

    path = "/subjects/user-1/export"
    for who in (world.user(name="user-2"), world.user("globex", "user-1")):
        code = 404 if who == world.user(name="user-2") else 200
        found = world.call("GET", path, who, expect=code)
        assert CANARY not in str(found)
    for who in (world.agent(), world.admin(), world.memories.of("reviewer", "reviewer-1")):
        world.call("GET", path, who, expect=403)


def test_what_was_erased_is_not_exported(world: ErasureWorld) -> None:
    left = world.leave_traces()
    world.call("DELETE", f"/memories/{left.memory}", world.user())

    contents = world.call("GET", "/subjects/user-1/export", world.user())["contents"]

    assert contents["memories"] == []
    assert f"Likes {CANARY}" not in str(contents)
    assert [erasure["kind"] for erasure in contents["erasures"]] == ["memory"]


def test_an_export_is_made_anew_each_time_whatever_key_it_comes_with(world: ErasureWorld) -> None:
    left = world.leave_traces()
    headers = world.user() | {"Idempotency-Key": "k-7"}
    client = world.memories.site.client
    before = client.get("/v1/subjects/user-1/export", headers=headers)
    assert left.memory in before.text

    world.call("DELETE", f"/memories/{left.memory}", world.user())
    after = client.get("/v1/subjects/user-1/export", headers=headers)

    assert after.json()["contents"]["memories"] == []
    assert "Idempotent-Replayed" not in after.headers
