"""A real Chromium, spoken to over its debugging pipe: what a page does when it is opened."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, Final

import pytest

NAMES: Final = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
FLAGS: Final = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-quic",
    "--disable-component-update", "--no-first-run", "--disable-dev-shm-usage", "--remote-debugging-pipe",
)  # fmt: skip

_LAUNCH: Final = """
import fcntl, os, sys
# The browser reads its third and writes its fourth file, whatever numbers ours have.
ours = [fcntl.fcntl(int(name), fcntl.F_DUPFD, 10) for name in sys.argv[1:3]]
os.dup2(ours[0], 3)
os.dup2(ours[1], 4)
os.execv(sys.argv[3], sys.argv[3:])
"""


@dataclass
class Page:
    """One page of a browser. `events` are what the browser told of it so far."""

    to_browser: BinaryIO
    from_browser: BinaryIO
    session: str = ""
    number: int = 0
    events: list[dict[str, Any]] = field(default_factory=list)

    def call(self, method: str, **params: Any) -> dict[str, Any]:
        """Call the browser and answer its result; events that come meanwhile are kept."""
        self.number += 1
        message = {"id": self.number, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        self.to_browser.write(json.dumps(message).encode() + b"\0")
        self.to_browser.flush()
        while True:
            answer = self._next()
            if answer.get("id") == self.number:
                assert "error" not in answer, answer
                found: dict[str, Any] = answer["result"]
                return found
            self.events.append(answer)

    def evaluate(self, expression: str) -> Any:
        """Answer what an expression of JavaScript says on the page."""
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in result, result
        return result["result"].get("value")

    def open(self, address: str) -> None:
        """Go to an address and wait until it is loaded."""
        for domain in ("Page", "Network", "Log", "Runtime"):
            self.call(f"{domain}.enable")
        self.events.clear()
        self.call("Page.navigate", url=address)
        while not any(event.get("method") == "Page.loadEventFired" for event in self.events):
            self.events.append(self._next())

    def prefer(self, scheme: str) -> None:
        """Be the browser of a person who prefers `light` or `dark`."""
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    def resize(self, width: int, height: int) -> None:
        """Give the window another size."""
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width, height=height, deviceScaleFactor=1, mobile=False,
        )  # fmt: skip

    def requested(self) -> list[str]:
        """Answer every address that the page asked for."""
        return [
            event["params"]["request"]["url"]
            for event in self.events
            if event.get("method") == "Network.requestWillBeSent"
        ]

    def complaints(self) -> list[str]:
        """Answer what the browser complained about: refused styles, errors, whatever scripts said."""
        told = ("Log.entryAdded", "Runtime.consoleAPICalled", "Runtime.exceptionThrown")
        return [json.dumps(event["params"]) for event in self.events if event.get("method") in told]

    def _next(self) -> dict[str, Any]:
        message = bytearray()
        while (byte := self.from_browser.read(1)) != b"\0":
            assert byte, "the browser has gone"
            message += byte
        answer: dict[str, Any] = json.loads(message)
        return answer


def find_browser() -> str:
    """Answer the browser's program; without one the test is skipped, which its report says."""
    found = next(filter(None, map(shutil.which, NAMES)), None)
    if found is None:
        # Continuous integration installs it: there its absence is a fault.
        assert not os.environ.get("CI"), "continuous integration has no Chromium"  # noqa: TID251 - says where we are
        pytest.skip("needs Chromium: apt-get install chromium")
    return found


@contextmanager
def open_browser(folder: Path) -> Iterator[Page]:
    """Start a browser with an empty profile in `folder`, and end it."""
    program = find_browser()
    read_end, to_browser = os.pipe()
    from_browser, write_end = os.pipe()
    command = [program, *FLAGS, f"--user-data-dir={folder / 'profile'}", "about:blank"]
    process = subprocess.Popen(
        [sys.executable, "-c", _LAUNCH, str(read_end), str(write_end), *command],
        pass_fds=(read_end, write_end),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    os.close(read_end)
    os.close(write_end)
    with os.fdopen(to_browser, "wb") as speaking, os.fdopen(from_browser, "rb") as hearing:
        try:
            browser = Page(speaking, hearing)
            target = browser.call("Target.createTarget", url="about:blank")["targetId"]
            session = browser.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
            yield Page(speaking, hearing, session, number=1_000)
        finally:
            process.kill()
            process.wait()
