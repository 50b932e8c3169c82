"""Runs over HTTP: shapes, statuses and headers, as `api.md` has them."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import FixedClock
from http_support import Site, open_site

from service.core.database import Database
from service.core.hashing import hash_text
from service.executions.tables import ExecutionRow
from service.policies.read_folder import read_folder
from service.policies.seed import seed_bundle

POLICIES = Path(__file__).parents[1] / "policies"

OPENING: dict[str, Any] = {
    "project": "alpha",
    "external_ref": "order-app-42",
    "objective": "Answer the planning query for plot 18",
    "requirements": [
        {"id": "login", "text": "Login works", "grader": "browser", "depends_on": ["src/login"]}
    ],
    "budgets": {"cost": "5.00", "steps": 40, "revisions": 3},
    "deadline": None,
    "retention_class": "operational",
    "memory_mode": "read_write",
}
HASH = hash_text("build 17")
NOT_CHECKED = {
    "requirement": "login",
    "status": "missing",
    "check_id": None,
    "evidence": None,
    "failure_kind": None,
    "carried_from": None,
    "failures": 0,
    "escalated": False,
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


def _open(site: Site, headers: dict[str, str], **fields: Any) -> dict[str, Any]:
    response = site.client.post("/v1/executions", headers=headers, json=OPENING | fields)
    assert response.status_code == 201, response.text
    return dict(response.json())


def _post(site: Site, headers: dict[str, str], path: str, body: object) -> tuple[int, dict[str, Any]]:
    response = site.client.post(f"/v1/executions/{path}", headers=headers, json=body)
    return response.status_code, response.json()


def test_a_run_is_opened_and_read_back(site: Site, agent: dict[str, str]) -> None:
    opened = _open(site, agent)

    read = site.client.get(f"/v1/executions/{opened['id']}", headers=agent)
    assert read.json() == opened
    assert read.headers["ETag"] == '"1"'
    assert (opened["version"], opened["status"], opened["contract_origin"]) == (1, "open", "agent")
    assert opened["budgets"] == {"cost": "5.00", "steps": 40, "revisions": 3}
    assert opened["tasks"] == {"done": 0, "open": 0, "blocked": 0}
    assert "state" not in opened


def test_an_external_reference_finds_its_run_and_is_taken(site: Site, agent: dict[str, str]) -> None:
    opened = _open(site, agent)
    _open(site, agent, external_ref=None)

    found = site.client.get(
        "/v1/executions?external_ref=order-app-42&status=open&project=alpha", headers=agent
    )
    again = site.client.post("/v1/executions", headers=agent, json=OPENING)
    assert [one["id"] for one in found.json()["items"]] == [opened["id"]]
    assert (again.status_code, again.json()["code"]) == (409, "external_ref_taken")
    assert again.json()["execution_id"] == opened["id"]


def test_an_idempotency_key_answers_the_first_run_again(site: Site, agent: dict[str, str]) -> None:
    headers = agent | {"Idempotency-Key": "k-1"}

    first, second = (site.client.post("/v1/executions", headers=headers, json=OPENING) for _ in range(2))

    assert (first.json(), second.status_code) == (second.json(), 201)
    assert second.headers["Idempotent-Replayed"] == "true"


def test_what_cannot_be_opened_is_422_and_leaves_no_row(site: Site, agent: dict[str, str]) -> None:
    twice = [{"id": "a", "text": "x"}, {"id": "a", "text": "y"}]
    faults: list[dict[str, Any]] = [
        {"tenant": "acme"},
        {"objective": ""},
        {"objective": "a\x00b"},
        {"deadline": "2026-12-24"},
        {"deadline": "2026-12-24T10:00:00"},
        {"budgets": {"cost": -1}},
        {"budgets": {"cost": "NaN"}},
        {"budgets": {"steps": 1.5}},
        {"budgets": {"steps": 2**63}},
        {"memory_mode": "all"},
        {"acting_user": "user-2"},
        {"retention_class": "for-ever"},
        {"external_ref": "white space"},
        {"requirements": twice},
    ]

    for fields in faults:
        response = site.client.post("/v1/executions", headers=agent, json=OPENING | fields)
        assert (fields, response.status_code) == (fields, 422)
    assert site.count(ExecutionRow) == 0
    assert site.client.get("/v1/executions", headers=agent).json()["items"] == []


def test_a_checkpoint_needs_the_version_that_was_read(site: Site, agent: dict[str, str]) -> None:
    path = f"/v1/executions/{_open(site, agent)['id']}/checkpoints"
    body = {"transition": "advance", "step": 1, "state": {"next_action": "read the case file"}, "cost": 0.12}

    without = site.client.post(path, headers=agent, json=body)
    taken = site.client.post(path, headers=agent | {"If-Match": '"1"'}, json=body)
    stale = site.client.post(path, headers=agent | {"If-Match": '"1"'}, json=body)
    large = site.client.post(
        path, headers=agent | {"If-Match": '"2"'}, json=body | {"state": {"a": "x" * 65_536}}
    )

    assert (without.status_code, without.json()["code"]) == (428, "if_match_required")
    assert (taken.status_code, taken.headers["ETag"]) == (201, '"2"')
    assert taken.json() == {"version": 2, "status": "running", "step": 1, "cost_used": "0.12"}
    assert (stale.status_code, stale.json()["current_version"]) == (412, 2)
    assert (large.status_code, large.json()["code"]) == (422, "state_too_large")


def test_the_whole_ledger_is_handed_over(site: Site, agent: dict[str, str]) -> None:
    opened = _open(site, agent)
    run, contract_hash = str(opened["id"]), opened["contract_hash"]
    output = {"name": "page", "ref": "artifact:login", "sha256": HASH}
    manifest = site.client.put(
        f"/v1/executions/{run}/manifest",
        headers=agent | {"If-Match": '"1"'},
        json={"tasks": [{"id": "login", "outputs": ["page"]}]},
    )
    step = {"task_id": "login", "exit_status": "completed", "outputs": [output], "summary": "Done"}
    steps = [_post(site, agent, f"{run}/steps", step) for _ in range(2)]
    _post(site, agent, f"{run}/candidates", {"artifact_hash": HASH})
    effect = {"operation_id": "seed-order-8", "kind": "orders.create", "request": {"sku": "A1"}}
    intents = [_post(site, agent, f"{run}/effects", effect)[0] for _ in range(2)]
    handoff = site.client.get(f"/v1/executions/{run}/handoff", headers=agent)
    text = site.client.get(f"/v1/executions/{run}/handoff", headers=agent | {"Accept": "text/plain"})
    log = site.client.get(f"/v1/executions/{run}/log", headers=agent)

    assert manifest.json()["version"] == 2
    assert [status for status, _ in steps] == [201, 200]
    assert intents == [201, 200]
    assert steps[0][1] == steps[1][1] == json.loads(log.text) | {"status": "completed"}
    assert handoff.json() == {
        "schema_version": 2,
        "execution_id": run,
        "external_ref": "order-app-42",
        "revision": 2,
        "contract_hash": contract_hash,
        "artifact_hash": HASH,
        "completed": ["login"],
        "next_action": "verify:login",
        "outputs": [output | {"task_id": "login"}],
        "blockers": [],
        "checks": [NOT_CHECKED],
        "effects": [{"operation_id": "seed-order-8", "status": "intended"}],
        "environment": {},
        "approvals": [],
    }
    assert text.headers["Content-Type"].startswith("text/plain")
    assert text.text.startswith("Run order-app-42")


def test_only_a_grader_writes_checks_and_nothing_else(site: Site, agent: dict[str, str]) -> None:
    opened = _open(site, agent)
    run, grader = str(opened["id"]), site.headers("grader", subject="grader-1")
    check = {
        "requirement": "login",
        "passed": True,
        "artifact_hash": HASH,
        "contract_hash": opened["contract_hash"],
        "grader": {"id": "browser", "version": "3"},
    }
    _post(site, agent, f"{run}/candidates", {"artifact_hash": HASH})

    assert _post(site, agent, f"{run}/checks", check)[0] == 403
    assert _post(site, grader, f"{run}/turns", {"role": "user", "text": "hi"})[0] == 403
    assert _post(site, site.headers("grader", subject="g", tenant="other"), f"{run}/checks", check)[0] == 404
    assert _post(site, grader, f"{run}/checks", check)[0] == 201


def test_turns_pins_summaries_and_observations_are_kept(site: Site, agent: dict[str, str]) -> None:
    run = str(_open(site, agent)["id"])
    said = {"role": "user", "text": "Keep every reply under 200 words.", "pin": {"kind": "constraint"}}
    status, turn = _post(site, agent, f"{run}/turns", said)
    _, pin = _post(site, agent, f"{run}/pins", {"kind": "blocker", "text": "down", "turns": [turn["id"]]})
    resolved = site.client.patch(
        f"/v1/executions/{run}/pins/{pin['id']}", headers=agent, json={"resolved": True, "resolution": "up"}
    )
    refused = _post(site, agent, f"{run}/turns", said | {"role": "assistant"})
    summary = {"from_sequence": 1, "to_sequence": 1, "text": "A limit was set.", "model": "gpt-4o"}
    source = {"uri": "tool://register", "kind": "tool", "observed_at": "2026-11-30T10:00:00Z"}
    result = {"source": source, "media_type": "application/json", "content": "{}", "tool_call_id": None}

    assert (status, turn["sequence"], turn["relayed"], turn["tokens"] > 0) == (201, 1, True, True)
    assert (resolved.json()["resolved"], resolved.json()["resolution"]) == (True, "up")
    assert (refused[0], refused[1]["code"]) == (422, "pin_needs_a_person")
    assert _post(site, agent, f"{run}/summaries", summary | {"supersedes": None})[1]["version"] == 1
    assert _post(site, agent, f"{run}/observations", result)[1]["evidence_id"] is None
    source["observed_at"] = "2026-11-30T10:05:00Z"
    assert _post(site, agent, f"{run}/observations", result)[0] == 201
    source["observed_at"] = "2026-11-30T10:05:01Z"
    ahead, problem = _post(site, agent, f"{run}/observations", result)
    assert (ahead, problem["errors"][0]["pointer"]) == (422, "/source/observed_at")
    source.pop("observed_at")
    assert _post(site, agent, f"{run}/observations", result)[0] == 422


def test_the_longest_result_that_is_taken_is_kept_as_evidence(site: Site, agent: dict[str, str]) -> None:
    path = f"{_open(site, agent)['id']}/observations"
    source = {"uri": f"tool://{'u' * 1_900}", "kind": "k" * 64, "observed_at": "2026-11-30T10:00:00Z"}
    media_type = "a/" + "b" * 98
    large = {"source": source, "media_type": media_type, "content": "word " * 20_000}

    status, kept = _post(site, agent, path, large)

    assert status == 201
    assert kept["evidence_id"] is not None
    assert _post(site, agent, path, large | {"source": source | {"kind": "k" * 65}})[0] == 422
    assert _post(site, agent, path, large | {"media_type": media_type + "b"})[0] == 422


def test_a_run_of_another_tenant_is_404_on_every_call(site: Site, agent: dict[str, str]) -> None:
    run = str(_open(site, agent)["id"])
    stranger = site.headers("agent", subject="agent-1", on_behalf_of="user-1", tenant="other")
    never = "01936d7e-5d5c-7c3e-9d0a-6c1f0f3f7a11"

    for path in ("", "/tasks", "/log", "/handoff"):
        answers = [
            site.client.get(f"/v1/executions/{one}{path}", headers=stranger)
            for one in (run, never, "nothing")
        ]
        assert {one.status_code for one in answers} == {404}
        assert len({json.dumps(one.json() | {"request_id": ""}) for one in answers}) == 1
    for path, body in (
        ("turns", {"role": "user", "text": "hi"}),
        ("steps", {"task_id": "a", "exit_status": "started"}),
        ("candidates", {"artifact_hash": HASH}),
        ("effects", {"operation_id": "a", "kind": "b"}),
        ("pins", {"kind": "blocker", "text": "x"}),
    ):
        assert _post(site, stranger, f"{run}/{path}", body)[0] == 404


def test_an_operator_reads_without_text_and_writes_nothing(site: Site, agent: dict[str, str]) -> None:
    run = str(_open(site, agent)["id"])
    operator = site.headers("operator", subject="operator-1")

    read = site.client.get(f"/v1/executions/{run}", headers=operator).json()

    assert (read["objective"], read["next_action"]) == (None, None)
    assert read["requirements"] == [{"id": "login", "text": None, "grader": None, "depends_on": []}]
    assert _post(site, operator, f"{run}/turns", {"role": "user", "text": "hi"})[0] == 403
