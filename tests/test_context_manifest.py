"""A digest that a reader who knows nothing of ours recomputes; each choice in words; what was erased."""

import hashlib
import json
from typing import Any

import pytest
from conftest import FixedClock
from memories_world import MemoryWorld, memory_world

from service.context.explain import why_item, why_omission
from service.context.model import OmissionReason
from service.core.database import Database

ASKED = {
    "project": "alpha",
    "purpose": "personalisation",
    "query": "status of plot 18",
    "max_tokens": 4_000,
}
SCHEMA = {"type": "object", "maximum": 2**63 - 1, "z": {"\u00e9": [1.5, -2]}, "a": {"\U0001f600": None}}
TOOLS = [{"name": "plots_read", "description": "Reads \u2028 plots", "schema": SCHEMA, "effect": "read"}]


@pytest.fixture
def world(database: Database, tmp_path: Any, clock: FixedClock) -> Any:
    with memory_world(database, tmp_path, clock) as world:
        yield world


def _evidence(world: MemoryWorld, uri: str = "doc://plots/18", **fields: Any) -> str:
    source = {"uri": uri, "kind": "document", "observed_at": "2026-11-30T09:00:00Z"}
    body = {"project": "alpha", "text": f"Plot 18: outline consent granted, says {uri}.", "source": source}
    return str(world.call("POST", "/evidence", world.agent, {**body, **fields}, expect=201)["id"])


def _build(world: MemoryWorld, **fields: Any) -> Any:
    return world.call("POST", "/context-packages", world.agent, {**ASKED, **fields}, expect=201)


def _explain(world: MemoryWorld, package: Any) -> Any:
    return world.call("GET", f"/context-packages/{package['id']}", world.agent)


def digest_by_hand(package: Any) -> str:
    """Answer the digest of an answer: sorted keys, no spaces, UTF-8, SHA-256, as the docs say."""

    def canonical(value: Any) -> str:
        return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))

    def sha256(text: str) -> str:
        return f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"

    sections = [
        [section["name"], [[item["id"], item["version"], item["sha256"]] for item in section["items"]]]
        for section in package["sections"]
    ]
    omissions = [
        [one["section"], one["kind"], one["id"], one["version"], one["reason"]]
        for one in package["omissions"]
    ]
    parts = {name: package[name] for name in ("degraded", "encoding", "policy_version", "profile_version")}
    hashes = {
        "content": sha256(canonical(package["rendered"])),
        "sections": sha256(canonical(sections)),
        "omissions": sha256(canonical(omissions)),
    }
    return sha256(canonical({**parts, **hashes}))


def test_anybody_can_recompute_the_digest_of_an_answer(world: MemoryWorld) -> None:
    _evidence(world)
    _evidence(world, "doc://old", fresh_until="2026-11-30T09:30:00Z")

    for render in ("markdown", "openai", "anthropic"):
        package = _build(world, render=render, tools=TOOLS)
        assert digest_by_hand(package) == package["digest"] == _explain(world, package)["digest"]
        # The order in which a program keeps keys is no part of it.
        shuffled = json.loads(json.dumps(package, sort_keys=True))
        assert digest_by_hand(shuffled) == package["digest"]


@pytest.mark.parametrize(
    "change",
    [
        lambda package: package["rendered"].update(text=package["rendered"]["text"] + " "),
        lambda package: package["sections"][6]["items"][0].update(version=2),
        lambda package: package["omissions"].clear(),
        lambda package: package.update(encoding="cl100k_base"),
        lambda package: package["degraded"].append("evidence"),
    ],
)
def test_whatever_is_changed_afterwards_does_not_fit_the_digest(world: MemoryWorld, change: Any) -> None:
    _evidence(world)
    _evidence(world, "doc://old", fresh_until="2026-11-30T09:30:00Z")
    package = _build(world)

    change(package)

    assert digest_by_hand(package) != package["digest"]


