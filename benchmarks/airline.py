"""Real agent runs, replayed as executions: one package for each model turn, and what a cache can reuse."""

import statistics
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import httpx

from benchmarks.corpus import read_json_lines
from benchmarks.figures import Spread, timed
from benchmarks.tenancy import open_tenant
from service.entry.demo.local_service import local_service

_BUDGETS: Final = (4_000, 8_000, 16_000)
_TIMED_BUDGET: Final = 8_000


def measure_airline(runs_path: Path, policies_dir: Path) -> None:
    """Print the time of a package, the time of a turn, and the share equal to the call before."""
    runs = read_json_lines(runs_path)
    builds: list[float] = []
    writes: list[float] = []
    shares: dict[int, list[float]] = {tokens: [] for tokens in _BUDGETS}
    with TemporaryDirectory() as folder, local_service(Path(folder), policies_dir) as service:
        client = open_tenant(service, "airline")
        for number, run in enumerate(runs):
            _replay(client, f"run-{number}", run["messages"], builds=builds, writes=writes, shares=shares)
    print(f"{len(runs)} runs, {len(builds)} model turns")
    print(f"package: {Spread(tuple(builds)).milliseconds()}")
    print(f"turn or observation: {Spread(tuple(writes)).milliseconds()}")
    for tokens, found in shares.items():
        mean, spread = statistics.mean(found), Spread(tuple(found)).ratio()
        print(f"{tokens} tokens: share equal to the start of the package before: mean {mean:.2f}, {spread}")


def _replay(
    client: httpx.Client,
    name: str,
    messages: list[dict[str, Any]],
    *,
    builds: list[float],
    writes: list[float],
    shares: dict[int, list[float]],
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
    before = dict.fromkeys(_BUDGETS, "")
    for message in messages:
        if message["role"] == "assistant":
            for tokens in _BUDGETS:
                request = _package_request(execution["id"], tokens)
                taken, package = timed(partial(_send, client, "/context-packages", request))
                text = package["rendered"]["text"]
                if tokens == _TIMED_BUDGET:
                    builds.append(taken)
                if before[tokens]:
                    shares[tokens].append(_shared_start(before[tokens], text) / len(text))
                before[tokens] = text
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


def _package_request(execution_id: str, max_tokens: int) -> dict[str, Any]:
    return {
        "project": "alpha",
        "execution_id": execution_id,
        "purpose": "service",
        "encoding": "o200k_base",
        "max_tokens": max_tokens,
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
