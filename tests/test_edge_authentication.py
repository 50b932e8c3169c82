"""The edge: who may ask, for what, and how often."""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import http_notes
import pytest
from conftest import FixedClock
from http_support import Site, open_site
from sqlmodel import col, update

from service.core.database import Database
from service.core.ids import new_id
from service.identity.model import Role
from service.identity.tables import ApiKeyRow


@pytest.fixture
def site(database: Database, tmp_path: Path, clock: FixedClock) -> Iterator[Site]:
    with open_site(database, tmp_path / "data", clock, routers=[http_notes.router]) as site:
        yield site


def test_every_path_but_health_needs_a_credential_whether_it_exists_or_not(site: Site) -> None:
    for path in ("/v1/notes", "/v1/openapi.json", "/v1/nothing", "/docs", "/", "/healthz/"):
        response = site.client.get(path)

        assert response.status_code == 401, path
        assert response.headers["WWW-Authenticate"] == "Bearer"
        assert response.headers["Content-Type"] == "application/problem+json"
        assert response.json()["code"] == "unauthenticated"


def test_health_and_readiness_answer_anybody(site: Site) -> None:
    assert site.client.get("/healthz").json() == {"status": "ok"}
    assert site.client.get("/readyz").json() == {"status": "ready"}


def test_a_header_that_is_no_credential_is_401(site: Site) -> None:
    values = ["", "Bearer", "Bearer ", "Basic YTpi", "Bearer mun_a_b", "Bearer " + "x" * 10_000, "Bearer é"]

    statuses = [
        site.client.get("/v1/notes", headers={"Authorization": value.encode()}).status_code
        for value in (*values, "bearer\tx")
    ]

    assert statuses == [401] * 8


def test_two_credentials_in_one_request_are_none(site: Site) -> None:
    token = site.token()

    response = site.client.get(
        "/v1/notes", headers=[("Authorization", f"Bearer {token}"), ("Authorization", f"Bearer {token}")]
    )

    assert response.status_code == 401


def test_a_revoked_key_is_refused_from_the_next_request(site: Site) -> None:
    headers = site.headers()
    assert site.client.get("/v1/notes", headers=headers).status_code == 200

    with site.runtime.database.write(site.tenants["acme"]) as session:
        session.exec(
            update(ApiKeyRow)
            .where(col(ApiKeyRow.tenant_id) == site.tenants["acme"])
            .values(revoked_at=site.clock() - timedelta(seconds=1))
        )

    assert site.client.get("/v1/notes", headers=headers).status_code == 401


def test_a_role_without_the_scope_is_403_before_its_body_is_read(site: Site) -> None:
    headers = site.headers(Role.GRADER) | {"Content-Type": "application/json"}

    response = site.client.post("/v1/notes", headers=headers, content=b"not json")

    assert response.status_code == 403
    assert response.json()["code"] == "forbidden"


def test_another_tenants_note_and_one_that_never_existed_answer_alike(site: Site) -> None:
    mine = site.client.post("/v1/notes", headers=site.headers(), json={"text": "mine"}).json()
    stranger = site.headers(tenant="other", projects=())

    foreign = site.client.get(f"/v1/notes/{mine['id']}", headers=stranger)
    never = site.client.get(f"/v1/notes/{new_id()}", headers=stranger)

    assert foreign.status_code == never.status_code == 404
    assert _without_request(foreign.json()) == _without_request(never.json())
    assert foreign.headers.keys() == never.headers.keys()


def test_a_path_or_method_that_does_not_exist_is_a_problem_too(site: Site) -> None:
    headers = site.headers()

    missing = site.client.get("/v1/nothing", headers=headers)
    wrong = site.client.delete("/v1/notes", headers=headers)

    assert (missing.status_code, missing.json()["code"]) == (404, "not_found")
    assert (wrong.status_code, wrong.json()["code"]) == (405, "method_not_allowed")
    assert "Allow" in wrong.headers


def test_a_credential_that_asks_too_often_is_told_when_to_come_back(
    database: Database, tmp_path: Path, clock: FixedClock
) -> None:
    routers = [http_notes.router]
    with open_site(database, tmp_path / "data", clock, routers=routers, requests_per_minute=3) as site:
        busy, other = site.headers(), site.headers(subject="agent-2")
        statuses = [site.client.get("/v1/notes", headers=busy).status_code for _ in range(4)]
        refused = site.client.get("/v1/notes", headers=busy)

        assert statuses == [200, 200, 200, 429]
        assert refused.json()["code"] == "rate_limited"
        assert 1 <= int(refused.headers["Retry-After"]) <= 60
        assert site.client.get("/v1/notes", headers=other).status_code == 200
        assert site.client.get("/healthz").status_code == 200


def _without_request(problem: dict[str, object]) -> dict[str, object]:
    return {name: value for name, value in problem.items() if name != "request_id"}