def test_every_item_and_omission_of_a_full_package_says_why_in_words(world: MemoryWorld) -> None:
    world.consent()
    world.propose(world.turn())
    run = world.call("GET", "/executions", world.agent)["items"][0]["id"]
    for number in range(9):
        turn = {"role": "user", "text": f"{number}: plot {number} is dry"}
        world.call("POST", f"/executions/{run}/turns", world.agent, turn, expect=201)
    for kind in ("question", "blocker"):
        pin = {"kind": kind, "text": "who owns plot 18?"}
        world.call("POST", f"/executions/{run}/pins", world.agent, pin, expect=201)
    seen = {
        "source": {"uri": "tool://register", "kind": "tool", "observed_at": "2026-11-30T09:00:00Z"},
        "content": "plot 18 is dry",
    }
    world.call("POST", f"/executions/{run}/observations", world.agent, seen, expect=201)
    _evidence(world)
    _evidence(world, "doc://old", fresh_until="2026-11-30T09:30:00Z")
    write = {"name": "plots_write", "schema": {}, "effect": "write"}

    package = _build(world, execution_id=run, tools=[*TOOLS, write])
    explained = _explain(world, package)

    items = [item for section in explained["sections"] for item in section["items"]]
    whys = {(item["kind"], item["why"]) for item in items}
    assert {kind for kind, _ in whys} >= {
        "instruction", "tool", "scope", "objective", "pin", "turn", "memory", "evidence", "observation",
        "limit",
    }  # fmt: skip
    assert all(why.startswith("in: ") and len(why) > 12 for _, why in whys)
    assert ("turn", "in: among the newest that were said") in whys
    assert ("observation", "in: the newest result of its source") in whys
    assert ("instruction", "in: the profile names it") in whys
    assert ("pin", "in: what binds or blocks the run is never left out") in whys
    assert ("pin", "in: pinned, and not settled") in whys
    assert any(kind == "evidence" and "ranked by score" in why for kind, why in whys)
    assert {one["reason"] for one in explained["omissions"]} >= {"stale", "recovery"}
    assert all(one["why"].startswith("left out: ") for one in explained["omissions"])
    assert "plot" not in json.dumps([items, explained["omissions"]]).replace("plots_", "")


def test_every_reason_and_every_manner_of_being_in_has_words() -> None:
    omission = {"would_fit_with": None}
    item: dict[str, Any] = {
        "kind": "evidence", "required": False, "scores": {}, "card": False, "truncated": None,
    }  # fmt: skip

    words = {reason: why_omission({**omission, "reason": reason.value}) for reason in OmissionReason}
    fits = why_omission({"reason": "over_budget", "would_fit_with": 900})

    assert len(set(words.values())) == len(OmissionReason)
    assert fits.endswith("it would be in with max_tokens 900")
    assert why_item(item) == "in: wanted, and it fitted"
    assert why_item({**item, "card": True}).endswith("; as a card, since the whole did not fit")
    assert why_item({**item, "truncated": {"kept": 9, "of": 20}}).endswith("; cut to 9 of 20 tokens")
    assert (
        why_item({**item, "scores": {"declared_input": 1.0}})
        == "in: the task at hand declares it as an input"
    )
    older = why_item({**item, "kind": "turn", "scores": {"relevance": 0.42, "recency": 0.0}})
    assert older == "in: said earlier, relevance 0.42 to the query"


def test_what_was_erased_explains_itself_by_its_id_and_hash_alone(world: MemoryWorld) -> None:
    world.consent()
    memory = str(world.propose(world.turn())["memory"]["id"])
    shown, left_out = _evidence(world), _evidence(world, "doc://old", fresh_until="2026-11-30T09:30:00Z")
    package = _build(world)
    before = _explain(world, package)

    for evidence in (shown, left_out):
        world.call("DELETE", f"/evidence/{evidence}", world.agent)
    world.call("DELETE", f"/memories/{memory}", world.user)
    after = _explain(world, package)

    def entry(explained: Any, item_id: str) -> Any:
        parts = [*explained["sections"], {"items": explained["omissions"]}]
        return next(item for part in parts for item in part["items"] if item["id"] == item_id)

    for item_id in (shown, memory):
        was, now = entry(before, item_id), entry(after, item_id)
        assert now["why"] == "erased since: its id and its hash are all that is left"
        kept = ("id", "kind", "version", "citation", "tokens", "sha256", "keyed_hash")
        assert {name: now[name] for name in kept} == {name: was[name] for name in kept}
        assert now["sha256"] or now["keyed_hash"]
        assert now["scores"] == {}
        assert (now["span"], now["authority"], now["trust"]) == (None, None, None)
    assert entry(after, left_out)["why"].startswith("erased since")
    assert entry(after, left_out)["scores"] == {}
    assert after["digest"] == before["digest"]
