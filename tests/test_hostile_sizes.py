"""Hostile sizes against a real process: each is answered or refused, and the service lives on meanwhile.

The limits are far above what is needed (`python -m benchmarks hostile` measures that), so that a busy machine
passes, and only time that grows faster than a text's length fails.
"""

import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Event, Thread
from typing import Any

import httpx
import pytest
from evidence_site import POLICIES, body

from service.entry.demo.local_service import local_service

SECONDS_MAX = 30
HEALTH_SECONDS_MAX = 5
FAMILY = "\U0001f469\u200d\U0001f469\u200d\U0001f467\u200d\U0001f466"
TEXTS = {
    "spaces": " " * 1_000_000,
    "spaces-between-words": f"plot{' ' * 999_990}hedge",
    "newlines": "plot" + "\n" * 100_000,
    "brackets": "[" * 100_000 + "]" * 100_000,
    "joined-emoji": FAMILY * 2_000,
    "accents": "plot e" + "\u0301" * 100_000,
    "cells": "| " * 100_000,
}
TURN_CHARACTERS_MAX = 500_000
WORD_BYTES = 1_100_000
TINY_ITEMS = 3_000


@dataclass
class Served:
    """A running service, and a client of an agent in it."""

    address: str
    client: httpx.Client
    longest: float = 0

    def post(self, path: str, body: dict[str, Any]) -> httpx.Response:
        """Send it while the health check is watched."""
        return self.watched(lambda: self.client.post(path, json=body))

    def package(self, **changes: Any) -> httpx.Response:
        """Ask for a package while the health check is watched."""
        asked = {
            "project": "alpha",
            "purpose": "service",
            "query": "the hedge of plot 18",
            "encoding": "o200k_base",
            "max_tokens": 3_000,
            "profile": "default",
            "render": "markdown",
        }
        return self.post("/context-packages", asked | changes)

    def watched(self, work: Callable[[], httpx.Response]) -> httpx.Response:
        """Answer what the work did, which took no longer than it may and let the health check pass."""
        with _health(self.address) as waits:
            started = time.monotonic()
            answer = work()
            self.longest = time.monotonic() - started
        assert self.longest < SECONDS_MAX
        assert max(waits) < HEALTH_SECONDS_MAX
        assert answer.status_code < 500
        return answer


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder: Path = tmp_path_factory.mktemp("hostile-sizes")
    with local_service(folder, POLICIES, {"MUNIMENT_REQUESTS_PER_MINUTE": "100000"}) as service:
        service.command("tenants", "create", "acme")
        service.command("projects", "create", "--tenant", "acme", "--name", "alpha", "--member", "user-1")
        token = service.key(
            "acme", "--project", "alpha", "--role", "agent", "--subject", "a", "--on-behalf-of", "user-1"
        )
        with httpx.Client(
            base_url=f"{service.address}/v1", headers={"Authorization": f"Bearer {token}"}, timeout=100
        ) as client:
            yield Served(service.address, client)


@contextmanager
def _health(address: str) -> Iterator[list[float]]:
    waits: list[float] = []
    stop = Event()

    def watch() -> None:
        with httpx.Client(base_url=address, timeout=100) as client:
            while True:
                started = time.monotonic()
                assert client.get("/healthz").status_code == 200
                waits.append(time.monotonic() - started)
                if stop.wait(0.02):
                    return

    thread = Thread(target=watch)
    thread.start()
    try:
        yield waits
    finally:
        stop.set()
        thread.join()
    assert waits


@pytest.mark.parametrize("name", TEXTS)
def test_evidence_is_kept_and_a_query_is_refused(served: Served, name: str) -> None:
    kept = served.post("/evidence", body(TEXTS[name], f"hostile://{name}"))
    asked = served.package(query=TEXTS[name])

    assert kept.status_code == 201
    assert asked.status_code == 422


@pytest.mark.parametrize("name", TEXTS)
def test_a_package_cuts_a_turn_to_its_budget(served: Served, name: str) -> None:
    run = served.post("/executions", {"project": "alpha", "objective": "Answer"}).json()["id"]
    turn = {"role": "user", "text": TEXTS[name][:TURN_CHARACTERS_MAX]}
    assert served.post(f"/executions/{run}/turns", turn).status_code == 201

    package = served.package(execution_id=run)

    assert package.status_code == 201
    assert package.json()["used_tokens"] <= 3_000


def test_a_word_of_megabytes_costs_no_more_than_words_of_the_same_size(served: Served) -> None:
    def upload(name: str, content: bytes) -> float:
        meta = {field: value for field, value in body("", f"file://{name}").items() if field != "text"}
        answer = served.watched(
            lambda: served.client.post(
                "/evidence", data={"meta": json.dumps(meta)}, files={"file": ("a.txt", content, "text/plain")}
            )
        )
        assert answer.status_code == 201
        return served.longest

    words = b"The hedge of plot 18 was planted in spring. " * (WORD_BYTES // 44)
    ordinary = min(upload("words", words), upload("more-words", words + b"It grew."))

    assert upload("word", b"a" * WORD_BYTES) < 5 * ordinary
    assert served.post("/evidence", body("a" * WORD_BYTES)).status_code == 413


def test_nested_json_is_refused_as_a_body_and_kept_as_a_text(served: Served) -> None:
    deep = b'{"metadata": ' + b'{"a": ' * 50_000 + b"1" + b"}" * 50_001
    headers = {"Content-Type": "application/json"}

    refused = served.watched(lambda: served.client.post("/evidence", content=deep, headers=headers))
    nested = '{"a": ' * 20_000 + "1" + "}" * 20_000
    kept = served.post("/evidence", body(nested, "hostile://json", media_type="application/json"))

    assert refused.status_code == 422
    assert kept.status_code in {201, 422}


@pytest.mark.parametrize("budget", [2**31, 2**63, 10**400, -1, 0])
def test_a_budget_that_cannot_be_is_refused(served: Served, budget: int) -> None:
    assert served.package(max_tokens=budget).status_code == 422


def test_a_package_over_thousands_of_tiny_items(served: Served) -> None:
    lines = [json.dumps(body(f"plot {number}", f"tiny://{number}")) for number in range(TINY_ITEMS)]
    for start in range(0, TINY_ITEMS, 1_000):
        answer = served.client.post(
            "/evidence/batch",
            content="\n".join(lines[start : start + 1_000]),
            headers={"Content-Type": "application/x-ndjson"},
        )
        assert answer.json()["rejected"] == []

    package = served.package(max_tokens=1_000_000, sections={"evidence": {"max": 900_000}})

    assert package.status_code == 201
    assert package.json()["used_tokens"] <= 1_000_000


def test_ten_thousand_tools_are_refused(served: Served) -> None:
    tools = [{"name": f"t{at}", "description": "t", "schema": {}, "effect": "read"} for at in range(10_000)]

    assert served.package(tools=tools).status_code == 422
