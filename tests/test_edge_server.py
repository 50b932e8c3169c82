"""`serve`: it says where it listens, ends in order, and refuses a folder that another process holds."""

import gc
import os
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from service.settings import Settings
from service.wiring import build, build_record

START = "from service.entry.cli import main; import sys; sys.exit(main(['serve', '--port', '0']))"
START_SECONDS_MAX = 60


@contextmanager
def _serving(folder: Path) -> Iterator[tuple[subprocess.Popen[str], str]]:
    environment = dict(os.environ) | {"MUNIMENT_DATA_DIR": str(folder)}  # noqa: TID251 - the process's own
    process = subprocess.Popen(
        [sys.executable, "-c", START],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        yield process, process.stdout.readline()
    finally:
        process.kill()
        process.communicate()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("served") / "data"


def test_it_prints_its_address_serves_and_stops_when_told(folder: Path) -> None:
    with _serving(folder) as (process, line):
        address = line.split()[-1]
        ready = httpx.get(f"{address}/readyz", timeout=START_SECONDS_MAX)
        process.send_signal(signal.SIGTERM)
        _, logs = process.communicate(timeout=START_SECONDS_MAX)

    assert line.startswith("Muniment listens on http://127.0.0.1:")
    assert ready.json() == {"status": "ready"}
    assert process.returncode == 0
    assert '"event": "request"' in logs
    assert "Traceback" not in logs
    assert not (folder / "index" / "unclean").exists()


def test_after_warming_up_common_text_loads_nothing(tmp_path: Path) -> None:
    runtime = build(Settings(data_dir=tmp_path, worker_enabled=False))
    try:
        runtime.warm_up()

        started = time.thread_time()
        runtime.tokens.count("\u00e9\u017f \u6587\u5b57")
        runtime.sparse.encode_documents(["plot 18", "\u6587\u5b57", "\u304b\u306a"])
        assert time.thread_time() - started < 0.1
    finally:
        gc.unfreeze()
        runtime.close()


def test_a_second_process_on_the_same_folder_is_told_so_in_words(folder: Path) -> None:
    with _serving(folder) as (_, line):
        assert line
        with _serving(folder) as (second, nothing):
            _, said = second.communicate(timeout=START_SECONDS_MAX)

    assert nothing == ""
    assert second.returncode == 1
    assert "Another process" in said
    assert "Traceback" not in said


def test_an_address_that_is_taken_is_told_so_in_words(folder: Path) -> None:
    with _serving(folder) as (_, line):
        port = line.split()[-1].rsplit(":", 1)[-1]
        arguments = [sys.executable, "-c", START.replace("'0'", f"'{port}'")]
        second = subprocess.run(
            arguments, capture_output=True, text=True, timeout=START_SECONDS_MAX, check=False
        )

    assert second.returncode == 1
    assert "Traceback" not in second.stderr


def test_the_embedded_default_makes_private_places_for_its_keys(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "data"

    runtime = build(Settings(data_dir=folder))
    runtime.close()

    assert stat.S_IMODE((folder / "keystore").stat().st_mode) == 0o700
    assert stat.S_IMODE((folder / "keystore" / "master.key").stat().st_mode) == 0o600


def test_the_record_opens_without_index_while_another_process_serves(tmp_path: Path) -> None:
    runtime = build(Settings(data_dir=tmp_path))
    try:
        record = build_record(Settings(data_dir=tmp_path))
        sealed = record.ciphers.for_tenant("t").seal("text", subjects=(), place="a/b")
        record.close()

        assert runtime.ciphers.for_tenant("t").open(sealed, place="a/b") == "text"
    finally:
        runtime.close()


def test_a_build_that_fails_gives_back_what_it_had_opened(tmp_path: Path) -> None:
    first = build(Settings(data_dir=tmp_path))
    with pytest.raises(Exception, match="Another process"):
        build(Settings(data_dir=tmp_path))
    first.close()

    build(Settings(data_dir=tmp_path)).close()
