"""Policies from the command line and over HTTP: findings with places, exit codes, and who may ask."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import FixedClock
from http_support import Site, open_site
from policies_bundle import FOLDER, PURPOSE, default_bundle, default_files

from service.core.database import Database
from service.entry.cli import main
from service.entry.http import app, policies
from service.identity.model import Role
from service.policies.seed import seed_bundle
from service.policies.tables import PolicyVersionRow

ROLES = [role for role in Role if role is not Role.SYSTEM]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return Path(shutil.copytree(FOLDER, tmp_path / "policies"))


@pytest.fixture
def site(database: Database, tmp_path: Path, clock: FixedClock) -> Iterator[Site]:
    routers = [] if policies.router in app.ROUTERS else [policies.router]
    with open_site(database, tmp_path / "data", clock, routers=routers) as opened:
        yield opened


def seed(site: Site) -> str:
    site.headers()
    (tenant_id,) = site.tenants.values()
    with site.runtime.database.write(tenant_id) as session:
        return seed_bundle(session, tenant_id, default_files(), now=site.clock())


def auditor(site: Site, **key: Any) -> dict[str, str]:
    return site.headers(Role.AUDITOR, subject="auditor-1", **key)


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str]:
    code = main(["policy", *arguments])
    return code, capsys.readouterr().out


def run_json(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, dict[str, Any]]:
    code, out = run(capsys, *arguments, "--json")
    return code, json.loads(out)


def test_lint_answers_0_and_the_version_of_a_good_bundle(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(capsys, "lint", str(folder)) == (0, f"valid: {default_bundle().version}\n")
    assert run_json(capsys, "lint", str(folder)) == (
        0, {"valid": True, "version": default_bundle().version, "findings": []},
    )  # fmt: skip


def test_lint_answers_1_with_file_line_and_column(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "purposes.yaml").write_text(PURPOSE + "    allow: NO\n")

    code, out = run(capsys, "lint", str(folder))

    assert code == 1
    assert out.startswith(f"{folder}/purposes.yaml:4:12: error ambiguous: `NO` is a boolean")


def test_lint_tells_bytes_that_are_no_text(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "purposes.yaml").write_bytes(b"\xff\xfe")

    code, answer = run_json(capsys, "lint", str(folder))

    assert (code, answer["valid"], answer["findings"][0]["code"]) == (1, False, "encoding")


@pytest.mark.parametrize("command", ["lint", "test"])
def test_a_folder_that_is_not_there_is_a_wrong_question(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(capsys, command, str(tmp_path / "nowhere"))[0] == 2
    assert run(capsys, command)[0] == 2


def test_test_runs_the_tests_beside_the_bundle(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, answer = run_json(capsys, "test", str(folder))

    assert (code, answer["failed"]) == (0, 0)
    assert answer["passed"] == len(answer["cases"]) >= 20


def test_test_says_what_came_out_otherwise(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    classes = folder / "classes.yaml"
    classes.write_text(classes.read_text().replace("quota: 200", "quota: 201"))

    code, out = run(capsys, "test", str(folder))

    assert code == 1
    assert "A full class takes nothing new" in out
    assert "decision: expected denied, found approved" in out


def test_a_bundle_without_tests_has_not_passed_any(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shutil.rmtree(folder / "tests")

    assert run(capsys, "test", str(folder))[0] == 1


@pytest.mark.parametrize("arguments", [[], ["--tests"]])
def test_schema_prints_json_schema(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    code, out = run(capsys, "schema", *arguments)

    assert (code, json.loads(out)["type"]) == (0, "object")


def test_the_active_version_is_answered_with_its_files(site: Site) -> None:
    version = seed(site)

    answer = site.client.get("/v1/policies", headers=auditor(site))

    assert (answer.status_code, answer.headers["ETag"]) == (200, '"1"')
    assert answer.json()["version"] == version
    assert answer.json()["files"] == dict(default_files())
    assert {item["name"] for item in answer.json()["classes"]} == set(default_bundle().classes)


def test_without_a_policy_the_answer_allows_nothing(site: Site) -> None:
    answer = site.client.get("/v1/policies", headers=auditor(site))

    assert (answer.status_code, answer.json()["version"], answer.json()["classes"]) == (200, None, [])
    assert "ETag" not in answer.headers


def test_versions_are_this_tenant_s_only(site: Site) -> None:
    version = seed(site)

    mine = site.client.get("/v1/policies/versions", headers=auditor(site)).json()
    theirs = site.client.get("/v1/policies/versions", headers=auditor(site, tenant="other")).json()

    assert [(item["version"], item["active"]) for item in mine["items"]] == [(version, True)]
    assert theirs["items"] == []


def test_validate_answers_findings_and_keeps_nothing(site: Site) -> None:
    headers = site.headers(Role.POLICY_AUTHOR, subject="author-1")

    good = site.client.post("/v1/policies/validate", headers=headers, json={"files": dict(default_files())})
    bad = site.client.post(
        "/v1/policies/validate", headers=headers, json={"files": {"a.yaml": "[" * 3_000, "../b": ""}}
    )

    assert good.json() == {"valid": True, "version": default_bundle().version, "findings": []}
    assert (bad.status_code, bad.json()["valid"], bad.json()["version"]) == (200, False, None)
    assert {finding["code"] for finding in bad.json()["findings"]} == {"depth", "unexpected_file"}
    assert site.count(PolicyVersionRow) == 0


@pytest.mark.parametrize("role", ROLES)
def test_only_authors_admins_of_policy_and_auditors_read_it(site: Site, role: Role) -> None:
    allowed = role in (Role.POLICY_AUTHOR, Role.POLICY_ADMIN, Role.AUDITOR)
    headers = site.headers(role, subject="someone")

    for path in ("/v1/policies", "/v1/policies/versions"):
        assert site.client.get(path, headers=headers).status_code == (200 if allowed else 403)


@pytest.mark.parametrize("role", ROLES)
def test_only_authors_and_admins_of_policy_validate(site: Site, role: Role) -> None:
    allowed = role in (Role.POLICY_AUTHOR, Role.POLICY_ADMIN)

    answer = site.client.post(
        "/v1/policies/validate",
        headers=site.headers(role, subject="someone"),
        json={"files": {"a.yaml": PURPOSE}},
    )

    assert answer.status_code == (200 if allowed else 403)


@pytest.mark.parametrize(
    "body",
    [{}, {"files": []}, {"files": {"a.yaml": 1}}, {"files": {}, "tenant": "x"}, {"files": {"a": "\x00"}}],
)
def test_a_body_of_another_shape_is_422(site: Site, body: dict[str, Any]) -> None:
    headers = site.headers(Role.POLICY_AUTHOR, subject="author-1")

    assert site.client.post("/v1/policies/validate", headers=headers, json=body).status_code == 422
