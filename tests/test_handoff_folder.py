"""Nothing that stands in the folder leads a handoff out of it, and two at once wait for each other."""

import json
import os
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import FixedClock
from filelock import FileLock
from handoff_world import Desk, line, open_desk

from service.entry.handoff.folder import Folder, FolderUnfit
from service.entry.handoff.lines import key_of, read_log

NAMES = ("execution.jsonl", "next-steps.txt", ".handoff.json", "execution.jsonl.lock", ".handoff.lock")


@pytest.fixture
def desk(tmp_path: Path, clock: FixedClock, capsys: pytest.CaptureFixture[str]) -> Iterator[Desk]:
    with open_desk(tmp_path, clock, capsys) as desk:
        yield desk


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("kind", ["link", "second name", "pipe", "folder", "link to nothing"])
def test_what_is_no_plain_file_of_the_folder_is_refused(desk: Desk, name: str, kind: str) -> None:
    outside = desk.folder.parent / "outside"
    outside.write_text("mine")
    desk.folder.mkdir()
    match kind:
        case "link":
            (desk.folder / name).symlink_to(outside)
        case "link to nothing":
            (desk.folder / name).symlink_to(desk.folder.parent / "nothing")
        case "second name":
            (desk.folder / name).hardlink_to(outside)
        case "pipe":
            os.mkfifo(desk.folder / name)
        case _:
            (desk.folder / name).mkdir()
    desk.step("one")

    said = desk.pull(code=1)["said"]

    assert "no plain file" in said
    assert outside.read_text() == "mine"
    assert not (desk.folder.parent / "nothing").exists()


def test_a_link_in_place_of_the_folder_is_refused(desk: Desk) -> None:
    elsewhere = desk.folder.parent / "elsewhere"
    elsewhere.mkdir()
    desk.folder.symlink_to(elsewhere)

    assert "is a link or no folder" in desk.pull(code=1)["said"]
    assert list(elsewhere.iterdir()) == []


def test_a_temporary_file_that_somebody_laid_out_is_not_written_through(desk: Desk) -> None:
    outside = desk.folder.parent / "outside"
    outside.write_text("mine")
    desk.folder.mkdir()
    for name in (".next-steps.txt.new", ".handoff.json.new"):
        (desk.folder / name).symlink_to(outside)

    desk.pull()

    assert outside.read_text() == "mine"
    assert (desk.folder / "next-steps.txt").read_text().startswith("Run order-app-42")


def test_a_log_that_is_larger_than_any_run_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("service.entry.handoff.folder.FILE_BYTES_MAX", 10)
    (tmp_path / "execution.jsonl").write_text("x" * 11)

    with Folder(tmp_path, create=False) as folder, pytest.raises(FolderUnfit):
        folder.read("execution.jsonl")


def test_a_memory_of_another_form_is_left_alone(desk: Desk) -> None:
    desk.folder.mkdir()
    for text in ("{", "[]", '{"form": 2}', '{"form": 1}', "\xff", "[" * 100_000):
        (desk.folder / ".handoff.json").write_text(text, encoding="latin-1")

        assert "take it away" in desk.pull(code=1)["said"]


@pytest.mark.parametrize(
    "changed",
    [
        {"execution_id": "../approvals/1/cancel?"},
        {"execution_id": "\x1b[2J"},
        {"cursor": "\ud800"},
        {"size": -1},
        {"size": float("inf")},
    ],
)
def test_a_memory_that_others_have_changed_leads_no_call_elsewhere(
    desk: Desk, changed: dict[str, object]
) -> None:
    desk.pull()
    memory = desk.folder / ".handoff.json"
    memory.write_text(json.dumps(json.loads(memory.read_text()) | changed))

    said = [desk.handoff(command, code=1)["said"] for command in ("pull", "push")]

    assert all("take it away" in each for each in said)


def test_what_is_no_id_is_not_asked_for(desk: Desk) -> None:
    for named in ("../approvals", "\x1b[2J", f"{desk.run}/turns", ""):
        assert "no id of a run" in desk.handoff("pull", "--execution", named, code=1)["said"]


def test_who_holds_the_log_is_waited_for(desk: Desk) -> None:
    desk.pull()
    desk.step("one")
    lock = FileLock(desk.folder / "execution.jsonl.lock", thread_local=False)
    lock.acquire()
    threading.Timer(0.5, lock.release, kwargs={"force": True}).start()
    desk.write(line("mine"))

    desk.pull()

    assert [each["task_id"] for each in desk.kept] == ["mine", "one"]


def test_the_key_of_a_line_is_its_run_its_words_and_its_place_among_equals() -> None:
    text = b'{"task_id": "a", "exit_status": "started"}\n{"exit_status":"started","task_id":"a","at":"x"}\n'

    found = read_log(b"\n" + text, "run-1").own
    moved = read_log(text, "run-1").own

    assert [each.number for each in found] == [2, 3]
    assert [each.key for each in found] == [each.key for each in moved]
    assert len({each.key for each in found} | {key_of("run-2", found[0].digest, 1)}) == 3
