"""Hostile sizes against a real service: what each takes, and how long the health check waits meanwhile."""

import json
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event, Thread
from typing import Any, Final

import httpx

from benchmarks.figures import timed
from benchmarks.tenancy import ingest, open_tenant, package_request
from service.entry.demo.local_service import local_service

_TINY: Final = 10_000
_BUDGET: Final = 1_000_000
_TURN_CHARACTERS: Final = 500_000
"""As long as a turn may be."""
_WAIT_SECONDS: Final = 0.02

MILLION_SPACES: Final = " " * 1_000_000
FAMILY: Final = "\U0001f469\u200d\U0001f469\u200d\U0001f467\u200d\U0001f466"
TEXTS: Final[Mapping[str, str]] = {
    "a million spaces": MILLION_SPACES,
    "a million spaces between two words": f"plot{' ' * 999_990}hedge",
    "100,000 newlines": "plot\n" + "\n" * 100_000,
    "100,000 nested brackets": "[" * 100_000 + "]" * 100_000,
    "2,000 families of emoji": FAMILY * 2_000,
    "a letter with 100,000 accents": "plot e" + "\u0301" * 100_000,
    "a table row of 100,000 cells": "| " * 100_000,
}


@dataclass(frozen=True, slots=True)
class Took:
    """What one request took and was answered, and the longest that the health check waited meanwhile."""

    name: str
    seconds: float
    status: int
    health_seconds: float


def hostile(
    address: str, client: httpx.Client, *, tiny: int = _TINY, word_bytes: int = 10**7
) -> Iterator[Took]:
    """Send each hostile size and answer what it took, with packages over what was kept of them at the end."""
    for name, text in TEXTS.items():
        yield _ask(address, f"evidence: {name}", lambda text=text: client.post("/evidence", json=_line(text)))
    for name, text in TEXTS.items():
        yield _ask(address, f"query: {name}", lambda text=text: _package(client, query=text))
    yield _ask(
        address, "a word of 10 MB, as JSON", lambda: client.post("/evidence", json=_line("a" * word_bytes))
    )
    words = b"The hedge of plot 18 was planted in spring. " * (word_bytes // 44)
    yield _ask(address, "10 MB of words, as a file", lambda: _upload(client, words))
    yield _ask(address, "a word of 10 MB, as a file", lambda: _upload(client, b"a" * word_bytes))
    deep = b'{"metadata": ' + b'{"a": ' * 50_000 + b"1" + b"}" * 50_001
    json_body = {"Content-Type": "application/json"}
    yield _ask(
        address, "a body of nested JSON", lambda: client.post("/evidence", content=deep, headers=json_body)
    )
    yield from _turns(address, client)
    tools = [{"name": f"t{at}", "description": "t", "schema": {}, "effect": "read"} for at in range(tiny)]
    yield _ask(address, f"{tiny:,} tiny tools", lambda: _package(client, tools=tools))
    yield _ask(address, "a budget of 2**31", lambda: _package(client, max_tokens=2**31))
    yield _ask(address, "a budget of 2**63", lambda: _package(client, max_tokens=2**63))
    ingest(client, _tiny_items(tiny))
    yield _ask(
        address,
        f"a package of a million tokens over {tiny:,} tiny items",
        lambda: _package(client, max_tokens=_BUDGET, sections={"evidence": {"max": _BUDGET - 10_000}}),
    )
    yield _ask(address, "a budget of 0", lambda: _package(client, max_tokens=0))


def measure_hostile(policies_dir: Path) -> None:
    """Print what each hostile size took, and the longest that the health check waited meanwhile."""
    settings = {"MUNIMENT_REQUESTS_PER_MINUTE": "1000000"}
    with (
        TemporaryDirectory() as name,
        local_service(Path(name), policies_dir, settings) as service,
        open_tenant(service, "hostile") as client,
    ):
        _package(client).raise_for_status()  # the first one loads vocabularies
        for took in hostile(service.address, client):
            print(
                f"{took.name:<60}{took.status}  {took.seconds * 1e3:8.0f} ms,"
                f" health check at most {took.health_seconds * 1e3:.0f} ms"
            )
    print(f"(aims: within a second, health under 200 ms; load average {os.getloadavg()[0]:.1f})")


def _ask(address: str, name: str, work: Callable[[], httpx.Response]) -> Took:
    with _watched(address) as waits:
        seconds, answer = timed(work)
    return Took(name, seconds, answer.status_code, max(waits))


@contextmanager
def _watched(address: str) -> Iterator[list[float]]:
    """Ask whether the service lives, again and again, on a thread; the list fills with seconds."""
    waits: list[float] = []
    stop = Event()

    def watch() -> None:
        with httpx.Client(base_url=address, timeout=120) as client:
            client.get("/healthz")  # opens the connection
            while True:
                waits.append(timed(lambda: client.get("/healthz").raise_for_status())[0])
                if stop.wait(_WAIT_SECONDS):
                    return

    thread = Thread(target=watch)
    thread.start()
    try:
        yield waits
    finally:
        stop.set()
        thread.join()


def _turns(address: str, client: httpx.Client) -> Iterator[Took]:
    """Say each text in a run of its own, and ask for a package that has to cut it."""
    for name, text in TEXTS.items():
        run = client.post("/executions", json={"project": "alpha", "objective": "Answer"}).json()["id"]
        turn = {"role": "user", "text": text[:_TURN_CHARACTERS]}
        yield _ask(
            address,
            f"turn: {name}",
            lambda run=run, turn=turn: client.post(f"/executions/{run}/turns", json=turn),
        )
        yield _ask(
            address,
            f"a package that cuts it: {name}",
            lambda run=run: _package(client, profile="default", execution_id=run, max_tokens=3_000),
        )


def _package(client: httpx.Client, query: str = "the hedge of plot 18", **changes: Any) -> httpx.Response:  # noqa: ANN401 - any field of the request
    body = {**package_request(""), "query": query, **changes}
    return client.post("/context-packages", json=body)


def _upload(client: httpx.Client, content: bytes) -> httpx.Response:
    meta = {name: value for name, value in _line("").items() if name != "text"}
    return client.post(
        "/evidence", data={"meta": json.dumps(meta)}, files={"file": ("word.txt", content, "text/plain")}
    )


def _tiny_items(count: int) -> Iterator[bytes]:
    for start in range(0, count, 1_000):
        lines = [
            _line(f"plot {start + at}", f"tiny://{start + at}") for at in range(min(1_000, count - start))
        ]
        yield b"".join(json.dumps(line).encode() + b"\n" for line in lines)


def _line(text: str, uri: str = "hostile://1") -> dict[str, Any]:
    return {
        "project": "alpha",
        "text": text,
        "source": {"uri": uri, "kind": "document", "observed_at": "2026-11-30T10:00:00Z"},
        "authority": "document",
    }
