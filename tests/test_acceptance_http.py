"""Candidates, requests for checks and checks over HTTP: shapes, statuses, and what the handoff shows."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import FixedClock
from http_support import Site, open_site

from service.core.database import Database
from service.core.hashing import hash_text
from service.core.ids import new_id
from service.executions.acceptance.tables import CheckRequestRow
from service.policies.read_folder import read_folder
from service.policies.seed import seed_bundle

POLICIES = Path(__file__).parents[1] / "policies"
ARTIFACT, OTHER_ARTIFACT = hash_text("build 17"), hash_text("build 18")
FORM = {"ref": "src/login/form.py", "sha256": hash_text("form")}
OPENING: dict[str, Any] = {
    "project": "alpha",
    "objective": "Build the order application",
    "requirements": [
        {"id": "login", "text": "Login works", "grader": "browser", "depends_on": ["src/login"]},
        {"id": "orders", "text": "Orders can be filtered"},
    ],
}


@pytest.fixture
def site(database: Database, tmp_path: Path, clock: FixedClock) -> Iterator[Site]:
    with open_site(database, tmp_path / "data", clock) as site:
        yield site


@pytest.fixture
def agent(site: Site) -> dict[str, str]:
    headers = site.headers("agent", subject="agent-1", on_behalf_of="user-1")
    with site.runtime.database.write(site.tenants["acme"]) as session:
        seed_bundle(session, site.tenants["acme"], read_folder(POLICIES), now=site.clock())
    return headers


@pytest.fixture
def grader(site: Site) -> dict[str, str]:
    return site.headers("grader", subject="grader-1")


@pytest.fixture
def run(site: Site, agent: dict[str, str]) -> dict[str, Any]:
    response = site.client.post("/v1/executions", headers=agent, json=OPENING)
    return dict(response.raise_for_status().json())


def _post(site: Site, headers: dict[str, str], path: str, body: object) -> tuple[int, dict[str, Any]]:
    response = site.client.post(f"/v1/executions/{path}", headers=headers, json=body)
    return response.status_code, response.json()


def _check(run: dict[str, Any], requirement: str = "login", **fields: Any) -> dict[str, Any]:
    return {
        "requirement": requirement,
        "passed": True,
        "artifact_hash": ARTIFACT,
        "contract_hash": run["contract_hash"],
        "grader": {"id": "browser", "version": "3"},
        **fields,
    }


def _handoff(site: Site, headers: dict[str, str], run: dict[str, Any]) -> dict[str, Any]:
    return dict(site.client.get(f"/v1/executions/{run['id']}/handoff", headers=headers).json())


def test_what_is_asked_for_is_listed_until_it_is_answered(
    site: Site, agent: dict[str, str], grader: dict[str, str], run: dict[str, Any]
) -> None:
    run_id, asked = run["id"], {"requirements": ["login"]}
    without, problem = _post(site, agent, f"{run_id}/check-requests", asked)
    submitted = _post(site, agent, f"{run_id}/candidates", {"artifact_hash": ARTIFACT, "inputs": [FORM]})
    unknown = _post(site, agent, f"{run_id}/check-requests", {"requirements": ["speed"]})
    statuses = [_post(site, agent, f"{run_id}/check-requests", asked)[0] for _ in range(2)]
    listed = site.client.get("/v1/check-requests", headers=grader).json()
    _post(site, grader, f"{run_id}/checks", _check(run))
    afterwards = site.client.get("/v1/check-requests", headers=grader).json()

    assert (without, problem["code"]) == (409, "candidate_missing")
    assert (submitted[0], submitted[1]["inputs_known"]) == (201, ["login"])
    assert (unknown[0], unknown[1]["code"]) == (422, "requirement_unknown")
    assert statuses == [201, 200]
    assert listed["items"] == [
        {
            "id": listed["items"][0]["id"],
            "execution_id": run_id,
            "requirement": "login",
            "text": "Login works",
            "grader": "browser",
            "artifact_hash": ARTIFACT,
            "contract_hash": run["contract_hash"],
            "at": "2026-11-30T10:00:00Z",
        }
    ]
    assert afterwards == {"items": [], "next_cursor": None}


def test_the_list_is_paged_and_filtered(
    site: Site, agent: dict[str, str], grader: dict[str, str], run: dict[str, Any]
) -> None:
    run_id = run["id"]
    _post(site, agent, f"{run_id}/candidates", {"artifact_hash": ARTIFACT})
    _post(site, agent, f"{run_id}/check-requests", {})

    first = site.client.get("/v1/check-requests", headers=grader, params={"limit": 1})
    second = site.client.get(first.links["next"]["url"], headers=grader).json()
    filtered = site.client.get(
        "/v1/check-requests", headers=grader, params={"execution_id": run_id, "requirement": "orders"}
    ).json()

    assert [one["requirement"] for one in first.json()["items"] + second["items"]] == ["login", "orders"]
    assert second["next_cursor"] is None
    assert [one["requirement"] for one in filtered["items"]] == ["orders"]


def test_another_tenants_requests_do_not_exist(
    site: Site, agent: dict[str, str], run: dict[str, Any]
) -> None:
    _post(site, agent, f"{run['id']}/candidates", {"artifact_hash": ARTIFACT})
    _post(site, agent, f"{run['id']}/check-requests", {})
    stranger = site.headers("grader", subject="grader-1", tenant="other")

    listed = site.client.get("/v1/check-requests", headers=stranger).json()
    foreign, missing = (
        site.client.get("/v1/check-requests", headers=stranger, params={"execution_id": one})
        for one in (run["id"], new_id())
    )

    assert listed["items"] == []
    assert foreign.status_code == missing.status_code == 404
    assert foreign.json() | {"request_id": ""} == missing.json() | {"request_id": ""}


def test_a_refused_request_leaves_no_row(site: Site, agent: dict[str, str], run: dict[str, Any]) -> None:
    _post(site, agent, f"{run['id']}/candidates", {"artifact_hash": ARTIFACT})

    refused = [
        _post(site, agent, f"{run['id']}/check-requests", body)[0]
        for body in (
            {"requirements": ["login", "speed"]},
            {"requirements": ["two words"]},
            {"requirements": [""]},
            {"requirements": "login"},
            {"requirement": "login"},
        )
    ]

    assert refused == [422] * 5
    assert site.count(CheckRequestRow) == 0


def test_a_repeat_with_its_key_answers_the_first_answer(
    site: Site, agent: dict[str, str], run: dict[str, Any]
) -> None:
    _post(site, agent, f"{run['id']}/candidates", {"artifact_hash": ARTIFACT})
    keyed = agent | {"Idempotency-Key": "ask-1"}

    first, again = (
        site.client.post(f"/v1/executions/{run['id']}/check-requests", headers=keyed, json={})
        for _ in range(2)
    )

    assert (first.status_code, again.status_code) == (201, 201)
    assert again.headers["Idempotent-Replayed"] == "true"
    assert again.json() == first.json()


def test_the_handoff_shows_what_is_carried_over_and_what_is_escalated(
    site: Site, agent: dict[str, str], grader: dict[str, str], run: dict[str, Any]
) -> None:
    run_id = run["id"]
    told = {"expected": "3 orders", "observed": "none", "reproduce": "filter", "failure_kind": "missing"}
    _post(site, agent, f"{run_id}/candidates", {"artifact_hash": ARTIFACT, "inputs": [FORM]})
    _post(site, grader, f"{run_id}/checks", _check(run))
    for _ in range(4):
        _post(site, grader, f"{run_id}/checks", _check(run, "orders", passed=False, **told))
    _post(site, agent, f"{run_id}/candidates", {"artifact_hash": OTHER_ARTIFACT, "inputs": [FORM]})

    login, orders = _handoff(site, agent, run)["checks"]
    shown = site.client.get(f"/v1/executions/{run_id}", headers=agent).json()
    redacted = _handoff(site, site.headers("operator", subject="operator-1"), run)["checks"]

    assert (login["status"], login["carried_from"], login["escalated"]) == ("passed", ARTIFACT, False)
    assert (orders["status"], orders["failure_kind"]) == ("stale", "missing")
    assert (orders["failures"], orders["escalated"]) == (4, True)
    assert shown["pending_action"] == "escalate:orders"
    assert redacted == [login, orders]


def test_a_grader_who_is_the_author_is_refused_and_so_is_evidence_that_is_not_there(
    site: Site, agent: dict[str, str], grader: dict[str, str], run: dict[str, Any]
) -> None:
    _post(site, agent, f"{run['id']}/candidates", {"artifact_hash": ARTIFACT})
    author = site.headers("grader", subject="agent-1")

    own = _post(site, author, f"{run['id']}/checks", _check(run))
    dangling = _post(site, grader, f"{run['id']}/checks", _check(run, output_ref=f"evidence:{new_id()}"))
    opaque = _post(site, grader, f"{run['id']}/checks", _check(run, output_ref="s3://screens/1.png"))

    assert (own[0], own[1]["code"]) == (403, "grader_is_author")
    assert (dangling[0], dangling[1]["code"]) == (404, "reference_not_found")
    assert dangling[1]["errors"][0]["pointer"] == "/output_ref"
    assert opaque[0] == 201


def test_what_was_begun_in_no_manifest_keeps_a_run_from_being_completed(
    site: Site, agent: dict[str, str], grader: dict[str, str]
) -> None:
    opening = OPENING | {"requirements": [{"id": "orders", "text": "Orders can be filtered"}]}
    opened = site.client.post("/v1/executions", headers=agent, json=opening).raise_for_status().json()
    path = opened["id"]
    _post(site, agent, f"{path}/candidates", {"artifact_hash": ARTIFACT})
    _post(site, agent, f"{path}/steps", {"task_id": "mend", "exit_status": "started"})
    passed = {
        "requirement": "orders",
        "passed": True,
        "artifact_hash": ARTIFACT,
        "contract_hash": opened["contract_hash"],
        "grader": {"id": "browser", "version": "3"},
    }

    _, checked = _post(site, grader, f"{path}/checks", passed)
    found = {"artifact_hash": ARTIFACT, "contract_hash": opened["contract_hash"]}
    _, resumed = _post(site, agent, f"{path}/resume", found)

    assert checked["execution_status"] == "open"
    assert resumed["decision"] == "continue:mend"
