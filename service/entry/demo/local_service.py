"""A service of one's own: a real process on empty data, stopped again at the end.

The worked example, the benchmarks and the tests start theirs here.
"""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import httpx

_START_SECONDS_MAX: Final = 180
_STOP_SECONDS_MAX: Final = 25


class LocalServiceFailed(RuntimeError):
    """The service or one of its commands failed; the message says how."""


@dataclass(frozen=True, slots=True)
class LocalService:
    """A running service and the commands that belong to its data."""

    address: str
    process: subprocess.Popen[bytes]
    environment: Mapping[str, str]

    def command(self, *arguments: str) -> Any:  # noqa: ANN401 - whatever JSON the command printed
        """Run `muniment ARGUMENTS --json` on this service's data and answer what it printed."""
        return run_command(self.environment, *arguments)

    def key(self, tenant: str, *arguments: str) -> str:
        """Create an API key and answer its token."""
        return str(self.command("keys", "create", "--tenant", tenant, *arguments)["token"])


def run_command(environment: Mapping[str, str], *arguments: str) -> Any:  # noqa: ANN401 - whatever JSON it printed
    """Run `muniment ARGUMENTS --json` and answer what it printed. Raises `LocalServiceFailed`."""
    finished = subprocess.run(  # noqa: S603 - our own program, arguments from our own callers
        [sys.executable, "-m", "service.entry.cli", *arguments, "--json"],
        env=dict(environment),
        capture_output=True,
        text=True,
        check=False,
    )
    if finished.returncode != 0:
        raise LocalServiceFailed(f"muniment {' '.join(arguments[:2])} failed: {finished.stderr[-500:]}")
    return json.loads(finished.stdout)


def environment_of(
    folder: Path, policies_dir: Path, extra: Mapping[str, str] | None = None
) -> dict[str, str]:
    """Answer this process's environment with the settings of a service in `folder`, and none of one's own."""
    inherited = {
        name: value
        for name, value in os.environ.items()  # noqa: TID251 - what a child process needs to start
        if not name.startswith("MUNIMENT_")
    }
    settings = {
        "MUNIMENT_DATA_DIR": str(folder / "data"),
        "MUNIMENT_POLICIES_DIR": str(policies_dir.resolve()),
    }
    return {**inherited, **settings, **(extra or {})}


@contextmanager
def local_service(
    folder: Path, policies_dir: Path, extra: Mapping[str, str] | None = None
) -> Iterator[LocalService]:
    """Start a service in `folder` on a free port and stop it afterwards, whatever happens meanwhile.

    `extra` are further settings. Raises `LocalServiceFailed` when it is not ready in three minutes.
    """
    folder.mkdir(parents=True, exist_ok=True)
    log = folder / "serve.log"
    environment = environment_of(folder, policies_dir, extra)
    with log.open("wb") as output:
        process = subprocess.Popen(
            [sys.executable, "-m", "service.entry.cli", "serve", "--host", "127.0.0.1", "--port", "0"],
            env=environment,
            stdout=output,
            stderr=subprocess.STDOUT,
        )
        try:
            yield LocalService(_await_address(process, log), process, environment)
        finally:
            _stop(process)


def _await_address(process: subprocess.Popen[bytes], log: Path) -> str:
    deadline = time.monotonic() + _START_SECONDS_MAX
    while time.monotonic() < deadline:
        if process.poll() is not None:
            raise LocalServiceFailed(f"the service did not start:\n{log.read_text()[-2_000:]}")
        address = next(
            (word for word in log.read_text().split() if word.startswith("http://127.0.0.1:")), None
        )
        if address is not None and _is_ready(address):
            return address
        time.sleep(0.05)
    raise LocalServiceFailed(f"the service was not ready after {_START_SECONDS_MAX} s")


def _is_ready(address: str) -> bool:
    try:
        return httpx.get(f"{address}/readyz", timeout=2).status_code == httpx.codes.OK
    except httpx.HTTPError:
        return False


def _stop(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is not None:
        return
    process.send_signal(signal.SIGTERM)
    try:
        process.wait(timeout=_STOP_SECONDS_MAX)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
