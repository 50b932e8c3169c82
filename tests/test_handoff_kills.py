"""A handoff command that is killed at any point and repeated leaves all as if nothing had happened."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import FixedClock
from handoff_world import Desk, line, open_desk

from service.core.failpoints import arm
from service.entry.cli import main

KILLED = -9


@pytest.fixture
def desk(tmp_path: Path, clock: FixedClock, capsys: pytest.CaptureFixture[str]) -> Iterator[Desk]:
    with open_desk(tmp_path, clock, capsys) as desk:
        yield desk


def _killed(desk: Desk, command: str, point: str, action: str = "kill") -> None:
    process = desk.process(command, "--execution", desk.run, points={point: action})
    _, errors = process.communicate(timeout=60)
    assert process.returncode == KILLED, errors


@pytest.mark.parametrize(
    "point",
    ["handoff.before_append", "handoff.after_append", "handoff.before_replace", "handoff.after_replace"],
)
def test_a_pull_that_was_killed_is_made_good_by_the_next(desk: Desk, point: str) -> None:
    desk.step("one")
    desk.pull()
    before = (desk.folder / "next-steps.txt").read_text()
    desk.write(line("mine"))
    desk.step("two")

    _killed(desk, "pull", point)
    between = (desk.folder / "next-steps.txt").read_text()
    desk.pull()

    assert [each["task_id"] for each in desk.kept] == ["one", "mine", "two"]
    after = (desk.folder / "next-steps.txt").read_text()
    assert between in (before, after)
    assert between == (after if point == "handoff.after_replace" else before)
    assert desk.push()["sent"] == 1
    assert desk.tasks == ["one", "two", "mine"]


@pytest.mark.parametrize("number", [1, 2, 3])
def test_a_push_that_was_killed_sends_nothing_twice(desk: Desk, number: int, clock: FixedClock) -> None:
    desk.step("theirs")
    desk.pull()
    desk.write(line("one"), line("two"), line("two"))

    _killed(desk, "push", "handoff.after_send", f"kill@{number}")
    sent = len(desk.tasks) - 1
    # The key that would tell a repeat is forgotten after a day.
    clock.advance(hours=25)
    answer = desk.push()

    assert (sent, answer["sent"]) == (number, 3 - number)
    assert desk.tasks == ["theirs", "one", "two", "two"]
    assert desk.pull()["lines_added"] == 0


def test_a_pull_after_a_push_that_was_killed_repeats_no_line(desk: Desk) -> None:
    desk.write(line("one"), line("two"))
    _killed(desk, "push", "handoff.after_send", "kill@1")
    desk.step("theirs")

    desk.pull()
    desk.push()
    desk.pull()

    assert [each["task_id"] for each in desk.kept] == ["one", "two", "theirs"]
    assert desk.tasks == ["one", "theirs", "two"]


def test_a_push_whose_memory_was_killed_in_writing_sends_nothing_twice(desk: Desk) -> None:
    desk.pull()
    desk.write(line("one"))
    (desk.folder / "..handoff.json.new").write_text('{"half')

    desk.push()

    assert desk.tasks == ["one"]


def test_an_answer_that_is_lost_on_its_way_is_no_second_line(desk: Desk) -> None:
    desk.write(line("one"), line("two"))
    # The service runs in this process: it commits the line and then fails to say so.
    arm({"http.add_step.after_commit": "raise"})
    try:
        process = desk.process("push", "--execution", desk.run)
        _, errors = process.communicate(timeout=60)
    finally:
        arm({})

    assert (process.returncode, desk.tasks) == (1, ["one"])
    assert "internal_error" in errors
    assert desk.push()["sent"] == 1
    assert desk.tasks == ["one", "two"]


def test_a_pull_that_died_in_the_middle_of_a_line_is_mended(desk: Desk) -> None:
    desk.step("one")
    desk.step("two")
    desk.pull()
    memory = (desk.folder / ".handoff.json").read_bytes()
    desk.step("three")
    desk.pull()
    (desk.folder / ".handoff.json").write_bytes(memory)
    desk.log_path.write_bytes(desk.log_path.read_bytes()[:-20])

    desk.pull()

    assert desk.kept == desk.log()


def test_fail_points_need_the_permission_for_them(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("MUNIMENT_FAILPOINTS", '{"handoff.after_send": "kill"}')

    assert main(desk.words("pull", "--execution", desk.run)) == 2
    assert "MUNIMENT_FAILPOINTS_ALLOWED" in capsys.readouterr().err
