"""`pull --watch`: it follows, outlives the service, and ends when it is told to."""

import signal
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import uvicorn
from conftest import FixedClock
from handoff_world import Desk, open_desk
from sqlmodel import update

from service.entry.handoff.follow import WAIT_SECONDS_MAX, WAIT_SECONDS_MIN
from service.identity.tables import ApiKeyRow

SECONDS_MAX = 60


@pytest.fixture
def desk(tmp_path: Path, clock: FixedClock, capsys: pytest.CaptureFixture[str]) -> Iterator[Desk]:
    with open_desk(tmp_path, clock, capsys) as desk:
        yield desk


@contextmanager
def _watching(desk: Desk, *words: str) -> Iterator["subprocess.Popen[str]"]:
    process = desk.process("pull", "--execution", desk.run, "--watch", *words)
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def _wait_for(holds: Callable[[], bool]) -> None:
    begun = time.monotonic()
    while not holds():
        assert time.monotonic() - begun < SECONDS_MAX
        time.sleep(0.05)


def _lines(desk: Desk) -> int:
    return desk.log_path.read_bytes().count(b"\n") if desk.log_path.exists() else 0


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_follows_what_happens_and_ends_cleanly(desk: Desk, number: int) -> None:
    desk.step("one")
    with _watching(desk, "--json") as process:
        _wait_for(lambda: _lines(desk) == 1)
        desk.step("two")
        _wait_for(lambda: _lines(desk) == 2 and "of 2 tasks" in (desk.folder / "next-steps.txt").read_text())
        time.sleep(WAIT_SECONDS_MIN / 2)
        begun = time.monotonic()
        process.send_signal(number)
        output, errors = process.communicate(timeout=SECONDS_MAX)

    assert (process.returncode, errors) == (0, "")
    assert time.monotonic() - begun < WAIT_SECONDS_MAX / 2
    assert desk.kept == desk.log()
    assert [text.count('"lines_added": 1') for text in output.splitlines()] == [1, 1]


def test_it_outlives_a_service_that_goes_away(desk: Desk) -> None:
    desk.step("one")
    with socket.socket() as reserved:
        reserved.bind(("127.0.0.1", 0))
        port = reserved.getsockname()[1]
    desk.url, here = f"http://127.0.0.1:{port}", desk.url
    with _watching(desk) as process:
        assert process.stderr is not None
        said = process.stderr.readline()
        with _served(desk, port):
            _wait_for(lambda: _lines(desk) == 1)
        desk.url = here
        desk.step("two")
        with _served(desk, port):
            _wait_for(lambda: _lines(desk) == 2)
        process.send_signal(signal.SIGTERM)
        _, rest = process.communicate(timeout=SECONDS_MAX)

    assert process.returncode == 0
    assert "Trying again" in said
    assert "Traceback" not in rest
    assert WAIT_SECONDS_MIN < WAIT_SECONDS_MAX


def test_a_service_that_never_answers_does_not_keep_it_from_ending(desk: Desk) -> None:
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        desk.url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        with _watching(desk) as process:
            connection, _ = silent.accept()
            begun = time.monotonic()
            process.send_signal(signal.SIGTERM)
            process.communicate(timeout=SECONDS_MAX)
            connection.close()

    assert process.returncode == 0
    assert time.monotonic() - begun < 10


def test_a_right_that_is_gone_ends_it_with_a_no(desk: Desk) -> None:
    desk.step("one")
    with _watching(desk) as process:
        _wait_for(lambda: _lines(desk) == 1)
        _revoke(desk)
        _, errors = process.communicate(timeout=SECONDS_MAX)

    assert process.returncode == 1
    assert "unauthenticated" in errors


def _revoke(desk: Desk) -> None:

    tenant_id = desk.site.tenants["acme"]
    with desk.site.runtime.database.write(tenant_id) as session:
        session.exec(update(ApiKeyRow).values(revoked_at=desk.site.clock()))


@contextmanager
def _served(desk: Desk, port: int) -> Iterator[None]:
    server = uvicorn.Server(uvicorn.Config(desk.site.client.app, port=port, log_config=None, lifespan="off"))
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        yield
    finally:
        server.should_exit = True
        thread.join()
