"""`muniment handoff push`: what was written in a folder is sent, each line once, and a pull repeats none."""

import json
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from conftest import FixedClock
from handoff_world import HASH, Desk, line, open_desk

from service.entry.cli.output import note
from service.entry.handoff.lines import read_log

MADE = [{"name": "case", "ref": "file:case.md", "sha256": HASH}]


@pytest.fixture
def desk(tmp_path: Path, clock: FixedClock, capsys: pytest.CaptureFixture[str]) -> Iterator[Desk]:
    with open_desk(tmp_path, clock, capsys) as desk:
        yield desk


def test_lines_are_sent_in_their_order_and_once(desk: Desk) -> None:
    desk.step("theirs")
    desk.pull()
    desk.write(line("read"), line("read", "completed", outputs=MADE, summary="Read."), line("draft"))

    first, second = desk.push(), desk.push()

    assert (first["sent"], second["sent"], first["refused"]) == (3, 0, [])
    assert desk.tasks == ["theirs", "read", "read", "draft"]


def test_a_pull_repeats_no_line_that_was_sent_from_here(desk: Desk) -> None:
    desk.write(line("mine"))
    desk.push()
    desk.step("theirs")

    answers = [desk.pull(), desk.pull()]

    assert [answer["lines_added"] for answer in answers] == [1, 0]
    assert [each["task_id"] for each in desk.kept] == ["mine", "theirs"]


def test_equal_lines_are_each_sent(desk: Desk) -> None:
    desk.write(line("again"), line("again"), line("again"))
    desk.push()
    desk.write(line("again"))
    desk.push()

    assert desk.tasks == ["again"] * 4
    assert desk.pull()["lines_added"] == 0


def test_a_bad_line_is_named_and_stops_no_other(desk: Desk) -> None:
    desk.write(
        line("good"),
        '{"task_id": "cut\n',
        line("bad", "finished"),
        "\n",
        line("bad", unknown=1),
        '{"task_id": "a", "task_id": "b", "exit_status": "started"}\n',
        "[1]\n",
        "[" * 100_000 + "\n",
        line("also-good", id=None, at="2026-11-30T09:00:00Z"),
    )

    answer = desk.push(code=1)

    assert answer["sent"] == 2
    assert [(each["line"], each["code"]) for each in answer["refused"]] == [
        (2, "malformed_json"),
        (3, "invalid"),
        (5, "invalid"),
        (6, "malformed_json"),
        (7, "invalid"),
        (8, "malformed_json"),
    ]
    assert desk.tasks == ["good", "also-good"]


def test_a_line_that_the_service_refuses_is_tried_again_the_next_time(desk: Desk) -> None:
    agent = {"Authorization": f"Bearer {desk.token}"}
    at = f"{desk.url}/v1/executions/{desk.run}"
    tasks = {"tasks": [{"id": "read", "outputs": ["case"]}]}
    httpx.put(f"{at}/manifest", headers=agent | {"If-Match": '"1"'}, json=tasks).raise_for_status()
    desk.write(line("read", "completed"), line("other"))

    refused = desk.push(code=1)
    again = desk.push(code=1)

    assert [(each["line"], each["code"]) for each in refused["refused"]] == [(1, "outputs_missing")]
    assert (refused["sent"], again["sent"]) == (1, 0)
    assert desk.tasks == ["other"]


def test_work_that_was_completed_before_is_not_completed_twice_and_its_first_line_comes(desk: Desk) -> None:
    desk.step("read", "completed", outputs=MADE, summary="Read by another.")
    desk.write(line("read", "completed", outputs=MADE, summary="Read by me."))

    answer = desk.push()
    desk.pull()

    assert (answer["sent"], answer["already"]) == (0, 1)
    assert desk.tasks == ["read"]
    assert [each["summary"] for each in desk.kept] == ["Read by me.", "Read by another."]


def test_an_invisible_change_of_writing_is_no_other_line(desk: Desk) -> None:
    desk.write(line("mine"))
    desk.push()
    desk.log_path.write_text('  {"exit_status":"started",  "task_id":"mine"}\n')
    (desk.folder / ".handoff.json").unlink()

    desk.push()

    assert desk.tasks == ["mine"]


def test_a_folder_without_its_memory_sends_nothing_twice(desk: Desk, clock: FixedClock) -> None:
    desk.write(line("one"), line("two"), line("two"))
    desk.push()
    desk.write(line("two"), line("three"))
    (desk.folder / ".handoff.json").unlink()
    # The service forgets keys after a day.
    clock.advance(hours=25)

    answer = desk.push()

    assert answer["sent"] == 2
    assert desk.tasks == ["one", "two", "two", "two", "three"]
    assert desk.pull()["lines_added"] == 0


def test_a_line_without_its_line_break_is_whole_when_it_is(desk: Desk) -> None:
    desk.write(json.dumps(line("mine")))

    desk.push()
    desk.write(line("next"))
    desk.push()

    assert desk.tasks == ["mine", "next"]


def test_a_torn_last_line_is_kept_apart(desk: Desk) -> None:
    desk.write(line("one"), '{"task_id": "two", "exit_st')

    answer = desk.push()
    desk.write(line("three"))
    desk.push()

    assert (answer["sent"], answer["refused"]) == (1, [])
    assert [each["task_id"] for each in desk.kept] == ["one", "three"]
    assert (desk.folder / "execution.torn").read_text() == '{"task_id": "two", "exit_st\n'
    assert desk.tasks == ["one", "three"]


def test_under_a_lease_lines_need_its_token(desk: Desk) -> None:
    resumed = httpx.post(
        f"{desk.url}/v1/executions/{desk.run}/resume",
        headers={"Authorization": f"Bearer {desk.token}"},
        json={},
    ).json()
    desk.write(line("mine"))

    refused = desk.push(code=1)
    sent = desk.push("--fencing-token", str(resumed["lease"]["fencing_token"]))

    assert "fencing_token_stale" in refused["said"]
    assert sent["sent"] == 1
    assert desk.tasks == ["mine"]


def test_a_run_that_ended_takes_no_lines_and_says_so(desk: Desk) -> None:
    desk.write(line("mine"))
    desk.token = desk.site.token("agent", subject="agent-1", on_behalf_of="user-2")

    assert "acting_user_only" in desk.push(code=1)["said"]
    assert desk.tasks == []


def test_an_empty_folder_and_a_missing_one(desk: Desk) -> None:
    desk.push(code=1)
    desk.pull()

    assert desk.push() == {"execution_id": desk.run, "sent": 0, "already": 0, "refused": []}


def test_what_a_refused_line_holds_commands_no_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    bad = read_log(b'{"task_id": "a", "exit_status": "started", "\\u001b[2J\\u009b": 1}', "run-1").bad

    note(bad[0].detail)

    assert capsys.readouterr().err == "\\x1b[2J\\x9b: Extra inputs are not permitted\n"
