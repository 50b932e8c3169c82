"""The review queue: what a person sees before they decide, in which order, and what stays hidden."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import FixedClock
from memories_world import QUOTE, MemoryWorld, memory_world

from service.core.database import Database


@pytest.fixture
def world(database: Database, tmp_path: Path, clock: FixedClock) -> Iterator[MemoryWorld]:
    with memory_world(database, tmp_path, clock) as world:
        world.consent()
        yield world


def waiting(world: MemoryWorld, turn: str | None = None, **changes: Any) -> str:
    answer = world.propose(turn or world.turn(), **{"confidence": 0.6, **changes})
    assert answer["decision"] == "pending_review", answer
    return str(answer["id"])


def convention(world: MemoryWorld, *, who: dict[str, str] | None = None, **changes: Any) -> str:
    rule = {"class": "project_convention", "subject": None, "purpose": "service", "key": "tone"}
    page = f"doc://{changes.get('key', 'tone')}-{len(changes.get('text', ''))}"
    cited = [{"kind": "evidence", "id": handbook(world, source=_source(page)), "quote": "plain words"}]
    words = {"text": "Write in plain words", "provenance": cited}
    return waiting(world, turn=None, who=who or world.agent, **{**rule, **words, **changes})


def handbook(world: MemoryWorld, **changes: Any) -> str:
    text = "x" * 500 + " We use plain words everywhere. " + "y" * 500
    body = {"project": "alpha", "text": text, **changes}
    return str(world.call("POST", "/evidence", world.user, body, expect=201)["id"])


def review(world: MemoryWorld, proposal_id: str, who: dict[str, str], *, expect: int = 200) -> Any:
    return world.call("GET", f"/memory-proposals/{proposal_id}", who, expect=expect)


def test_the_subject_sees_the_words_their_source_and_who_proposed_them(
    world: MemoryWorld, clock: FixedClock
) -> None:
    proposal = waiting(world)
    clock.advance(minutes=90)

    seen = review(world, proposal, world.user)

    assert (seen["text"], seen["key"], seen["confidence"]) == (
        "Prefers concise explanations",
        "reply_style",
        0.6,
    )
    assert seen["proposed_by"] == {"role": "agent", "sub": "user-1", "act": "agent-1"}
    assert seen["age_seconds"] == 5_400
    assert (seen["may_decide_as"], seen["approvals"], seen["replaces"]) == ("subject", [], None)
    [source] = seen["sources"]
    assert (source["quote"], source["start"], source["end"]) == (QUOTE, 7, 20)
    assert source["passage"]["text"] == f"Please {QUOTE}."
    assert seen["rule"]["because"]
    assert (seen["rule"]["lawful_basis"], seen["if_approved"]) == (
        "consent",
        {"decision": "approved", "reasons": []},
    )
    assert seen["content_hash"].startswith("sha256:")


def test_what_it_would_replace_is_shown_word_by_word(world: MemoryWorld) -> None:
    world.propose(world.turn(), text="Prefers detailed explanations")

    seen = review(world, waiting(world), world.user)

    assert (seen["replaces"]["text"], seen["replaces"]["version"]) == ("Prefers detailed explanations", 1)
    assert [(piece["op"], piece["text"]) for piece in seen["replaces"]["diff"]] == [
        ("keep", "Prefers "),
        ("remove", "detailed"),
        ("add", "concise"),
        ("keep", " explanations"),
    ]


def test_a_passage_is_cut_out_around_the_quote_and_only_for_who_may_read_it(world: MemoryWorld) -> None:
    reviewer = world.of("reviewer", "rev-1")
    open_one = review(world, convention(world), reviewer)["sources"][0]
    closed = handbook(world, readers=["user:user-1"], source=_source("doc://closed"))
    cited = [{"kind": "evidence", "id": closed, "quote": "plain words"}]
    hidden = review(world, convention(world, key="voice", provenance=cited), reviewer)

    passage = open_one["passage"]
    at = open_one["start"] - passage["text_start"]
    assert passage["text"][at : at + len("plain words")] == "plain words"
    assert len(passage["text"]) == 200 + len("plain words") + 200
    assert (hidden["sources"][0]["readable"], hidden["sources"][0]["passage"]) == (False, None)
    # Nor may it be approved by somebody who cannot check it.
    assert hidden["if_approved"]["reasons"][0]["code"] == "provenance_invalid"


def test_a_reviewer_who_may_not_read_the_old_value_learns_only_that_there_is_one(
    database: Database, tmp_path: Path, clock: FixedClock
) -> None:
    changes = {"readers: [agent, user, reviewer]": "readers: [agent, user]"}
    with memory_world(database, tmp_path, clock, changes=changes) as world:
        world.consent()
        reviewer = world.of("reviewer", "rev-1")
        first = convention(world, text="Write in grand words")
        world.call("POST", f"/memory-proposals/{first}/decision", reviewer, {"decision": "approve"})

        second = convention(world)
        seen = review(world, second, reviewer)
        theirs = review(world, second, world.agent)

    assert seen["replaces"] == {
        "readable": False, "memory_id": None, "version": None, "text": None, "value": None, "diff": []
    }  # fmt: skip
    assert theirs["replaces"]["text"] == "Write in grand words"


def test_nobody_else_sees_a_proposal(world: MemoryWorld) -> None:
    proposal = waiting(world)

    for stranger in (
        world.of("user", "user-2"),
        world.of("reviewer", "rev-1"),
        world.of("agent", "agent-2", for_user="user-2"),
        world.of("user", "user-1", tenant="globex"),
    ):
        review(world, proposal, stranger, expect=404)
    world.call("GET", f"/memory-proposals/{proposal}", world.of("auditor", "aud-1"), expect=403)


def test_another_agent_of_the_same_person_sees_no_words_of_a_waiting_proposal(world: MemoryWorld) -> None:
    waiting = world.propose(world.turn(), confidence=0.6)
    other = world.of("agent", "agent-2", for_user="user-1")

    assert world.call("GET", "/memory-proposals", other)["items"] == []
    world.call("GET", f"/memory-proposals/{waiting['id']}", other, expect=404)
    assert len(world.call("GET", "/memory-proposals", world.agent)["items"]) == 1


def test_what_is_decided_shows_no_words_and_no_hash(world: MemoryWorld) -> None:
    proposal = waiting(world)
    world.call("POST", f"/memory-proposals/{proposal}/decision", world.user, {"decision": "reject"})

    seen = review(world, proposal, world.user)

    assert (seen["decision"], seen["text"], seen["content_hash"], seen["sources"]) == (
        "denied",
        None,
        None,
        [],
    )


def test_withdrawn_consent_shows_in_what_an_approval_would_come_to(world: MemoryWorld) -> None:
    proposal = waiting(world)
    world.consent(granted=False)

    seen = review(world, proposal, world.user)

    assert seen["if_approved"]["decision"] == "denied"
    assert [reason["code"] for reason in seen["if_approved"]["reasons"]] == ["consent_missing"]


def test_the_queue_is_read_oldest_first_by_page_and_filtered(world: MemoryWorld, clock: FixedClock) -> None:
    proposals = []
    for key in ("one", "two", "three"):
        proposals.append(waiting(world, key=key))
        clock.advance(seconds=1)
    setting = waiting(world, **{"class": "workflow_setting", "purpose": "service", "key": "four"})
    queue = "/memory-proposals?decision=pending_review&sort=age"

    first = world.call("GET", f"{queue}&class=preference&limit=2", world.user)
    then = world.call("GET", f"{queue}&class=preference&limit=2&cursor={first['next_cursor']}", world.user)

    assert [one["id"] for one in (*first["items"], *then["items"])] == proposals
    assert [one["age_seconds"] for one in first["items"]] == [3, 2]
    assert then["next_cursor"] is None
    assert _ids(world, "/memory-proposals?class=workflow_setting") == [setting]
    assert _ids(world, "/memory-proposals?subject=user-1&project=alpha") == [setting, *reversed(proposals)]
    assert _ids(world, "/memory-proposals?subject=user-2") == []
    world.call("GET", "/memory-proposals?project=beta", world.user, expect=404)
    world.call("GET", f"{queue}&limit=2&cursor={first['next_cursor']}", world.user, expect=422)


def _ids(world: MemoryWorld, path: str) -> list[str]:
    return [one["id"] for one in world.call("GET", path, world.user)["items"]]


def _source(uri: str) -> dict[str, str]:
    return {"uri": uri, "kind": "document", "observed_at": "2026-11-30T10:00:00Z"}
