"""A retention class that keeps no text keeps none, by whatever call it comes; and its runs still work."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import FixedClock
from erasure_world import CANARY
from retention_world import RetentionWorld, retention_world

from service.core.database import Database
from service.core.hashing import hash_text

KEPT = ["executions.objective", "executions.requirements"]
"""The contract: without it nobody could tell whether it was met."""


@pytest.fixture
def world(database: Database, tmp_path: Path, clock: FixedClock) -> Iterator[RetentionWorld]:
    with retention_world(database, tmp_path / "data", clock) as world:
        yield world


def _open(world: RetentionWorld) -> str:
    opened = {
        "project": "alpha",
        "objective": "Answer the query",
        "requirements": [{"id": "login", "text": "Login works"}],
        "retention_class": "no_text",
    }
    return str(world.site.call("POST", "/executions", world.site.agent(), opened, expect=201)["id"])


def _say_everything(world: RetentionWorld, run: str) -> dict[str, Any]:
    agent, path = world.site.agent(), f"/executions/{run}"
    source = {"uri": "tool://register", "kind": "tool", "observed_at": "2026-11-30T10:00:00Z"}
    large = {"source": source, "content": f"{CANARY} row. " * 3_000, "summary": CANARY}
    calls: list[tuple[str, dict[str, Any]]] = [
        ("/turns", {"role": "user", "text": CANARY, "pin": {"kind": "constraint"}}),
        ("/pins", {"kind": "question", "text": f"What of {CANARY}?"}),
        ("/summaries", {"from_sequence": 1, "to_sequence": 1, "text": CANARY, "model": "m"}),
        ("/observations", large),
        ("/steps", {"task_id": "read", "exit_status": "started", "summary": CANARY}),
        ("/effects", {"operation_id": "order-8", "kind": "orders.create", "request": {"sku": CANARY}}),
        ("/candidates", {"artifact_hash": hash_text("build 17")}),
    ]
    answers = {
        part: world.site.call("POST", f"{path}{part}", agent | {"Idempotency-Key": part}, body, expect=201)
        for part, body in calls
    }
    tasks = {"tasks": [{"id": "read", "title": CANARY, "inputs": [], "outputs": ["notes"]}]}
    world.site.call("PUT", f"{path}/manifest", agent | {"If-Match": '"1"'}, tasks)
    state = {"transition": "start", "step": 1, "state": {"plan": [CANARY], "derived_from": ["file:plan.md"]}}
    world.site.call("POST", f"{path}/checkpoints", agent | {"If-Match": '"2"'}, state, expect=201)
    return answers


def test_nothing_that_was_said_is_kept_on_any_path(world: RetentionWorld) -> None:
    run = _open(world)

    answers = _say_everything(world, run)

    # A state of references alone, and an empty request, are ciphertext too: they are looked into below.
    assert set(world.ciphertexts(run)) - {"checkpoints.state", "effects.request"} == {
        *KEPT,
        *_source_of(world),
    }
    assert CANARY not in str(answers)
    for part in ("", "/log", "/tasks", "/handoff", "/effects", "/pins"):
        answer = world.site.memories.site.client.get(f"/v1/executions/{run}{part}", headers=world.site.user())
        assert CANARY not in answer.text
    found = world.site.call(
        "POST", "/evidence/search", world.site.user(), {"project": "alpha", "query": CANARY}
    )
    assert found["items"] == []


def _source_of(world: RetentionWorld) -> set[str]:
    """Answer what says where an observation came from: no part of what it said."""
    del world
    return {"observations.source_uri"}


def test_a_run_without_text_goes_on_by_its_references(world: RetentionWorld) -> None:
    run = _open(world)
    _say_everything(world, run)
    agent = world.site.agent()

    again = {"operation_id": "order-8", "kind": "orders.create", "request": {"sku": CANARY}}
    same = world.site.call("POST", f"/executions/{run}/effects", agent, again)
    other = {**again, "request": {"sku": "something else"}}
    world.site.call("POST", f"/executions/{run}/effects", agent, other, expect=409)

    assert same["status"] == "intended"
    contract = world.site.call("GET", f"/executions/{run}", agent)["contract_hash"]
    found = {"artifact_hash": hash_text("build 17"), "contract_hash": contract}
    resumed = world.site.call("POST", f"/executions/{run}/resume", agent, found)
    assert resumed["decision"] == "continue:read"


def test_an_approver_sees_the_command_until_the_decision_and_nobody_afterwards(world: RetentionWorld) -> None:
    run = _open(world)
    agent, reviewer = world.site.agent(), world.site.memories.of("reviewer", "reviewer-1")
    command = {"command": {"kind": "orders.create", "sku": CANARY}, "evidence_ids": []}
    approval = world.site.call("POST", f"/executions/{run}/approvals", agent, command, expect=201)["id"]
    path = f"/approvals/{approval}"
    assert world.site.call("GET", path, reviewer)["command"]["sku"] == CANARY

    decision = {"decision": "approve", "reason": f"{CANARY} is fine"}
    world.site.call("POST", f"{path}/decision", reviewer, decision)

    assert CANARY not in str(world.site.call("GET", path, reviewer))
    redeemed = {"command": command["command"], "operation_id": "order-9"}
    effect = world.site.call("POST", f"{path}/redeem", agent, redeemed)
    assert CANARY not in str(effect)


def test_a_package_of_such_a_run_keeps_no_request(world: RetentionWorld) -> None:
    run = _open(world)
    asked = {
        "project": "alpha",
        "execution_id": run,
        "purpose": "service",
        "query": CANARY,
        "max_tokens": 4_000,
    }

    package = world.site.call("POST", "/context-packages", world.site.agent(), asked, expect=201)["id"]

    assert "packages.request" not in world.ciphertexts(run)
    assert world.site.call("GET", f"/context-packages/{package}", world.site.user())["id"] == package


def test_what_a_grader_saw_is_not_kept_and_its_verdict_is(world: RetentionWorld) -> None:
    run = _open(world)
    agent, grader = world.site.agent(), world.site.memories.of("grader", "grader-1")
    artifact = hash_text("build 17")
    world.site.call("POST", f"/executions/{run}/candidates", agent, {"artifact_hash": artifact}, expect=201)
    contract = world.site.call("GET", f"/executions/{run}", agent)["contract_hash"]
    check = {
        "requirement": "login",
        "passed": False,
        "artifact_hash": artifact,
        "contract_hash": contract,
        "grader": {"id": "grader-1", "version": "3"},
        "environment": {"commit": "abc"},
        "expected": CANARY,
        "observed": CANARY,
        "reproduce": CANARY,
        "failure_kind": "missing",
    }

    kept = world.site.call("POST", f"/executions/{run}/checks", grader, check, expect=201)

    assert CANARY not in str(kept)
    assert set(world.ciphertexts(run)) == {*KEPT, "checks.environment"}
