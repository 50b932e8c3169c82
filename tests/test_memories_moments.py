"""What is true when, and what was known when: within what the caller may read now."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import FixedClock
from memories_world import MemoryWorld, memory_world

from service.core.database import Database
from service.memories.tables import MemoryRow

OLD = "Prefers concise explanations"
NEW = "Prefers detailed explanations"
THEN = "2026-11-30T10:00:00Z"
LATER = "2026-12-10T10:00:00Z"
PACKAGE = {"project": "alpha", "purpose": "personalisation", "query": "explanations", "max_tokens": 4_000}


@pytest.fixture
def world(database: Database, tmp_path: Path, clock: FixedClock) -> Iterator[MemoryWorld]:
    with memory_world(database, tmp_path, clock) as world:
        world.consent()
        yield world


def correct(world: MemoryWorld, memory_id: str, body: dict[str, Any], version: int = 1) -> None:
    headers = {**world.user, "If-Match": f'"{version}"'}
    world.call("POST", f"/memories/{memory_id}/corrections", headers, body, expect=201)


def listed(world: MemoryWorld, query: str, who: dict[str, str] | None = None) -> list[str]:
    return [item["text"] for item in world.call("GET", f"/memories?{query}", who or world.user)["items"]]


def package(world: MemoryWorld, who: dict[str, str], **moments: str) -> str:
    built = world.call("POST", "/context-packages", who, {**PACKAGE, **moments}, expect=201)
    return str(built["rendered"]["text"])


def test_only_what_is_true_at_the_moment_asked_about_is_found(world: MemoryWorld, clock: FixedClock) -> None:
    window = {"valid_from": "2026-12-01T00:00:00Z", "valid_until": "2026-12-24T00:00:00+01:00"}
    world.propose(world.turn(), **window)
    shown = world.call("GET", "/memories", world.user)["items"][0]
    assert (shown["valid_from"], shown["valid_until"]) == (
        "2026-12-01T00:00:00Z",
        "2026-12-23T23:00:00Z",
    )

    assert world.search(world.agent) == []
    assert OLD not in package(world, world.agent)
    assert world.search(world.agent, as_of=LATER) == [OLD]
    assert OLD in package(world, world.agent, as_of=LATER)
    assert listed(world, f"as_of={THEN}") == []
    assert listed(world, f"as_of={LATER}") == [OLD]
    assert listed(world, "") == [OLD]
    assert listed(world, "as_of=2026-12-23T23:00:00Z") == []
    clock.advance(days=5)
    assert world.search(world.agent) == [OLD]


def test_its_person_reads_what_was_known_before_a_correction_and_others_do_not(
    world: MemoryWorld, clock: FixedClock
) -> None:
    memory = world.propose(world.turn())["memory"]["id"]
    clock.advance(days=10)
    correct(world, memory, {"text": NEW})
    clock.advance(days=10)

    assert listed(world, f"known_at={THEN}") == [OLD]
    assert listed(world, f"known_at={LATER}") == [NEW]
    assert world.search(world.user, known_at=THEN) == [OLD]
    assert OLD in package(world, world.user, known_at=THEN)
    assert world.search(world.agent, known_at=THEN) == []
    assert listed(world, f"known_at={THEN}", world.agent) == []
    assert OLD not in package(world, world.agent, known_at=THEN)
    assert world.search(world.agent, known_at=LATER) == [NEW]
    assert world.search(world.of("user", "user-2"), known_at=THEN) == []
    assert world.search(world.of("user", "user-1", tenant="other"), known_at=THEN) == []


def test_what_was_superseded_was_known_until_then_and_both_share_a_conflict_group(
    world: MemoryWorld, clock: FixedClock
) -> None:
    turn = world.turn()
    world.propose(turn)
    clock.advance(days=10)
    world.propose(turn, text=NEW)

    items = world.call("GET", "/memories", world.user)["items"]

    groups = {item["conflict_group"] for item in items}
    assert len(groups) == 1
    assert None not in groups
    assert sorted(listed(world, f"conflict_group={groups.pop()}")) == [OLD, NEW]
    assert listed(world, f"known_at={THEN}") == [OLD]
    assert listed(world, f"known_at={LATER}") == [NEW]
    assert world.search(world.user, known_at=THEN) == [OLD]
    assert world.search(world.agent, known_at=THEN) == []
    told = package(world, world.agent, as_of=THEN)
    assert NEW in told
    assert "in conflict: another value was in force" in told
    assert OLD not in told
    assert "in conflict" not in package(world, world.agent)


def test_consent_pause_hold_and_expiry_are_judged_now_whatever_moment_is_asked_about(
    world: MemoryWorld, clock: FixedClock
) -> None:
    memory = world.propose(world.turn())["memory"]["id"]
    clock.advance(days=1)
    past = {"known_at": THEN, "as_of": THEN}
    assert world.search(world.agent, **past) == [OLD]

    world.consent(granted=False)
    assert world.search(world.agent, **past) == []
    assert OLD not in package(world, world.user, **past)
    world.consent()
    world.call("POST", f"/memories/{memory}/pause", world.user)
    assert world.search(world.user, **past) == []
    world.call("POST", f"/memories/{memory}/resume", world.user)
    clock.advance(days=365)
    assert world.search(world.user, **past) == []
    assert listed(world, f"known_at={THEN}") == [OLD]


def test_history_tells_its_person_all_and_an_agent_only_what_counts_now(
    world: MemoryWorld, clock: FixedClock
) -> None:
    memory = world.propose(world.turn())["memory"]["id"]
    clock.advance(days=10)
    correct(world, memory, {"text": NEW, "reason": "changed my mind", "valid_from": THEN})

    own = world.call("GET", f"/memories/{memory}/history", world.user)["items"]
    agents = world.call("GET", f"/memories/{memory}/history", world.agent)["items"]

    assert [(one["version"], one["act"], one["text"], one["reason"]) for one in own] == [
        (1, "proposed", OLD, None),
        (2, "corrected", NEW, "changed my mind"),
    ]
    assert [(one["at"], one["by"], one["valid_from"]) for one in own] == [
        (THEN, "agent:agent-1:for:user-1", None),
        (LATER, "user:user-1", THEN),
    ]
    assert [one["text"] for one in agents] == [None, NEW]
    for stranger in (world.of("user", "user-2"), world.of("user", "user-1", tenant="other")):
        world.call("GET", f"/memories/{memory}/history", stranger, expect=404)
    world.call("DELETE", f"/memories/{memory}", world.user)
    world.call("GET", f"/memories/{memory}/history", world.user, expect=404)


def test_a_moment_without_an_offset_is_no_moment(world: MemoryWorld) -> None:
    for path in ("as_of=2026-11-30T10:00:00", "known_at=2026-11-30", "as_of=1"):
        world.call("GET", f"/memories?{path}", world.user, expect=422)
    body = {"query": "x", "purpose": "personalisation", "known_at": "2026-11-30T10:00:00"}
    world.call("POST", "/memories/search", world.user, body, expect=422)
    world.call("POST", "/context-packages", world.user, {**PACKAGE, "as_of": "now"}, expect=422)
    window = {"valid_from": LATER, "valid_until": THEN}
    world.call("POST", "/memory-proposals", world.agent, world.proposal(world.turn(), **window), expect=422)
    assert world.site.count(MemoryRow) == 0
