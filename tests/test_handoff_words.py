"""The next steps in words: what was done last, what runs next, what exists, what blocks; in ten seconds."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from compaction_world import Talk, open_talk
from conftest import FixedClock

from service.core.database import Database
from service.core.hashing import hash_text

WORDS_IN_TEN_SECONDS = 60
"""At the pace of silent reading, some 250 words a minute, with references skipped over."""


@pytest.fixture
def talk(database: Database, tmp_path: Path, clock: FixedClock) -> Iterator[Talk]:
    with open_talk(database, tmp_path, clock) as talk:
        yield talk


def _words(talk: Talk) -> str:
    answer = talk.site.client.get(
        f"/v1/executions/{talk.run}/handoff", headers=talk.headers | {"Accept": "text/plain"}
    )
    assert answer.headers["content-type"] == "text/plain; charset=utf-8"
    return str(answer.raise_for_status().text)


def _step(talk: Talk, task: str, status: str, *names: str, **fields: Any) -> None:
    outputs = [{"name": name, "ref": f"file:{name}", "sha256": hash_text(name)} for name in names]
    talk.post("steps", {"task_id": task, "exit_status": status, "outputs": outputs, **fields})


def _plan(talk: Talk, *tasks: dict[str, Any]) -> None:
    talk.site.client.put(
        f"/v1/executions/{talk.run}/manifest",
        headers=talk.headers | {"If-Match": '"1"'},
        json={"tasks": list(tasks)},
    ).raise_for_status()


def test_it_says_what_was_done_last_what_runs_next_and_what_exists(talk: Talk) -> None:
    _plan(talk, {"id": "read", "outputs": ["case"]}, {"id": "draft", "outputs": ["reply"]}, {"id": "send"})
    _step(talk, "read", "completed", "case", summary="Case file read.")
    _step(talk, "draft", "started")

    text = _words(talk)

    assert "1 of 3 tasks done" in text
    assert "Completed last: read (step:" in text
    assert "Next: continue:draft." in text
    assert "Outputs: case (file:case)." in text
    assert text.endswith("Nothing blocks.")


def test_the_agents_words_stand_beside_the_records(talk: Talk) -> None:
    _plan(talk, {"id": "draft"})
    talk.post(
        "checkpoints", {"transition": "start", "state": {"next_action": "Draft\nthe reply."}}, version=2
    )

    assert "Next: Draft the reply (continue:draft)." in _words(talk)


def test_what_must_be_settled_goes_before_what_was_meant(talk: Talk) -> None:
    talk.post("checkpoints", {"transition": "start", "state": {"next_action": "Order more."}}, version=1)
    talk.post("effects", {"operation_id": "order-8", "kind": "orders.create", "request": {}})
    talk.site.client.patch(
        f"/v1/executions/{talk.run}/effects/order-8", headers=talk.headers, json={"status": "dispatched"}
    ).raise_for_status()

    text = _words(talk)

    assert "Next: reconcile:order-8; then Order more." in text
    assert "Blocked by effect:order-8: outcome unknown (dispatched), to be reconciled" in text


def test_an_approval_that_is_waited_for_blocks(talk: Talk) -> None:
    asked = talk.post("approvals", {"command": {"kind": "orders.create", "sku": "A1"}, "evidence_ids": []})

    waiting = _words(talk)
    talk.site.clock.advance(hours=48)
    lapsed = _words(talk)

    assert f"Blocked by approval:{asked['id']}: waits for a decision (reviewer)." in waiting
    assert f"Blocked by approval:{asked['id']}: no longer holds (expired)." in lapsed


def test_the_newest_outputs_are_named_and_others_counted(talk: Talk) -> None:
    for number in range(9):
        _step(talk, f"task-{number}", "completed", f"out-{number}")
    _step(talk, "task-2", "completed", "out-2", inputs=[{"ref": "file:x", "sha256": hash_text("x")}])

    assert "Outputs: out-2 (file:out-2); out-8 (file:out-8); out-7 (file:out-7); and 6 more." in _words(talk)


def test_a_run_that_ended_has_nothing_next(talk: Talk) -> None:
    owner = Talk(talk.site, talk.site.headers("user", subject="user-1"), talk.run)
    owner.post("cancel", {"reason": "No longer wanted"}, expect=200, version=1)

    assert "is cancelled" in _words(talk)
    assert "Next: nothing, the run has ended." in _words(talk)


def test_it_is_read_in_ten_seconds_whatever_a_run_holds(talk: Talk) -> None:
    _plan(talk, *({"id": f"task-{number}-{'x' * 100}"} for number in range(30)))
    talk.post("checkpoints", {"transition": "start", "state": {"next_action": "go on " * 150}}, version=2)
    for number in range(6):
        _step(
            talk,
            f"task-{number}-{'x' * 100}",
            "completed",
            f"out-{number}-{'y' * 150}",
            summary="done " * 700,
        )
        talk.post("pins", {"kind": "blocker", "text": "It is down. " * 200, "turns": []})
        _step(talk, f"task-{10 + number}-{'x' * 100}", "failed")

    text = _words(talk)

    assert "\n" not in text
    assert len(text.split()) <= 2 * WORDS_IN_TEN_SECONDS
    assert len(text) < 2_000


def test_no_word_in_it_commands_a_terminal(talk: Talk) -> None:
    _step(talk, "read", "completed", summary="\x1b]0;mine\x07Read\u009b2J it\u202e all 👩\u200d🚀")

    text = _words(talk)

    assert "]0;mine Read 2J it all 👩\u200d🚀" in text
    assert not set("\x1b\x07\u009b\u202e") & set(text)
