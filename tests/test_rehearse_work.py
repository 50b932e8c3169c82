"""What a call does is read from its route and body; what was in flight at a kill may be done again."""

import json
from typing import Any

import pytest
from rehearse_world import STEADY, Line, calls_of, in_session

from service.entry.rehearse.acts import content_of_effect, read_act, read_operation
from service.entry.rehearse.model import Act, ActKind, Channel, Fate
from service.entry.rehearse.work import (
    count_work,
    idle_tasks,
    lost_work,
    never_done,
    redone_tasks,
    repeated_work,
)

RUN = "/executions/*"
STEP = f"POST {RUN}/steps"


def act_of(pattern: str, body: Any) -> Act | None:
    return read_act(Channel.SERVICE, pattern, "/", json.dumps(body).encode())


@pytest.mark.parametrize(
    ("pattern", "body", "kind", "key"),
    [
        (STEP, {"task_id": "a", "exit_status": "started"}, ActKind.STARTED, "a"),
        (f"POST {RUN}/turns", {"role": "assistant", "text": "x"}, ActKind.TURN, "assistant sha256:"),
        (f"POST {RUN}/checkpoints", {"transition": "advance"}, ActKind.CHECKPOINT, "advance"),
        (f"POST {RUN}/candidates", {"artifact_hash": "sha256:a"}, ActKind.CANDIDATE, "sha256:a"),
        (f"PATCH {RUN}/effects/*", {"status": "committed"}, ActKind.SETTLEMENT, "committed"),
        ("POST /context-packages", {"task_id": "a", "query": "b"}, ActKind.PACKAGE, "for a"),
        ("POST /context-packages", {"query": "b"}, ActKind.PACKAGE, "asking sha256:"),
        ("POST /context-packages", {}, ActKind.PACKAGE, "for the run"),
    ],
)
def test_a_call_is_known_by_what_it_is_about(pattern: str, body: Any, kind: ActKind, key: str) -> None:
    act = act_of(pattern, body)

    assert act is not None
    assert act.kind is kind
    assert act.key.startswith(key)


def test_a_step_on_other_inputs_is_other_work() -> None:
    first = {"task_id": "a", "exit_status": "completed", "inputs": [{"ref": "r", "sha256": "sha256:1"}]}
    second = {**first, "inputs": [{"ref": "r", "sha256": "sha256:2"}]}

    assert act_of(STEP, first) != act_of(STEP, second)
    assert act_of(STEP, first) == act_of(STEP, {**first, "summary": "in other words", "outputs": []})


def test_an_intent_is_the_same_under_any_name_and_by_redeeming_an_approval() -> None:
    intent = {"operation_id": "op-1", "kind": "orders.create", "request": {"sku": "A1"}}
    redeemed = {"operation_id": "op-1", "command": {"kind": "orders.create", "sku": "A1"}}

    direct = act_of(f"POST {RUN}/effects", intent)

    assert direct == Act(ActKind.INTENT, content_of_effect("orders.create", {"sku": "A1"}))
    assert act_of(f"POST {RUN}/effects", {**intent, "operation_id": "op-2"}) == direct
    assert act_of("POST /approvals/*/redeem", redeemed) == direct
    assert read_operation(f"POST {RUN}/effects", json.dumps(intent).encode()) == "op-1"
    assert read_operation(STEP, json.dumps(intent).encode()) is None


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"1", b"\xff", b'{"a":' * 5_000, b'{"exit_status": 3}'])
def test_what_cannot_be_read_is_no_work_and_no_failure(body: bytes) -> None:
    assert read_act(Channel.SERVICE, STEP, "/", body) is None
    assert read_act(Channel.SERVICE, "GET /anything", "/", body) is None
    assert read_operation(f"POST {RUN}/effects", b"[") is None


def test_numbers_beyond_canonical_json_still_have_a_hash() -> None:
    body = b'{"role": "user", "text": 123456789012345678901234567890}'

    assert read_act(Channel.SERVICE, f"POST {RUN}/turns", "/", body) is not None


def test_what_was_done_since_the_last_record_is_lost_with_the_process() -> None:
    lines: list[Line] = [
        (1, ActKind.PACKAGE, "for a"),
        (1, ActKind.OBSERVATION, "tool://x 1"),
        (1, ActKind.TOOL, "/stock"),
        (1, ActKind.PACKAGE, "for b"),
        (2, ActKind.PACKAGE, "for b"),
    ]

    lost = lost_work(calls_of(lines))

    assert {act.key for act in lost} == {"/stock", "for b"}


def test_nothing_is_lost_with_the_last_process_and_nothing_by_what_never_went_out() -> None:
    lines: list[Line] = [
        (1, ActKind.PACKAGE, "for a", Fate.CUT_BEFORE),
        (2, ActKind.PACKAGE, "for a"),
    ]

    assert lost_work(calls_of(lines)) == {}
    assert count_work(calls_of(lines)).total() == 1


def test_each_fresh_process_may_read_itself_in_once() -> None:
    steady = calls_of(STEADY)
    again: list[Line] = [*STEADY[:8], (2, ActKind.PACKAGE, "for order"), STEADY[8]]
    twice: list[Line] = [*again[:9], (2, ActKind.PACKAGE, "for order"), STEADY[8]]

    assert repeated_work(calls_of(again), count_work(steady)) == {}
    assert repeated_work(calls_of(twice), count_work(steady)).total() == 1


def test_work_that_uninterrupted_runs_never_do_is_no_repetition() -> None:
    more: list[Line] = [*STEADY, (2, ActKind.TOOL, "/health"), (2, ActKind.TOOL, "/health")]

    assert repeated_work(calls_of(more), count_work(calls_of(STEADY))) == {}


def test_a_result_that_was_only_lost_was_never_had() -> None:
    always = count_work(calls_of(STEADY))
    lost = [*STEADY[:2], *in_session(2, STEADY[2:])]

    assert [act.key for act in never_done(calls_of(lost), always)] == ["for draft"]
    assert never_done(calls_of(STEADY), always) == {}


def test_a_completion_in_doubt_is_sent_again_and_a_known_one_redone() -> None:
    doubt: list[Line] = [(1, ActKind.COMPLETED, "a", Fate.CUT_AFTER), (2, ActKind.COMPLETED, "a")]
    known: list[Line] = [(1, ActKind.COMPLETED, "a"), (2, ActKind.COMPLETED, "a")]

    assert redone_tasks(calls_of(doubt)) == {}
    assert redone_tasks(calls_of(known)) == {"a": 1}


def test_a_task_is_idle_when_nothing_was_done_since_the_line_before() -> None:
    assert idle_tasks(calls_of(STEADY)) == set()
    lines: list[Line] = [*STEADY[:3], (1, ActKind.STARTED, "order"), (1, ActKind.COMPLETED, "order on x")]
    assert idle_tasks(calls_of(lines)) == {"order"}
