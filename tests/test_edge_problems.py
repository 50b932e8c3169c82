"""The edge: whatever fails, the answer is a problem, nothing stays, and nothing leaks."""

import json
from collections.abc import Iterator
from pathlib import Path

import http_notes
import pytest
import structlog
from conftest import FixedClock
from fastapi import APIRouter
from http_support import Site, open_site
from sqlmodel import select

from service.audit.details import kept_request_id
from service.audit.principals import find_kept_principal
from service.audit.tables import AuditEventRow
from service.core.database import Database
from service.core.idempotency import IdempotencyRow
from service.core.outbox import OutboxRow
from service.entry.http.app import create_app
from service.entry.http.edge import new_router
from service.identity.model import Role

FAILURES = {
    "refused": (409, "conflict"),
    "collision": (409, "written_at_once"),
    "engine": (503, "dependency_unavailable"),
    "missing": (500, "internal_error"),
    "unsendable": (500, "internal_error"),
    "unknown_kind": (500, "refused"),
    "bug": (500, "internal_error"),
}


@pytest.fixture
def site(database: Database, tmp_path: Path, clock: FixedClock) -> Iterator[Site]:
    with open_site(database, tmp_path / "data", clock, routers=[http_notes.router]) as site:
        yield site


def test_work_that_fails_answers_a_problem_and_leaves_nothing(site: Site) -> None:
    headers = site.headers() | {"Idempotency-Key": "k"}
    for how, (status, code) in FAILURES.items():
        response = site.client.post("/v1/failures", headers=headers, json={"how": how})

        problem = response.json()
        assert (response.status_code, problem["code"]) == (status, code), how
        assert response.headers["Content-Type"] == "application/problem+json"
        assert problem["type"] == f"urn:muniment:problem:{code}"
        assert problem["request_id"] == response.headers["X-Request-ID"]
        assert {"title", "status", "detail"} <= problem.keys()
        assert "secret" not in response.text
        assert site.count(OutboxRow) == site.count(IdempotencyRow) == 0
        assert site.client.get("/v1/notes", headers=headers).status_code == 200


def test_a_refusal_carries_its_own_members_and_cannot_replace_the_standard_ones(site: Site) -> None:
    response = site.client.post("/v1/failures", headers=site.headers(), json={"how": "refused"})

    assert response.json()["blocked_by"] == ["a"]
    assert response.json()["status"] == 409
    assert response.json()["detail"] == "It is the wrong moment."


def test_what_is_down_says_when_to_come_back(site: Site) -> None:
    response = site.client.post("/v1/failures", headers=site.headers(), json={"how": "engine"})

    assert int(response.headers["Retry-After"]) >= 1


def test_a_request_id_comes_back_as_it_was_sent_unless_it_could_hurt_a_log(site: Site) -> None:
    for path in ("/healthz", "/v1/notes", "/v1/nothing"):
        for given in ("my-id.7", "a" * 100):
            assert site.client.get(path, headers={"X-Request-ID": given}).headers["X-Request-ID"] == given
        for given in ("", "a" * 101, "a b", "<script>", "a,b"):
            answered = site.client.get(path, headers={"X-Request-ID": given}).headers["X-Request-ID"]
            assert answered not in ("", given)


def test_each_request_is_logged_once_without_anything_that_was_sent(site: Site) -> None:
    headers = site.headers() | {"X-Request-ID": "r-1"}
    with structlog.testing.capture_logs() as logs:
        site.client.post("/v1/notes", headers=headers, json={"text": "canary-body"})
        site.client.get("/v1/notes?word=canary-query", headers=headers)
        site.client.get("/v1/names/canary-path", headers=headers)
        site.client.get("/v1/canary-unknown", headers=headers)
        site.client.post("/v1/failures", headers=headers, json={"how": "canary-bug"})

    lines = [line for line in logs if line["event"] == "request"]
    faults = [line for line in logs if line["event"] == "fault"]
    assert [line["route"] for line in lines] == [
        "/v1/notes",
        "/v1/notes",
        "/v1/names/{name}",
        "unmatched",
        "/v1/failures",
    ]
    assert lines[0].keys() >= {"method", "route", "status", "duration_ms", "request_id"}
    assert [fault["causes"][0].split(" ")[0] for fault in faults] == ["RuntimeError"]
    assert "canary" not in json.dumps(logs)
    assert "secret" not in json.dumps(logs)


def test_what_is_forbidden_is_recorded_and_changes_nothing_else(site: Site) -> None:
    author = site.headers(Role.POLICY_AUTHOR, subject="author-1") | {"X-Request-ID": "r-1"}

    assert site.client.post("/v1/staged", headers=author, json={"text": "a"}).status_code == 403
    assert site.client.get("/v1/nothing", headers=author).status_code == 404

    with site.runtime.database.read(site.tenants["acme"]) as session:
        [event] = session.exec(select(AuditEventRow)).all()
    cipher = site.runtime.ciphers.for_tenant(site.tenants["acme"])
    assert (event.action, event.ref) == ("request.refused", "POST:/v1/staged")
    assert event.request_id == kept_request_id("r-1", cipher)
    assert event.principal == find_kept_principal("policy_author:author-1", cipher)
    assert event.details == {"code": "forbidden"}
    assert site.count(OutboxRow) == 0


def test_a_route_without_a_scope_and_a_router_without_the_edge_cannot_be_served(site: Site) -> None:
    def open_to_all() -> None:
        """Answer anybody."""

    with pytest.raises(TypeError, match="demands no scope"):
        new_router("open").add_api_route("/open", open_to_all)
    with pytest.raises(TypeError, match="new_router"):
        create_app(site.runtime, extra_routers=[APIRouter()])


def test_a_failing_delivery_does_not_change_the_answer(site: Site) -> None:
    headers = site.headers()
    site.runtime.index.close()

    response = site.client.post("/v1/staged", headers=headers, json={"text": "a"})

    assert response.status_code == 201
    assert site.count(OutboxRow) >= 1
