"""Decisions: bound to what was seen, single, by the right people, one at a time or many."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from conftest import FixedClock
from memories_world import MemoryWorld, memory_world

from service.audit.tables import AuditEventRow
from service.core.database import Database
from service.memories.tables import MemoryRow, ProposalRow


@pytest.fixture
def world(database: Database, tmp_path: Path, clock: FixedClock) -> Iterator[MemoryWorld]:
    with memory_world(database, tmp_path, clock) as world:
        world.consent()
        yield world


def waiting(world: MemoryWorld, **changes: Any) -> str:
    answer = world.propose(world.turn(), **{"confidence": 0.6, **changes})
    assert answer["decision"] == "pending_review", answer
    return str(answer["id"])


def seen_hash(world: MemoryWorld, proposal_id: str, who: dict[str, str] | None = None) -> str:
    return str(world.call("GET", f"/memory-proposals/{proposal_id}", who or world.user)["content_hash"])


def decide(
    world: MemoryWorld, proposal_id: str, who: dict[str, str] | None = None, *, expect: int = 200, **word: Any
) -> Any:
    body = {"decision": "approve", **word}
    return world.call(
        "POST", f"/memory-proposals/{proposal_id}/decision", who or world.user, body, expect=expect
    )


def decide_many(world: MemoryWorld, *words: dict[str, Any], preview: bool = False, **headers: str) -> Any:
    body = {"decisions": list(words), "preview": preview}
    return world.call("POST", "/memory-proposals/decisions", {**world.user, **headers}, body)


def test_a_decision_with_the_hash_of_what_was_seen_counts(world: MemoryWorld) -> None:
    proposal = waiting(world)

    assert decide(world, proposal, content_hash=seen_hash(world, proposal))["decision"] == "approved"
    assert world.search(world.agent) == ["Prefers concise explanations"]


@pytest.mark.parametrize("word", ["approve", "reject"])
def test_nothing_is_decided_about_a_value_that_was_replaced_meanwhile(world: MemoryWorld, word: str) -> None:
    world.propose(world.turn(), text="Prefers detailed explanations")
    proposal = waiting(world)
    before = seen_hash(world, proposal)
    world.propose(world.turn(), text="Prefers no explanations")

    refused = decide(world, proposal, decision=word, content_hash=before, expect=409)

    assert (refused["code"], refused["review"]) == ("proposal_changed", proposal)
    assert world.search(world.agent) == ["Prefers no explanations"]
    after = world.call("GET", f"/memory-proposals/{proposal}", world.user)
    assert after["replaces"]["text"] == "Prefers no explanations"
    assert after["content_hash"] != before
    assert decide(world, proposal, content_hash=after["content_hash"])["decision"] == "approved"


def test_a_correction_of_what_it_would_replace_makes_an_approval_stale(world: MemoryWorld) -> None:
    memory = world.propose(world.turn(), text="Prefers detailed explanations")["memory"]["id"]
    proposal = waiting(world)
    before = seen_hash(world, proposal)
    corrected = {"text": "Prefers very detailed explanations"}
    path = f"/memories/{memory}/corrections"
    world.call("POST", path, {**world.user, "If-Match": '"1"'}, corrected, expect=201)

    assert decide(world, proposal, content_hash=before, expect=409)["code"] == "proposal_changed"
    assert world.call("GET", f"/memory-proposals/{proposal}", world.user)["replaces"]["version"] == 2


def test_the_hash_of_another_proposal_decides_nothing(world: MemoryWorld) -> None:
    one, other = waiting(world), waiting(world)

    assert seen_hash(world, one) != seen_hash(world, other)
    assert decide(world, one, content_hash=seen_hash(world, other), expect=409)["code"] == "proposal_changed"
    assert decide(world, one, content_hash="nonsense", expect=422)["code"] == "invalid"


def test_of_two_decisions_at_once_one_counts(world: MemoryWorld) -> None:
    proposal = waiting(world)
    bound = {"content_hash": seen_hash(world, proposal)}
    path = f"/v1/memory-proposals/{proposal}/decision"

    def send(word: str) -> int:
        body = {"decision": word, **bound}
        return int(world.site.client.post(path, headers=world.user, json=body).status_code)

    with ThreadPoolExecutor(4) as pool:
        statuses = list(pool.map(send, ["approve", "reject", "approve", "reject"]))

    assert sorted(statuses) == [200, 409, 409, 409]
    assert decide(world, proposal, expect=409)["code"] == "proposal_decided"


def test_many_are_decided_each_by_itself_and_the_refused_hold_up_none(world: MemoryWorld) -> None:
    kept, stale, rejected = waiting(world), waiting(world, key="language"), waiting(world, key="length")
    decided = waiting(world, key="greeting")
    decide(world, decided, decision="reject")

    answer = decide_many(
        world,
        {"id": kept, "decision": "approve", "content_hash": seen_hash(world, kept)},
        {"id": stale, "decision": "approve", "content_hash": seen_hash(world, kept)},
        {"id": rejected, "decision": "reject", "reason": "not so"},
        {"id": decided, "decision": "approve"},
        {"id": "01936d7e-5d5c-7c3e-9d0a-6c1f0f3f7a11", "decision": "approve"},
        {"id": "nonsense", "decision": "approve"},
    )

    items = answer["items"]
    assert [one["id"] for one in items[:4]] == [kept, stale, rejected, decided]
    assert [(one["status"], one["code"], one["decision"]) for one in items] == [
        (200, None, "approved"),
        (409, "proposal_changed", None),
        (200, None, "denied"),
        (409, "proposal_decided", None),
        (404, "not_found", None),
        (404, "not_found", None),
    ]
    assert items[0]["memory"]["version"] == 1
    assert world.site.count(MemoryRow) == 1
    assert seen_hash(world, stale)


def test_a_preview_says_what_would_happen_and_changes_nothing(world: MemoryWorld) -> None:
    kept, rejected = waiting(world), waiting(world, key="language")
    words = ({"id": kept, "decision": "approve"}, {"id": rejected, "decision": "reject"})
    events = world.site.count(AuditEventRow)

    foreseen = decide_many(world, *words, preview=True, **{"Idempotency-Key": "k"})

    assert [one["decision"] for one in foreseen["items"]] == ["approved", "denied"]
    assert (foreseen["preview"], foreseen["items"][0]["memory"]) == (True, None)
    assert world.site.count(MemoryRow) == 0
    assert world.site.count(AuditEventRow) == events
    assert [one["decision"] for one in decide_many(world, *words)["items"]] == ["approved", "denied"]


def test_a_preview_tells_that_consent_is_gone(world: MemoryWorld) -> None:
    proposal = waiting(world)
    world.consent(granted=False)

    [item] = decide_many(world, {"id": proposal, "decision": "approve"}, preview=True)["items"]

    assert (item["decision"], [reason["code"] for reason in item["reasons"]]) == (
        "denied",
        ["consent_missing"],
    )


def test_many_decisions_sent_twice_with_a_key_count_once(world: MemoryWorld) -> None:
    word = {"id": waiting(world), "decision": "approve"}
    body = {"decisions": [word]}
    headers = {**world.user, "Idempotency-Key": "batch-1"}

    first, again = (
        world.site.client.post("/v1/memory-proposals/decisions", headers=headers, json=body) for _ in range(2)
    )

    assert first.json() == again.json()
    assert again.headers["Idempotent-Replayed"] == "true"
    assert first.json()["items"][0]["decision"] == "approved"


def test_who_may_not_decide_is_refused_for_each_and_it_is_recorded(world: MemoryWorld) -> None:
    body = {"decisions": [{"id": waiting(world), "decision": "approve"}]}
    path = "/memory-proposals/decisions"
    # It is about them and so theirs to see, but not in this role to decide.
    themselves = world.of("reviewer", "user-1")
    events = world.site.count(AuditEventRow)
    [about_them] = world.call("POST", path, themselves, body)["items"]
    [unseen] = world.call("POST", path, world.of("reviewer", "rev-1"), body)["items"]

    assert (about_them["status"], about_them["code"]) == (403, "decision_not_yours")
    assert (unseen["status"], unseen["code"]) == (404, "not_found")
    assert world.site.count(AuditEventRow) == events + 1
    world.call("POST", path, world.agent, body, expect=403)


@pytest.mark.parametrize("count", [0, 101])
def test_a_batch_holds_one_to_a_hundred(world: MemoryWorld, count: int) -> None:
    word = {"id": "01936d7e-5d5c-7c3e-9d0a-6c1f0f3f7a11", "decision": "approve"}
    body = {"decisions": [word] * count}

    world.call("POST", "/memory-proposals/decisions", world.user, body, expect=422)


def test_where_both_decide_it_takes_the_subject_and_somebody_else(
    database: Database, tmp_path: Path, clock: FixedClock
) -> None:
    changes = {"approval: {by: subject}": "approval: {by: both}"}
    with memory_world(database, tmp_path, clock, changes=changes) as world:
        world.consent(purpose="contact")
        contact = {"class": "contact_detail", "purpose": "contact", "key": "email", "text": "ada@example.org"}
        proposal = waiting(world, **contact, confidence=0.9)
        themselves = world.of("reviewer", "user-1")
        reviewer = world.of("reviewer", "rev-1")

        first = decide(world, proposal, content_hash=seen_hash(world, proposal))
        assert first["decision"] == "pending_review"
        assert decide(world, proposal, themselves, expect=403)["code"] == "decision_not_yours"
        seen = world.call("GET", f"/memory-proposals/{proposal}", reviewer)
        assert (seen["may_decide_as"], seen["approvals"]) == ("reviewer", ["subject"])
        second = decide(world, proposal, reviewer, content_hash=seen["content_hash"])

    assert second["decision"] == "approved"


def test_reviewers_with_overlapping_lists_never_wait_for_each_other(world: MemoryWorld) -> None:
    mine = [waiting(world, key=f"key_{number}") for number in range(6)]

    def send(order: list[str]) -> list[int]:
        body = {"decisions": [{"id": one, "decision": "reject"} for one in order]}
        answer = world.site.client.post("/v1/memory-proposals/decisions", headers=world.user, json=body)
        return [item["status"] for item in answer.json()["items"]]

    with ThreadPoolExecutor(2) as pool:
        one, other = pool.map(send, [mine, mine[::-1]])

    assert sorted([*one, *other]) == [200] * 6 + [409] * 6
    assert world.site.count(ProposalRow) == 6
