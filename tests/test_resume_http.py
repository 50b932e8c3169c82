"""Taking a run over, over HTTP: the reference run, the lease in a header, tools, and access that is gone."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import FixedClock
from http_support import Site, open_site
from test_executions_http import POLICIES

from service.core.database import Database
from service.core.hashing import hash_text
from service.identity.store import IdentityStore
from service.policies.read_folder import read_folder
from service.policies.seed import seed_bundle

BUILT, REBUILT = hash_text("build 17"), hash_text("build 18")
WRITE_TOOL = {"name": "orders.create", "description": "Creates an order", "schema": {}, "effect": "write"}


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
def run(site: Site, agent: dict[str, str]) -> dict[str, Any]:
    opening = {
        "project": "alpha",
        "external_ref": "order-app-42",
        "objective": "Build the order application",
        "requirements": [
            {"id": "login", "text": "Login works"},
            {"id": "orders", "text": "Orders can be filtered"},
        ],
    }
    opened = site.client.post("/v1/executions", headers=agent, json=opening)
    assert opened.status_code == 201, opened.text
    found: dict[str, Any] = opened.json()
    return found


def post(site: Site, headers: dict[str, str], path: str, body: dict[str, Any], status: int = 201) -> Any:
    answer = site.client.post(f"/v1/{path}", headers=headers, json=body)
    assert answer.status_code == status, answer.text
    return answer.json()


def resume(site: Site, headers: dict[str, str], run: dict[str, Any], **found: Any) -> Any:
    body = {"contract_hash": run["contract_hash"], **found}
    return post(site, headers, f"executions/{run['id']}/resume", body, 200)


def check(run: dict[str, Any], requirement: str) -> dict[str, Any]:
    return {
        "requirement": requirement,
        "passed": True,
        "artifact_hash": BUILT,
        "contract_hash": run["contract_hash"],
        "grader": {"id": "browser", "version": "3"},
    }


def dispatch(site: Site, headers: dict[str, str], run: dict[str, Any]) -> None:
    path = f"executions/{run['id']}/effects"
    intent = {"operation_id": "seed-order-8", "kind": "orders.create", "request": {"sku": "A1"}}
    post(site, headers, path, intent)
    moved = site.client.patch(f"/v1/{path}/seed-order-8", headers=headers, json={"status": "dispatched"})
    assert moved.status_code == 200, moved.text


def test_the_reference_run(site: Site, agent: dict[str, str], run: dict[str, Any]) -> None:
    path = f"executions/{run['id']}"
    grader = site.headers("grader", subject="grader-1")
    operator = site.headers("operator", subject="operator-1")
    post(site, agent, f"{path}/candidates", {"artifact_hash": BUILT})
    post(site, grader, f"{path}/checks", check(run, "login"))
    dispatch(site, agent, run)

    changed = resume(site, agent, run, artifact_hash=REBUILT)
    holder = {**agent, "Fencing-Token": str(changed["lease"]["fencing_token"])}
    unknown = resume(site, holder, run, artifact_hash=BUILT)
    other = resume(site, agent, run, artifact_hash=BUILT)
    post(site, operator, f"{path}/effects/seed-order-8/reconcile", {"outcome": "committed"}, 200)
    missing = resume(site, holder, run, artifact_hash=BUILT)

    decisions = [one["decision"] for one in (changed, unknown, missing)]
    assert decisions == ["revalidate", "reconcile:seed-order-8", "verify:orders"]
    assert [one["lease"]["mode"] for one in (changed, unknown, missing)] == ["recovery", "recovery", "full"]
    assert (other["decision"], other["lease"]) == ("reconcile:seed-order-8", None)
    assert other["leased_until"] == unknown["lease"]["expires_at"]
    assert missing["handoff"]["effects"] == [{"operation_id": "seed-order-8", "status": "committed"}]
    completed = post(site, grader, f"{path}/checks", check(run, "orders"))
    assert completed["execution_status"] == "completed"
    assert resume(site, holder, run)["decision"] == "ended:completed"


def test_writes_carry_the_token_while_a_lease_lives(
    site: Site, agent: dict[str, str], run: dict[str, Any]
) -> None:
    path = f"executions/{run['id']}"
    token = resume(site, agent, run)["lease"]["fencing_token"]
    turn = {"role": "user", "text": "Keep it short."}

    for headers in (agent, *({**agent, "Fencing-Token": bad} for bad in ("0", "99", "one", "1 ", "-1"))):
        given = headers.get("Fencing-Token", "").strip()
        refused = site.client.post(f"/v1/{path}/turns", headers=headers, json=turn)
        assert (refused.status_code, given) == ((201 if given == str(token) else 409), given)
    holder = {**agent, "Fencing-Token": str(token)}
    renewed = site.client.put(f"/v1/{path}/lease", headers=holder)
    shown = site.client.get(f"/v1/{path}", headers=agent).json()["lease"]
    given_back = site.client.delete(f"/v1/{path}/lease", headers=holder)

    assert renewed.json() == {
        "fencing_token": token,
        "mode": "full",
        "expires_at": "2026-11-30T10:02:00Z",
    }
    assert shown == {"until": "2026-11-30T10:02:00Z"}
    assert given_back.status_code == 204
    post(site, agent, f"{path}/turns", turn)
    assert site.client.put(f"/v1/{path}/lease", headers=holder).json()["code"] == "lease_lapsed"


def test_write_tools_are_shown_to_the_holder_of_a_full_lease_alone(
    site: Site, agent: dict[str, str], run: dict[str, Any]
) -> None:
    def reasons(headers: dict[str, str]) -> list[str]:
        body = {
            "project": "alpha",
            "execution_id": run["id"],
            "purpose": "service",
            "max_tokens": 4_000,
            "tools": [WRITE_TOOL],
        }
        built = post(site, headers, "context-packages", body)
        return [one["reason"] for one in built["omissions"] if one["kind"] == "tool"]

    assert reasons(agent) == ["recovery"]
    holder = {**agent, "Fencing-Token": str(resume(site, agent, run)["lease"]["fencing_token"])}
    assert reasons(holder) == []
    assert reasons(agent) == ["recovery"]
    dispatch(site, holder, run)
    assert reasons(holder) == ["recovery"]
    assert resume(site, holder, run)["lease"]["mode"] == "recovery"
    assert reasons(holder) == ["recovery"]


def test_a_user_whose_access_is_gone_is_refused_and_the_run_waits_for_a_person(
    site: Site, agent: dict[str, str], run: dict[str, Any]
) -> None:
    tenant_id = site.tenants["acme"]
    with site.runtime.database.write(tenant_id) as session:
        store = IdentityStore(session, tenant_id)
        project = store.find_project("alpha")
        assert project is not None
        store.remove_member(project.id, "user-1")
    path = f"/v1/executions/{run['id']}/resume"

    refused = site.client.post(path, headers=agent, json={})
    colleague = site.client.post(path, headers=site.headers("user", subject="user-2"), json={})
    stranger = site.client.post(path, headers=site.headers("user", subject="u", tenant="other"), json={})

    assert (refused.status_code, refused.json()["code"]) == (403, "acting_user_access_gone")
    assert (colleague.status_code, colleague.json()["code"]) == (403, "acting_user_only")
    assert stranger.status_code == 404
    operator = site.headers("operator", subject="operator-1")
    shown = site.client.get(f"/v1/executions/{run['id']}", headers=operator).json()
    assert shown["status"] == "review_required"
    site.headers("user", subject="user-1")
    waits = site.client.post(path, headers=agent, json={})
    assert (waits.status_code, waits.json()["code"]) == (403, "review_required")


@pytest.mark.parametrize(
    "body",
    [
        {"artifact_hash": "build 17"},
        {"environment": []},
        {"environment": {f"name-{number}": 1 for number in range(101)}},
        {"decision": "completed"},
        {"schema_version": "2"},
        {"environment": {"commit": "\ud800"}},
    ],
    ids=["hash", "list", "many", "unknown", "text", "surrogate"],
)
def test_what_makes_no_sense_is_refused_and_gives_no_lease(
    site: Site, agent: dict[str, str], run: dict[str, Any], body: dict[str, Any]
) -> None:
    path = f"/v1/executions/{run['id']}"
    content = str(body).replace("'", '"').encode("utf-8", "surrogatepass")

    refused = site.client.post(
        f"{path}/resume", headers={**agent, "Content-Type": "application/json"}, content=content
    )

    assert refused.status_code == 422, refused.text
    assert site.client.get(path, headers=agent).json()["lease"] is None
