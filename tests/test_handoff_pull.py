"""`muniment handoff pull`: the folder is in step with the service, whatever happens in between."""

import json
import stat
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from conftest import FixedClock
from handoff_world import HASH, Desk, line, open_desk


@pytest.fixture
def desk(tmp_path: Path, clock: FixedClock, capsys: pytest.CaptureFixture[str]) -> Iterator[Desk]:
    with open_desk(tmp_path, clock, capsys) as desk:
        yield desk


def test_a_pull_writes_the_log_and_the_next_steps_for_the_owner_alone(desk: Desk) -> None:
    desk.step("read")
    desk.step("read", "completed", outputs=[{"name": "case", "ref": "file:case.md", "sha256": HASH}])

    answer = desk.pull()

    assert (answer["lines_added"], answer["next_steps_changed"]) == (2, True)
    assert desk.kept == desk.log()
    text = (desk.folder / "next-steps.txt").read_text()
    assert text.startswith("Run order-app-42 (execution:")
    assert text.count("\n") == 1
    assert "file:case.md" in text
    modes = {stat.S_IMODE(path.stat().st_mode) for path in desk.folder.iterdir()}
    assert (stat.S_IMODE(desk.folder.stat().st_mode), modes) == (0o700, {0o600})


def test_a_second_pull_reads_only_what_is_new(desk: Desk) -> None:
    desk.step("one")
    desk.pull()
    before = (desk.folder / "next-steps.txt").stat().st_ino
    nothing = desk.pull()
    unchanged = (desk.folder / "next-steps.txt").stat().st_ino
    desk.step("two")

    more = desk.pull()

    assert (nothing["lines_added"], nothing["next_steps_changed"]) == (0, False)
    assert more["lines_added"] == 1
    assert [each["task_id"] for each in desk.kept] == ["one", "two"]
    assert unchanged == before


def test_the_run_is_found_by_its_external_reference_and_afterwards_by_the_folder(desk: Desk) -> None:
    desk.step("one")

    first = desk.handoff("pull", "--external-ref", "order-app-42", "--project", "alpha")
    again = desk.handoff("pull")

    assert first["execution_id"] == again["execution_id"] == desk.run


def test_lines_that_were_written_here_stay_where_they_are(desk: Desk) -> None:
    desk.step("one")
    desk.pull()
    desk.write(line("mine"))
    desk.step("two")

    desk.pull()

    assert [each["task_id"] for each in desk.kept] == ["one", "mine", "two"]
    assert "id" not in desk.kept[1]


def test_many_pulls_at_once_write_each_line_once(desk: Desk) -> None:
    for number in range(30):
        desk.step(f"task-{number}")

    processes = [desk.process("pull", "--execution", desk.run) for _ in range(4)]
    codes = {process.wait(60) for process in processes}
    for process in processes:
        process.communicate()

    assert codes == {0}
    assert desk.kept == desk.log()


def test_a_log_that_was_taken_away_is_filled_again(desk: Desk) -> None:
    desk.step("one")
    desk.step("two")
    desk.pull()
    whole = desk.log_path.read_bytes()
    desk.log_path.unlink()
    desk.pull()
    assert desk.log_path.read_bytes() == whole

    desk.log_path.write_bytes(whole[: whole.index(b"\n") + 1])
    desk.pull()

    assert desk.log_path.read_bytes() == whole


def test_a_folder_without_its_memory_begins_anew_and_repeats_no_line(desk: Desk) -> None:
    desk.step("one")
    desk.pull()
    (desk.folder / ".handoff.json").unlink()
    desk.step("two")

    desk.pull()

    assert desk.kept == desk.log()


def test_a_cursor_that_the_service_lost_is_no_loss(desk: Desk) -> None:
    desk.step("one")
    desk.pull()
    memory = desk.folder / ".handoff.json"
    fields = json.loads(memory.read_text())
    memory.write_text(json.dumps(fields | {"cursor": "01936d7e-0000-7000-8000-000000000000"}))
    desk.step("two")

    desk.pull()

    assert desk.kept == desk.log()


def test_a_folder_holds_one_run(desk: Desk) -> None:
    desk.pull()

    said = desk.handoff("pull", "--execution", "01936d7e-0000-7000-8000-000000000000", code=1)["said"]

    assert "another run" in said


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("--execution", "01936d7e-0000-7000-8000-000000000000"), 1, "not_found"),
        (("--external-ref", "nothing", "--project", "alpha"), 1, "no run"),
        (("--external-ref", "order-app-42"), 2, "--project"),
        ((), 1, "holds no run yet"),
    ],
)
def test_what_cannot_be_pulled_is_one_sentence(
    desk: Desk, words: tuple[str, ...], code: int, said: str
) -> None:
    assert said in desk.handoff("pull", *words, code=code)["said"]


def test_a_service_that_is_away_or_is_none_of_ours_is_one_sentence(desk: Desk) -> None:
    words = ("pull", "--execution", desk.run)

    assert "does not answer" in desk.handoff(*words, code=1, url="http://127.0.0.1:9")["said"]
    assert "http://" in desk.handoff(*words, code=2, url="ftp://127.0.0.1")["said"]
    assert not (desk.folder / "execution.jsonl").exists()


def test_what_a_person_may_not_read_is_not_pulled(desk: Desk) -> None:
    desk.step("one", summary="The secret")
    desk.token = desk.site.token("user", subject="user-2", projects=("beta",))

    desk.pull(code=1)

    assert not (desk.folder / "execution.jsonl").exists()


def test_pulling_while_an_agent_appends_loses_nothing(desk: Desk) -> None:
    desk.pull()

    def append() -> None:
        for number in range(50):
            desk.write(line(f"mine-{number}"))

    with ThreadPoolExecutor(1) as pool:
        writing = pool.submit(append)
        for number in range(5):
            desk.step(f"theirs-{number}")
            desk.pull()
        writing.result()
    desk.pull()

    tasks = [each["task_id"] for each in desk.kept]
    assert [name for name in tasks if name.startswith("mine")] == [f"mine-{n}" for n in range(50)]
    assert [name for name in tasks if name.startswith("theirs")] == [f"theirs-{n}" for n in range(5)]
