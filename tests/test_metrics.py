"""Metrics: what waits and what was asked, by number alone, on a port of their own."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import httpx
import pytest
from conftest import FixedClock
from fastapi.testclient import TestClient
from http_support import TENANT
from memories_world import MemoryWorld, memory_world

from service.core.database import Database
from service.core.outbox import ATTEMPTS_MAX, OutboxRow
from service.entry.http.app import create_app
from service.entry.metrics.listen import Metrics, build_metrics, listen
from service.governance.backlog import KEPT_SECONDS

DOCS = Path(__file__).parents[1] / "docs"
LABELS = {"method", "route", "status", "state", "le"}


@pytest.fixture
def world(database: Database, tmp_path: Path, clock: FixedClock) -> Iterator[MemoryWorld]:
    with memory_world(database, tmp_path, clock) as world:
        yield world


@pytest.fixture
def metrics(world: MemoryWorld) -> Metrics:
    return build_metrics(world.site.runtime)


def number(metrics: Metrics, name: str, **labels: str) -> float | None:
    return metrics.registry.get_sample_value(f"muniment_{name}", labels)


def scrape(metrics: Metrics) -> str:
    listening = listen(metrics, host="127.0.0.1", port=0)
    try:
        return httpx.get(f"http://127.0.0.1:{listening.port}/metrics").raise_for_status().text
    finally:
        listening.close()


def wait_for_a_person(world: MemoryWorld, *, tenant: str = "acme") -> None:
    agent = world.of("agent", "agent-1", for_user="user-1", tenant=tenant)
    seen = world.of("user", "user-1", tenant=tenant)
    consent = {"subject": "user-1", "granted": True, "text_version": "2026-11"}
    world.call("PUT", "/consents/personalisation", seen, consent)
    opened = {"project": "alpha", "objective": "answer", "requirements": []}
    run = world.call("POST", "/executions", agent, opened, expect=201)["id"]
    said = {"role": "user", "text": "Please keep it short."}
    turn = world.call("POST", f"/executions/{run}/turns", agent, said, expect=201)["id"]
    assert world.propose(turn, who=agent, confidence=0.6)["decision"] == "pending_review"


def test_proposals_of_all_tenants_are_counted_with_the_age_of_the_oldest(
    world: MemoryWorld, metrics: Metrics, clock: FixedClock
) -> None:
    wait_for_a_person(world)
    clock.advance(hours=1)
    wait_for_a_person(world, tenant="globex")
    clock.advance(minutes=5)

    assert number(metrics, "proposals_waiting") == 2
    assert (
        number(metrics, "proposals_oldest_waiting_seconds") == timedelta(hours=1, minutes=5).total_seconds()
    )


def test_the_record_is_asked_once_in_a_while_however_often_numbers_are(
    world: MemoryWorld, metrics: Metrics, clock: FixedClock
) -> None:
    assert number(metrics, "proposals_waiting") == 0
    wait_for_a_person(world)

    assert number(metrics, "proposals_waiting") == 0
    clock.advance(seconds=KEPT_SECONDS)
    assert number(metrics, "proposals_waiting") == 1


def test_messages_are_counted_by_how_their_delivery_stands(world: MemoryWorld, metrics: Metrics) -> None:
    assert world.user
    tenant_id = world.site.tenants[TENANT]
    runtime = world.site.runtime
    now = runtime.clock()
    with runtime.database.write(tenant_id) as session:
        for ago, attempts in ((30, 0), (-60, 3), (90, ATTEMPTS_MAX)):
            session.add(
                OutboxRow(
                    tenant_id=tenant_id,
                    id=runtime.ids(),
                    topic="memory.changed",
                    payload={},
                    created_at=now,
                    available_at=now - timedelta(seconds=ago),
                    attempts=attempts,
                    failure="Unavailable" if attempts else None,
                )
            )

    states = ("due", "failing", "dead")
    assert [number(metrics, "outbox_messages", state=state) for state in states] == [1, 1, 1]
    assert number(metrics, "outbox_oldest_due_seconds") == 30


def test_what_runs_wait_for_is_counted(world: MemoryWorld, metrics: Metrics) -> None:
    opened = {"project": "alpha", "objective": "order", "requirements": []}
    run = world.call("POST", "/executions", world.agent, opened, expect=201)["id"]
    path = f"/executions/{run}"
    asked = {"command": {"kind": "orders.create", "sku": "A1"}}
    world.call("POST", f"{path}/approvals", world.agent, asked, expect=201)
    effect = {"operation_id": "order-1", "kind": "orders.create", "request": {"sku": "A1"}}
    world.call("POST", f"{path}/effects", world.agent, effect, expect=201)
    for status in ("dispatched", "unknown"):
        world.call("PATCH", f"{path}/effects/order-1", world.agent, {"status": status})

    assert number(metrics, "approvals_pending") == 1
    found = [number(metrics, "effects", status=status) for status in ("dispatched", "unknown", "escalated")]
    assert found == [0, 1, 0]


def test_a_record_that_does_not_answer_costs_its_own_numbers_alone(
    world: MemoryWorld, tmp_path: Path
) -> None:
    gone = Database(f"sqlite:///{tmp_path / 'empty.db'}")
    try:
        lost = build_metrics(replace(world.site.runtime, database=gone))
        lost.requests.saw("GET", "/v1/memories", 200, 0.1)

        assert number(lost, "record_readable") == 0
        assert number(lost, "proposals_waiting") is None
        assert number(lost, "http_requests_total", method="GET", route="/v1/memories", status="2xx") == 1
    finally:
        gone.close()


def test_requests_are_counted_by_route_and_never_by_what_was_asked(
    world: MemoryWorld, metrics: Metrics
) -> None:
    with TestClient(create_app(world.site.runtime, saw=metrics.requests.saw)) as client:
        client.get("/v1/memories/secret-canary", headers=world.user)
        client.get("/v1/canary-of-a-path?subject=canary", headers=world.user)
        client.request("CANARY", "/v1/memories", headers=world.user)
        client.request("BREW", "/v1/memories", headers=world.user)
    page = scrape(metrics)

    route = "/v1/memories/{memory_id}"
    assert number(metrics, "http_requests_total", method="GET", route=route, status="4xx") == 1
    assert number(metrics, "http_request_duration_seconds_count", method="GET", route=route) == 1
    assert number(metrics, "http_requests_total", method="other", route="unmatched", status="4xx") == 2
    assert "canary" not in page.lower()


def test_no_label_can_hold_a_name_or_a_text(world: MemoryWorld, metrics: Metrics) -> None:
    wait_for_a_person(world, tenant="globex")
    metrics.requests.saw("GET", "/v1/memories", 200, 0.1)
    page = scrape(metrics)
    labels = {name for part in re.findall(r"\{([^}]*)\} ", page) for name in re.findall(r'(\w+)="', part)}

    assert labels == LABELS
    for word in ("acme", "globex", "alpha", "user-1", "agent-1", "reply_style", "concise", "keep it short"):
        assert word not in page
    assert all(tenant_id not in page for tenant_id in world.site.tenants.values())


def test_every_metric_is_documented_with_its_labels(metrics: Metrics) -> None:
    text = (DOCS / "operating.md").read_text()
    families = list(metrics.registry.collect())
    names = [f"{family.name}_total" if family.type == "counter" else family.name for family in families]

    assert len(names) >= 10
    assert [name for name in names if f"`{name}`" not in text] == []


def test_a_port_that_is_taken_is_refused(metrics: Metrics) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()

        with pytest.raises(OSError, match="in use"):
            listen(metrics, host="127.0.0.1", port=taken.getsockname()[1])


def test_serve_listens_for_who_measures_where_a_port_is_set(tmp_path: Path) -> None:
    settings = {"MUNIMENT_DATA_DIR": str(tmp_path / "data"), "MUNIMENT_METRICS_PORT": "0"}
    process = subprocess.Popen(
        [sys.executable, "-m", "service.entry.cli", "serve", "--port", "0"],
        env=dict(os.environ) | settings,  # noqa: TID251 - the process's own
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        assert process.stderr is not None
        served = process.stdout.readline().split()[-1]
        log = next(line for line in process.stderr if "metrics_listen" in line)
        assert httpx.get(f"{served}/v1/memories", timeout=60).status_code == 401
        page = httpx.get(f"http://127.0.0.1:{json.loads(log)['port']}/metrics", timeout=60).text
    finally:
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=60)

    assert process.returncode == 0
    assert 'muniment_http_requests_total{method="GET",route="unmatched",status="4xx"} 1.0' in page
    assert "muniment_record_readable 1.0" in page
