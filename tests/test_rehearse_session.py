"""A process of the agent is begun afresh and ended with everything that it started."""

import os
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from service.entry.rehearse.session import (
    CommandNotStarted,
    Session,
    absolute_command,
    fresh_environment,
    kill_strays,
    last_words,
)

FAMILY = """
import os, subprocess, sys, time
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"], start_new_session={apart})
open("child", "w").write(str(child.pid))
time.sleep(60)
"""


def begin(folder: Path, code: str, **environment: str) -> Session:
    with (folder / "said").open("ab") as said:
        known = {**os.environ, **environment}  # noqa: TID251 - what a child process needs to start
        return Session([sys.executable, "-c", code], folder=folder, environment=known, said=said)


def await_true(condition: Callable[[], bool]) -> bool:
    deadline = time.monotonic() + 10
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.02)
    return condition()


def child_of(folder: Path) -> int:
    assert await_true(lambda: (folder / "child").exists() and (folder / "child").read_text() != "")
    return int((folder / "child").read_text())


def is_gone(process_id: int) -> bool:
    try:
        state = Path(f"/proc/{process_id}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except OSError:
        return True
    # Nobody may be there to collect an orphan: then it stays as a zombie and does nothing.
    return state == "Z"


def test_a_kill_takes_the_whole_group(tmp_path: Path) -> None:
    session = begin(tmp_path, FAMILY.format(apart=False))
    child = child_of(tmp_path)

    session.kill()
    session.wait()

    assert session.exit_code() == -signal.SIGKILL
    assert await_true(lambda: is_gone(child))
    session.kill()


@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="only where there is /proc")
def test_what_left_the_group_is_found_by_what_it_was_given(tmp_path: Path) -> None:
    session = begin(tmp_path, FAMILY.format(apart=True), REHEARSED_MARK=str(tmp_path))
    child = child_of(tmp_path)
    session.kill()
    session.wait()
    assert not is_gone(child)

    kill_strays("REHEARSED_MARK", str(tmp_path))

    assert await_true(lambda: is_gone(child))


def test_a_command_that_is_not_there_is_told_in_words(tmp_path: Path) -> None:
    with (tmp_path / "said").open("wb") as said, pytest.raises(CommandNotStarted, match="No such file"):
        Session(["./none"], folder=tmp_path, environment={}, said=said)


def test_a_process_knows_nothing_of_ours_but_what_it_is_given(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MUNIMENT_DATABASE_URL", "postgresql://elsewhere")
    monkeypatch.setenv("XDG_CACHE_HOME", "/somewhere")
    monkeypatch.setenv("OPENAI_API_KEY", "theirs")
    monkeypatch.setenv("NO_PROXY", "intranet")

    known = fresh_environment(tmp_path, {"MUNIMENT_URL": "http://127.0.0.1:1"})

    assert [name for name in known if name.startswith("MUNIMENT_")] == ["MUNIMENT_URL"]
    assert "XDG_CACHE_HOME" not in known
    assert known["OPENAI_API_KEY"] == "theirs"
    assert known["NO_PROXY"] == "intranet,127.0.0.1"
    assert Path(known["HOME"]).is_relative_to(tmp_path)
    assert Path(known["TMPDIR"]).is_dir()


def test_files_on_the_command_line_are_found_from_elsewhere(tmp_path: Path) -> None:
    (tmp_path / "agent.py").touch()
    (tmp_path / "more").mkdir()
    (tmp_path / "more" / "check.sh").touch()

    command = absolute_command(["sh", "agent.py", "--fault", "none.py", "more/check.sh"], folder=tmp_path)
    grader = absolute_command(["sh", "agent.py", "more/check.sh"], folder=tmp_path, only_paths=True)

    assert command[0].endswith("/sh")
    assert command[1:] == (str(tmp_path / "agent.py"), "--fault", "none.py", str(tmp_path / "more/check.sh"))
    assert grader[1:] == ("agent.py", str(tmp_path / "more/check.sh"))


def test_its_last_words_hold_no_token(tmp_path: Path) -> None:
    said = tmp_path / "said"
    said.write_bytes(b"x" * 50_000 + b"\xff key mun_secret refused")

    words = last_words(said, ["mun_secret"])

    assert words.endswith("key (token) refused")
    assert len(words) <= 2_000
