"""The execution log over HTTP, from any line on: complete, in order, and in answers of bounded size."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import FixedClock
from evidence_site import open_evidence_site
from http_support import Site

from service.core.database import Database
from service.core.hashing import hash_text
from service.entry.http.executions_log import LOG_BYTES_MAX

MADE = hash_text("made")


@pytest.fixture
def site(database: Database, tmp_path: Path, clock: FixedClock) -> Iterator[Site]:
    with open_evidence_site(database, tmp_path / "data", clock) as site:
        yield site


@pytest.fixture
def agent(site: Site) -> dict[str, str]:
    return site.headers("agent", on_behalf_of="user-1")


def _open(site: Site, headers: dict[str, str]) -> str:
    body = {"project": "alpha", "objective": "Build the order application"}
    answer = site.client.post("/v1/executions", headers=headers, json=body)
    return str(answer.raise_for_status().json()["id"])


def _step(site: Site, headers: dict[str, str], run: str, task: str, **fields: Any) -> str:
    body = {"task_id": task, "exit_status": "started", **fields}
    answer = site.client.post(f"/v1/executions/{run}/steps", headers=headers, json=body)
    return str(answer.raise_for_status().json()["id"])


def _read(site: Site, headers: dict[str, str], path: str) -> tuple[list[str], str | None]:
    answer = site.client.get(path, headers=headers)
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"] == "application/x-ndjson"
    lines = [json.loads(line) for line in answer.text.split("\n") if line]
    return [line["task_id"] for line in lines], answer.links.get("next", {}).get("url")


def test_it_is_read_from_any_line_on(site: Site, agent: dict[str, str]) -> None:
    run = _open(site, agent)
    ids = [_step(site, agent, run, f"task-{number}") for number in range(5)]
    path = f"/v1/executions/{run}/log"

    assert _read(site, agent, path) == ([f"task-{number}" for number in range(5)], None)
    assert _read(site, agent, f"{path}?after={ids[2]}") == (["task-3", "task-4"], None)
    assert _read(site, agent, f"{path}?after={ids[4]}") == ([], None)


def test_links_lead_through_all_of_it(site: Site, agent: dict[str, str]) -> None:
    run = _open(site, agent)
    for number in range(5):
        _step(site, agent, run, f"task-{number}")

    found: list[list[str]] = []
    path: str | None = f"/v1/executions/{run}/log?limit=2"
    while path is not None:
        lines, path = _read(site, agent, path)
        found.append(lines)

    assert found == [["task-0", "task-1"], ["task-2", "task-3"], ["task-4"]]


def test_a_long_log_is_read_in_parts_that_are_not_too_large(site: Site, agent: dict[str, str]) -> None:
    run = _open(site, agent)
    read = [{"ref": f"file:{'x' * 480}{number}", "sha256": MADE} for number in range(100)]
    made = [{"name": f"{'x' * 190}{number}", **read[number]} for number in range(100)]
    for number in range(70):
        _step(site, agent, run, f"task-{number}", inputs=read, outputs=made)

    first = site.client.get(f"/v1/executions/{run}/log", headers=agent)
    rest, end = _read(site, agent, first.links["next"]["url"])

    assert LOG_BYTES_MAX < len(first.content) < LOG_BYTES_MAX + 400_000
    assert first.text.count("\n") + len(rest) == 70
    assert (rest[-1], end) == ("task-69", None)


def test_a_line_that_is_not_this_runs_is_no_place_to_begin(site: Site, agent: dict[str, str]) -> None:
    run, other = _open(site, agent), _open(site, agent)
    elsewhere = _step(site, agent, other, "one")

    for after in (elsewhere, "nothing", "01936d7e-0000-7000-8000-000000000000"):
        answer = site.client.get(f"/v1/executions/{run}/log?after={after}", headers=agent)
        assert (answer.status_code, answer.json()["code"]) == (422, "cursor_invalid")
    for limit in ("0", "5001", "-1", "x"):
        assert site.client.get(f"/v1/executions/{run}/log?limit={limit}", headers=agent).status_code == 422


def test_who_may_not_read_the_run_learns_nothing_of_its_log(site: Site, agent: dict[str, str]) -> None:
    run = _open(site, agent)
    line = _step(site, agent, run, "one", summary="The secret")
    outsider = site.headers("user", subject="user-2", projects=("beta",))
    operator = site.headers("operator", subject="operator-1")

    for path in (f"/v1/executions/{run}/log", f"/v1/executions/{run}/log?after={line}"):
        assert site.client.get(path, headers=outsider).status_code == 404
    assert "secret" not in site.client.get(f"/v1/executions/{run}/log", headers=operator).text
