"""Packages over HTTP: shapes, refusals, repeats, and memories that policy lets in."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from http_support import PROJECT, TENANT, Site, open_site
from tiktoken_reference import count

from service.core.clock import Clock
from service.core.database import Database
from service.identity.model import Role
from service.policies.read_folder import read_folder
from service.policies.seed import seed_bundle

BODY = {"project": PROJECT, "purpose": "service", "query": "status of plot 18", "max_tokens": 4000}
PLOT = "Plot 18: outline consent granted on 3 March."
TOOL = {"name": "plots_read", "description": "Reads", "schema": {"type": "object"}, "effect": "read"}


@pytest.fixture
def site(database: Database, tmp_path: Path, clock: Clock) -> Iterator[Site]:
    with open_site(database, tmp_path, clock) as site:
        site.token()
        tenant_id = site.tenants[TENANT]
        with database.write(tenant_id) as session:
            seed_bundle(session, tenant_id, read_folder(Path(__file__).parents[1] / "policies"), now=clock())
        yield site


@pytest.fixture
def agent(site: Site) -> dict[str, str]:
    return site.headers(on_behalf_of="user-1")


def _build(site: Site, headers: dict[str, str], **fields: Any) -> Any:
    return site.client.post("/v1/context-packages", headers=headers, json={**BODY, **fields})


def _add(site: Site, headers: dict[str, str], text: str = PLOT) -> str:
    body = {"project": PROJECT, "text": text, "source": {"uri": f"doc://{hash(text)}", "kind": "document"}}
    answer = site.client.post("/v1/evidence", headers=headers, json=body)
    assert answer.status_code == 201, answer.text
    return str(answer.json()["id"])


def test_a_package_adds_up_in_every_form(site: Site, agent: dict[str, str]) -> None:
    evidence = _add(site, agent)

    for render in ("markdown", "openai", "anthropic"):
        answer = _build(site, agent, render=render, tools=[TOOL], encoding="cl100k_base")
        package = answer.json()
        rendered = package["rendered"]
        texts = [rendered.get("text", "")]
        for content in [
            rendered.get("system", ""),
            *(message["content"] for message in rendered.get("messages", [])),
        ]:
            texts += [content] if isinstance(content, str) else [block["text"] for block in content]
        if "tools" in rendered:
            texts.append(json.dumps(rendered["tools"], ensure_ascii=False, separators=(",", ":")))
        assert answer.status_code == 201
        assert package["used_tokens"] == sum(count(text, "cl100k_base") for text in texts)
        assert len(package["sections"]) == 10
        items = [item for section in package["sections"] for item in section["items"]]
        assert [item["id"] for item in items if item["citation"] == "E1"] == [evidence]


def test_unknown_names_and_impossible_numbers_are_422(site: Site, agent: dict[str, str]) -> None:
    wrong: list[dict[str, Any]] = [
        {"purpose": "nothing"},
        {"profile": "nothing"},
        {"encoding": "p50k_base"},
        {"model": "no-such-model"},
        {"sections": {"dreams": {"max": 1}}},
        {"sections": {"evidence": {"min": 2, "max": 1}}},
        {"max_tokens": -1},
        {"max_tokens": 2_000_001},
        {"max_tokens": 10.5},
        {"render": "html"},
        {"tenant": "other"},
        {"tools": [TOOL, TOOL]},
    ]

    assert [_build(site, agent, **fields).status_code for fields in wrong] == [422] * len(wrong)


def test_a_budget_that_is_too_small_says_what_would_do(site: Site, agent: dict[str, str]) -> None:
    refused = _build(site, agent, max_tokens=0, reply_reserve=10)

    problem = refused.json()
    assert (refused.status_code, problem["code"]) == (422, "budget_too_small")
    assert problem["section"] == "instructions"
    enough = _build(site, agent, max_tokens=problem["needed_tokens"] + 10, reply_reserve=10)
    assert enough.status_code == 201
    assert enough.json()["used_tokens"] == problem["needed_tokens"]


def test_a_repeat_with_its_key_gets_the_same_package(site: Site, agent: dict[str, str]) -> None:
    headers = {**agent, "Idempotency-Key": "one"}

    first, second = _build(site, headers), _build(site, headers)

    assert first.json() == second.json()
    assert second.headers["Idempotent-Replayed"] == "true"


def test_the_manifest_is_for_those_whom_the_matrix_lets_read_it(site: Site, agent: dict[str, str]) -> None:
    _add(site, agent)
    package = _build(site, agent).json()
    address = f"/v1/context-packages/{package['id']}"

    explained = site.client.get(address, headers=agent)
    author = site.client.get(address, headers=site.headers(Role.POLICY_AUTHOR, subject="author-1"))
    auditor = site.client.get(address, headers=site.headers(Role.AUDITOR, subject="auditor-1"))
    stranger = site.client.get(address, headers=site.headers(tenant="other"))

    assert explained.json()["digest"] == package["digest"]
    assert PLOT not in explained.text
    statuses = (explained.status_code, auditor.status_code, stranger.status_code, author.status_code)
    assert statuses == (200, 200, 404, 403)


def test_a_reviewer_builds_no_package_and_a_foreign_project_is_not_there(
    site: Site, agent: dict[str, str]
) -> None:
    reviewer = site.headers(Role.REVIEWER, subject="reviewer-1")

    assert _build(site, reviewer).status_code == 403
    assert _build(site, agent, project="beta").status_code == 404
    assert _build(site, agent, execution_id="01936d7e-0000-7000-8000-00000000beef").status_code == 404


def test_an_estimate_says_that_it_is_one_and_stays_in_the_budget(site: Site, agent: dict[str, str]) -> None:
    _add(site, agent)

    exact = _build(site, agent).json()
    estimated = _build(site, agent, encoding="estimate").json()
    explained = site.client.get(f"/v1/context-packages/{estimated['id']}", headers=agent).json()

    assert (exact["tokens_are"], exact["token_estimate"]) == ("exact", None)
    assert estimated["tokens_are"] == explained["tokens_are"] == "estimate"
    assert estimated["token_estimate"]["margin_percent"] >= 10
    assert explained["token_estimate"] == estimated["token_estimate"]
    assert count(estimated["rendered"]["text"], "o200k_base") < estimated["used_tokens"] <= 4000
    assert any("estimates" in line for line in explained["summary"])


def test_an_unknown_model_is_never_estimated_unasked(site: Site, agent: dict[str, str]) -> None:
    answer = _build(site, agent, model="claude-x", encoding="estimate")

    assert answer.status_code == 422
    assert answer.json()["type"].endswith("model_unknown")
