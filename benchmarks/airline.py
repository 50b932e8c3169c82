"""Real agent runs, replayed as executions: one package for each model turn, and what a cache can reuse."""

import statistics
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import httpx

from benchmarks.corpus import read_json_lines
from benchmarks.figures import Spread, timed
from benchmarks.tenancy import open_tenant
from service.entry.demo.local_service import local_service


def measure_airline(runs_path: Path, policies_dir: Path) -> None:
    """Print the time of a package, the time of a turn, and the share equal to the call before."""
    runs = read_json_lines(runs_path)
    builds: list[float] = []
    writes: list[float] = []
    shares: list[float] = []
    with TemporaryDirectory() as folder, local_service(Path(folder), policies_dir) as service:
        client = open_tenant(service, "airline")
        for number, run in enumerate(runs):
            _replay(client, f"run-{number}", run["messages"], builds=builds, writes=writes, shares=shares)
    print(f"{len(runs)} runs, {len(builds)} model turns")
    print(f"package: {Spread(tuple(builds)).milliseconds()}")
    print(f"turn or observation: {Spread(tuple(writes)).milliseconds()}")
    mean, spread = statistics.mean(shares), Spread(tuple(shares))
    print(f"share of a package equal to the start of the one before: mean {mean:.2f}, {spread.ratio()}")


def _replay(
    client: httpx.Client,
    name: str,
    messages: list[dict[str, Any]],
    *,
    builds: list[float],
    writes: list[float],
    shares: list[float],
) -> None:
    execution = _send(
        client,
        "/executions",
        {
            "project": "alpha",
            "external_ref": name,
            "objective": "Help the customer within the airline's policy",
            "requirements": [{"id": "served", "text": "The customer's request is settled within policy"}],
            "budgets": {"cost": "5.00", "steps": 200, "revisions": 3},
            "retention_class": "operational",
        },
    )
    before = ""
    for message in messages:
        if message["role"] == "assistant":
            request = _package_request(execution["id"])
            taken, package = timed(lambda request=request: _send(client, "/context-packages", request))
            builds.append(taken)
            text = package["rendered"]["text"]
            if before:
                shares.append(_shared_start(before, text) / len(text))
            before = text
        turn = _turn(message)
        writes.append(timed(lambda turn=turn: _send(client, f"/executions/{execution['id']}/turns", turn))[0])


def _turn(message: dict[str, Any]) -> dict[str, Any]:
    turn: dict[str, Any] = {"role": message["role"], "text": message.get("content") or ""}
    if message.get("tool_calls"):
        turn["tool_calls"] = [
            {
                "id": call["id"],
                "name": call["function"]["name"],
                "arguments": call["function"]["arguments"],
            }
            for call in message["tool_calls"]
        ]
    if message["role"] == "tool":
        turn["tool_call_id"] = message["tool_call_id"]
    return turn


def _package_request(execution_id: str) -> dict[str, Any]:
    return {
        "project": "alpha",
        "execution_id": execution_id,
        "purpose": "service",
        "encoding": "o200k_base",
        "max_tokens": 8_000,
        "reply_reserve": 1_000,
        "profile": "default",
        "render": "markdown",
    }


def _send(client: httpx.Client, path: str, body: dict[str, Any]) -> dict[str, Any]:
    answer = client.post(path, json=body)
    if answer.is_error:
        raise RuntimeError(f"{path} answered {answer.status_code}: {answer.text[:300]}")
    found: dict[str, Any] = answer.json()
    return found


def _shared_start(first: str, second: str) -> int:
    length = 0
    for one, other in zip(first, second, strict=False):
        if one != other:
            break
        length += 1
    return length
