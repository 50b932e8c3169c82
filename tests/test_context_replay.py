"""A package can be built again and held against another, and each difference names its cause."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import FixedClock
from memories_world import POLICIES, MemoryWorld, memory_world
from sqlalchemy import update
from sqlmodel import col

from service.context.compare import compare_manifests
from service.context.tables import PackageRow
from service.core.database import Database
from service.policies.load import load_bundle
from service.policies.read_folder import read_folder
from service.policies.store import PolicyStore
from service.policies.tables import PolicyActiveRow

ASKED = {
    "project": "alpha",
    "purpose": "personalisation",
    "query": "status of plot 18",
    "max_tokens": 2_000,
}


@pytest.fixture
def world(database: Database, tmp_path: Path, clock: FixedClock) -> Iterator[MemoryWorld]:
    with memory_world(database, tmp_path, clock) as world:
        yield world


def _evidence(world: MemoryWorld, text: str = "Plot 18: outline consent granted.", **fields: Any) -> str:
    body = {
        "project": "alpha",
        "text": text,
        "source": {
            "uri": "doc://plots/18",
            "kind": "document",
            "observed_at": "2026-11-30T09:00:00Z",
        },
        **fields,
    }
    return str(world.call("POST", "/evidence", world.agent, body, expect=201)["id"])


def _memory(world: MemoryWorld) -> str:
    world.consent()
    return str(world.propose(world.turn())["memory"]["id"])


def _build(world: MemoryWorld, **fields: Any) -> Any:
    return world.call("POST", "/context-packages", world.agent, {**ASKED, **fields}, expect=201)


def _replay(world: MemoryWorld, package: Any) -> Any:
    return world.call("POST", f"/context-packages/{package['id']}/replay", world.agent)


def _causes(replayed: Any) -> set[tuple[str, str]]:
    return {(one["ref"], one["cause"]) for one in replayed["differences"]}


def _activate(world: MemoryWorld, old: str, new: str) -> None:
    files = dict(read_folder(POLICIES))
    assert old in files["classes.yaml"]
    files["classes.yaml"] = files["classes.yaml"].replace(old, new)
    tenant_id = world.site.tenants["acme"]
    with world.site.runtime.database.write(tenant_id) as session:
        version = load_bundle(files).version
        PolicyStore(session, tenant_id).add_version(version, files, now=world.site.clock())
        session.connection().execute(
            update(PolicyActiveRow).where(col(PolicyActiveRow.tenant_id) == tenant_id).values(version=version)
        )


@pytest.mark.parametrize("render", ["markdown", "openai", "anthropic"])
def test_what_nobody_touched_comes_out_byte_for_byte_days_later(
    world: MemoryWorld, clock: FixedClock, render: str
) -> None:
    _evidence(world)
    _evidence(world, "Plot 18 lies by the river.", source={"uri": "doc://b", "kind": "document"})
    _memory(world)
    tool = {"name": "plots_read", "description": "Reads", "schema": {"type": "object"}, "effect": "read"}
    package = _build(world, render=render, tools=[tool], sections={"evidence": {"max": 500}})

    clock.advance(days=20)
    replayed = _replay(world, package)

    assert replayed == {"identical": True, "digest": package["digest"], "differences": []}


def test_a_run_that_went_on_differs_by_data(world: MemoryWorld) -> None:
    run = world.call(
        "POST",
        "/executions",
        world.agent,
        {"project": "alpha", "objective": "answer", "requirements": []},
        expect=201,
    )
    said = f"/executions/{run['id']}/turns"
    world.call("POST", said, world.agent, {"role": "user", "text": "What is plot 18?"}, expect=201)
    package = _build(world, execution_id=run["id"])
    assert _replay(world, package)["identical"]

    turn = world.call("POST", said, world.agent, {"role": "user", "text": "And plot 19?"}, expect=201)
    replayed = _replay(world, package)

    assert not replayed["identical"]
    assert {cause for _, cause in _causes(replayed)} == {"data"}
    assert f"turn:{turn['id']}" in {ref for ref, _ in _causes(replayed)}


def test_an_erased_item_is_named_by_its_id_and_by_erasure(world: MemoryWorld) -> None:
    evidence, memory = _evidence(world), _memory(world)
    package = _build(world)

    world.call("DELETE", f"/memories/{memory}", world.user)
    world.call("DELETE", f"/evidence/{evidence}", world.agent)
    replayed = _replay(world, package)
    explained = world.call("GET", f"/context-packages/{package['id']}", world.agent)

    assert {(f"memory:{memory}", "erasure"), (f"evidence:{evidence}", "erasure")} <= _causes(replayed)
    assert {cause for _, cause in _causes(replayed)} == {"erasure"}
    assert "outline consent" not in str(explained)
    assert "concise" not in str(replayed)


def test_what_ran_out_differs_by_expiry(world: MemoryWorld, clock: FixedClock) -> None:
    evidence = _evidence(world, fresh_until="2026-12-05T10:00:00Z")
    memory = _memory(world)
    package = _build(world)

    clock.advance(days=6)
    stale = _replay(world, package)
    clock.advance(days=400)
    expired = _replay(world, package)

    assert _causes(stale) == {(f"evidence:{evidence}", "expiry")}
    assert _causes(expired) == {(f"evidence:{evidence}", "expiry"), (f"memory:{memory}", "expiry")}


def test_a_newer_version_and_a_withdrawn_consent_are_data(world: MemoryWorld) -> None:
    evidence, memory = _evidence(world), _memory(world)
    package = _build(world)

    _evidence(world, "Plot 18: full consent granted.")
    world.consent(granted=False)

    assert {(f"evidence:{evidence}", "data"), (f"memory:{memory}", "data")} <= _causes(
        _replay(world, package)
    )


def test_another_policy_is_told_as_such(world: MemoryWorld) -> None:
    memory = _memory(world)
    package = _build(world)

    _activate(world, "destinations: [package, search, export]", "destinations: [search]")
    replayed = _replay(world, package)

    assert ("policy_version", "policy") in _causes(replayed)
    assert (f"memory:{memory}", "policy") in _causes(replayed)


def test_what_the_run_keeps_no_text_of_cannot_be_asked_again(world: MemoryWorld) -> None:
    run = world.call(
        "POST",
        "/executions",
        world.agent,
        {"project": "alpha", "objective": "x", "requirements": [], "retention_class": "no_text"},
        expect=201,
    )
    package = _build(world, execution_id=run["id"])

    replayed = _replay(world, package)

    assert (replayed["identical"], replayed["digest"]) == (False, None)
    assert _causes(replayed) == {("request", "policy")}


def test_only_whom_it_was_built_for_replays_it_and_others_learn_nothing(world: MemoryWorld) -> None:
    package = _build(world)
    colleague = world.of("agent", "agent-2", for_user="user-2")
    stranger = world.of("agent", "agent-1", for_user="user-1", tenant="other")
    path = f"/context-packages/{package['id']}/replay"

    refused = world.call("POST", path, colleague, expect=403)
    absent = world.call("POST", path, stranger, expect=404)
    never = world.call("POST", f"/context-packages/{'0' * 36}/replay", world.agent, expect=404)

    assert refused["type"].endswith("package_of_another")
    assert absent["title"] == never["title"]


def test_a_replay_keeps_nothing_and_is_no_use_of_a_memory(world: MemoryWorld) -> None:
    memory = _memory(world)
    package = _build(world)
    before = world.call("GET", f"/memories/{memory}/uses", world.user)["items"]

    _replay(world, package)

    assert world.call("GET", f"/memories/{memory}/uses", world.user)["items"] == before
    assert world.site.count(PackageRow) == 1


def test_two_packages_are_told_apart_without_their_texts(world: MemoryWorld) -> None:
    evidence, memory = _evidence(world), _memory(world)
    first = _build(world)
    second = _build(world, max_tokens=1_900, sections={"evidence": {"max": 0}})

    diff = world.call("GET", f"/context-packages/{first['id']}/diff/{second['id']}", world.agent)
    same = world.call("GET", f"/context-packages/{first['id']}/diff/{first['id']}", world.agent)

    assert (same["identical"], same["items"], same["settings"]) == (True, [], [])
    assert (diff["identical"], diff["same_stable_prefix"]) == (False, True)
    assert [one["name"] for one in diff["settings"]] == ["max_tokens"]
    changed = {(one["kind"], one["id"]): one for one in diff["items"]}
    assert changed["evidence", evidence]["change"] == "removed"
    assert changed["evidence", evidence]["after"]["reason"] == "over_budget"
    assert ("memory", memory) not in changed
    assert "outline consent" not in str(diff)


def test_a_colleague_sees_no_foreign_memory_in_a_diff(world: MemoryWorld) -> None:
    memory = _memory(world)
    first = _build(world)
    second = _build(world, sections={"memories": {"max": 0}})
    path = f"/context-packages/{first['id']}/diff/{second['id']}"

    own = world.call("GET", path, world.agent)
    other = world.call("GET", path, world.of("agent", "agent-2", for_user="user-2"))
    world.call("GET", path, world.of("agent", "agent-1", for_user="user-1", tenant="other"), expect=404)

    assert memory in str(own["items"])
    assert memory not in str(other)


def test_what_stands_elsewhere_is_told_as_moved() -> None:
    def manifest(*ids: str) -> dict[str, Any]:
        items = [{"kind": "evidence", "id": one, "version": 1, "sha256": one} for one in ids]
        return {
            "sections": [{"name": "evidence", "used_tokens": 1, "items": items}],
            "omissions": [],
            "prefix_hashes": {"stable": "a", "session": "b"},
        }

    found = compare_manifests(manifest("a", "b", "c"), manifest("b", "a", "c"))

    assert [(one.id, one.change.value) for one in found.items] == [("a", "moved"), ("b", "moved")]
