"""Who reads which memory: consent, purpose, expiry and person are asked anew at each request."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import FixedClock
from memories_world import MemoryWorld, memory_world

from service.core.database import Database

CONVENTION = {
    "class": "project_convention",
    "subject": None,
    "key": "date_format",
    "text": "Dates are written day first",
    "purpose": "service",
}


@pytest.fixture
def world(database: Database, tmp_path: Path, clock: FixedClock) -> Iterator[MemoryWorld]:
    with memory_world(database, tmp_path, clock) as world:
        world.consent()
        yield world


def test_withdrawn_consent_hides_from_the_next_request_on_and_shows_the_person_what_is_left(
    world: MemoryWorld,
) -> None:
    memory = world.propose(world.turn())["memory"]

    world.consent(granted=False)

    assert world.search(world.agent) == []
    world.call("GET", f"/memories/{memory['id']}", world.agent, expect=404)
    assert world.call("GET", f"/memories/{memory['id']}", world.user)["version"] == 1
    world.consent()
    assert world.search(world.agent) == ["Prefers concise explanations"]


def test_consent_has_a_history_and_belongs_to_the_person_alone(world: MemoryWorld) -> None:
    world.consent(granted=False)

    items = world.call("GET", "/consents?subject=user-1", world.user)["items"]

    assert [(item["purpose"], item["granted"]) for item in items] == [("personalisation", False)]
    assert [act["granted"] for act in items[0]["history"]] == [True, False]
    yes = {"subject": "user-1", "granted": True, "text_version": "1"}
    world.call("PUT", "/consents/personalisation", world.of("user", "user-2"), yes, expect=404)
    world.call("PUT", "/consents/personalisation", world.agent, yes, expect=403)


def test_a_memory_ends_at_its_expiry_and_reading_does_not_prolong_it(
    world: MemoryWorld, clock: FixedClock
) -> None:
    memory = world.propose(world.turn())["memory"]
    clock.advance(days=364)
    assert world.search(world.agent) == ["Prefers concise explanations"]

    clock.advance(days=2)

    assert world.search(world.agent) == []
    assert world.call("GET", f"/memories/{memory['id']}", world.user)["status"] == "expired"


def test_another_purpose_another_person_and_an_agent_for_nobody_find_nothing(world: MemoryWorld) -> None:
    memory = world.propose(world.turn())["memory"]

    assert world.search(world.agent, purpose="service") == []
    for stranger in (
        world.of("user", "user-2"),
        world.of("agent", "agent-1", for_user="user-2"),
        world.of("agent", "agent-3"),
        world.of("user", "user-1", tenant="other"),
    ):
        assert world.search(stranger) == []
        world.call("GET", f"/memories/{memory['id']}", stranger, expect=404)
        assert world.call("GET", "/memories", stranger)["items"] == []


def test_a_projects_convention_waits_for_a_reviewer_and_then_serves_everybody_in_it(
    world: MemoryWorld,
) -> None:
    waiting = world.propose(world.turn(), **CONVENTION)
    assert waiting["decision"] == "pending_review"
    path = f"/memory-proposals/{waiting['id']}/decision"
    reviewer = world.of("reviewer", "reviewer-1")
    queue = world.call("GET", "/memory-proposals?decision=pending_review", reviewer)["items"]
    assert [item["text"] for item in queue] == ["Dates are written day first"]

    world.call("POST", path, world.agent, {"decision": "approve"}, expect=403)
    world.call("POST", path, world.user, {"decision": "approve"}, expect=404)
    decided = world.call("POST", path, reviewer, {"decision": "approve"})

    assert decided["decision"] == "approved"
    world.call("POST", path, reviewer, {"decision": "reject"}, expect=409)
    other = world.of("agent", "agent-2", for_user="user-2")
    assert world.search(other, purpose="service") == ["Dates are written day first"]


def test_the_subject_decides_what_an_agent_inferred_and_a_refusal_keeps_no_words(world: MemoryWorld) -> None:
    waiting = world.propose(world.turn(), confidence=0.6)
    assert waiting["decision"] == "pending_review"
    path = f"/memory-proposals/{waiting['id']}/decision"

    refused = world.call("POST", path, world.user, {"decision": "reject", "reason": "I never said so"})

    assert refused["decision"] == "denied"
    assert world.search(world.agent) == []
    listed = world.call("GET", "/memory-proposals", world.user)["items"]
    shown = [(item["text"], item["decision"], item["decision_reason"]) for item in listed]
    assert shown == [(None, "denied", "I never said so")]


def test_an_approval_after_consent_was_withdrawn_keeps_nothing(world: MemoryWorld) -> None:
    waiting = world.propose(world.turn(), confidence=0.6)
    world.consent(granted=False)

    path = f"/memory-proposals/{waiting['id']}/decision"
    decided = world.call("POST", path, world.user, {"decision": "approve"})

    assert decided["decision"] == "denied"
    assert [reason["code"] for reason in decided["reasons"]] == ["consent_missing"]
    assert world.call("GET", "/memories", world.user)["items"] == []


def test_a_person_confirms_what_they_handed_in_themselves(world: MemoryWorld) -> None:
    world.consent(purpose="contact")
    contact = {"class": "contact_detail", "key": "email", "text": "ann@example.org", "purpose": "contact"}
    waiting = world.propose(world.turn(), who=world.user, **contact)
    assert waiting["decision"] == "pending_review"

    path = f"/memory-proposals/{waiting['id']}/decision"
    decided = world.call("POST", path, world.user, {"decision": "approve"})

    assert decided["decision"] == "approved"
    assert world.search(world.agent, purpose="contact") == ["ann@example.org"]
