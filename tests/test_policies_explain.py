"""An explanation says what decided, in order, with the facts it saw, and nothing that anybody wrote."""

import json
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest
from conftest import FixedClock
from erasure_world import erasure_world
from memories_world import MemoryWorld, memory_world
from policies_bundle import NOW
from policies_random import random_bundle, random_facts
from sqlmodel import select

from service.core.database import Database
from service.core.ids import new_id
from service.entry.cli import main
from service.memories.tables import ProposalRow
from service.policies.evaluate import judge_proposal
from service.policies.explain import Result, explain
from service.policies.verdict import Outcome, ReasonCode

TEXT = "Prefers concise explanations"
OF_RULES = {ReasonCode.RULE_DENIED, ReasonCode.RULE_REVIEW, ReasonCode.REVIEW_REQUIRED}


@pytest.fixture
def world(database: Database, tmp_path: Path, clock: FixedClock) -> Iterator[MemoryWorld]:
    with memory_world(database, tmp_path, clock) as world:
        _ = world.user
        yield world


def _explain(world: MemoryWorld, ref: str, role: str = "policy_author", expect: int = 200) -> Any:
    return world.call("GET", f"/policies/explanations/{ref}", world.of(role, "somebody"), expect=expect)


def _told(explanation: Any) -> list[tuple[str, str]]:
    return [
        (step["check"], step["result"])
        for step in explanation["steps"]
        if step["result"] not in ("passes", "not_reached")
    ]


def test_steps_say_what_a_verdict_says_whatever_the_policy_and_the_facts() -> None:
    random = Random(20261201)  # noqa: S311 - no secret hangs on it
    seen: set[tuple[str, Result]] = set()
    for _ in range(60):
        bundle = random_bundle(random)
        for _ in range(20):
            facts = random_facts(random)
            verdict = judge_proposal(facts, bundle, NOW)
            *checks, last = explain(facts, verdict, bundle, fitted=True, at=NOW)
            seen.update((step.check, step.result) for step in checks)
            told = {step.check for step in checks if step.result in (Result.DENIES, Result.ASKS)}

            assert {code.value for code in verdict.codes if code not in OF_RULES} <= told
            assert {reason.rule for reason in verdict.reasons} <= {step.rule for step in (*checks, last)}
            is_denied = verdict.outcome is Outcome.DENIED
            results = {step.result for step in checks}
            assert (Result.DENIES in results or Result.UNANSWERED in results) >= is_denied
            assert is_denied or Result.DENIES not in results
            assert verdict.outcome is not Outcome.APPROVED or Result.ASKS not in results
            assert last.check == "decision"
            assert last.rule == verdict.rule or verdict.outcome is Outcome.PENDING_REVIEW
    assert {result for _, result in seen} == set(Result)


def test_a_denial_names_each_rule_and_what_it_saw(world: MemoryWorld) -> None:
    denied = world.propose(world.turn(), confidence=0.1)

    found = _explain(world, denied["id"])

    assert _told(found) == [
        ("consent_missing", "denies"),
        ("confidence_too_low", "denies"),
        ("decision", "denies"),
    ]
    step = next(one for one in found["steps"] if one["check"] == "confidence_too_low")
    assert step["rule"] == "classes.preference.confidence_min"
    assert step["says"] > step["saw"]["confidence"] == 0.1
    assert (found["agrees"], found["by_person"], found["outcome"]) == (True, False, "denied")
    assert found["rule"] == "classes.preference.consent_needed"
    # Not the words, not the key, not the person's name.
    written = json.dumps(found)
    for word in ("concise", "reply_style", "user-1"):
        assert word not in written


def test_a_memory_is_explained_by_the_proposal_that_it_came_from(world: MemoryWorld) -> None:
    world.consent()
    kept = world.propose(world.turn())

    found = _explain(world, kept["memory"]["id"])

    assert (found["id"], found["memory"]) == (kept["id"], kept["memory"]["id"])
    assert _told(found) == [("decision", "permits")]
    assert (found["agrees"], found["rule"]) == (True, "classes.preference.approval")


def test_what_a_person_decided_is_told_apart_from_what_policy_said(world: MemoryWorld) -> None:
    world.consent()
    waiting = world.propose(world.turn(), confidence=0.6)
    path = f"/memory-proposals/{waiting['id']}/decision"
    world.call("POST", path, world.user, {"decision": "approve"})

    found = _explain(world, waiting["id"])

    assert (found["policy_outcome"], found["outcome"]) == ("pending_review", "approved")
    assert (found["agrees"], found["by_person"]) == (None, True)
    assert ("confidence_too_low", "asks") in _told(found)


def test_it_is_judged_under_the_version_that_decided(world: MemoryWorld) -> None:
    from activations_world import activate, keep_plan  # noqa: PLC0415 - this test alone activates

    world.consent()
    kept = world.propose(world.turn())
    stricter = ("automatic_when: {confidence_min: 0.7}", "automatic_when: {confidence_min: 0.95}")
    assert activate(world, keep_plan(world, stricter)).status_code == 201

    found = _explain(world, kept["id"])

    assert (found["agrees"], found["policy_outcome"]) == (True, "approved")


@pytest.mark.parametrize("role", ["agent", "user", "reviewer", "admin", "operator", "grader"])
def test_others_explain_nothing(world: MemoryWorld, role: str) -> None:
    denied = world.propose(world.turn())
    world.call("GET", f"/policies/explanations/{denied['id']}", world.of(role, "eve"), expect=403)


def test_another_tenants_decision_is_one_that_never_was(world: MemoryWorld) -> None:
    denied = world.propose(world.turn())
    stranger = world.of("policy_admin", "eve", tenant="globex")

    foreign = world.call("GET", f"/policies/explanations/{denied['id']}", stranger, expect=404)
    unknown = world.call("GET", f"/policies/explanations/{new_id()}", stranger, expect=404)
    odd = world.call("GET", "/policies/explanations/..%2f..%2fetc", stranger, expect=404)

    assert foreign["code"] == unknown["code"] == odd["code"] == "not_found"


def test_of_who_was_erased_nothing_is_left_to_explain(
    database: Database, tmp_path: Path, clock: FixedClock
) -> None:
    with erasure_world(database, tmp_path, clock) as site:
        site.memories.consent()
        denied = site.memories.propose(site.memories.turn(), confidence=0.1)
        site.erase_subject()
        site.carry_out()

        _explain(site.memories, denied["id"], "auditor", expect=404)


def test_what_was_decided_before_facts_were_kept_is_told_by_codes_alone(world: MemoryWorld) -> None:
    denied = world.propose(world.turn())
    with world.site.runtime.database.write(world.site.tenants["acme"]) as session:
        row = session.exec(select(ProposalRow).where(ProposalRow.id == denied["id"])).one()
        row.facts = None
        session.add(row)

    found = _explain(world, denied["id"])

    assert (found["facts"], found["steps"], found["unexplained"]) == (None, [], "facts_gone")
    assert (found["codes"], found["agrees"]) == (["consent_missing"], None)


def test_the_command_line_says_the_same(
    world: MemoryWorld, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    denied = world.propose(world.turn())
    over_http = _explain(world, denied["id"])
    settings = world.site.runtime.settings
    monkeypatch.setenv("MUNIMENT_DATA_DIR", str(settings.data_dir))
    assert settings.database_url is not None
    monkeypatch.setenv("MUNIMENT_DATABASE_URL", settings.database_url.get_secret_value())

    capsys.readouterr()
    assert main(["policy", "explain", denied["id"], "--tenant", "acme", "--json"]) == 0
    as_json = json.loads(capsys.readouterr().out)
    assert main(["policy", "explain", denied["id"], "--tenant", "acme"]) == 0
    told = capsys.readouterr().out
    assert main(["policy", "explain", new_id(), "--tenant", "acme"]) == 1

    assert as_json == over_http
    assert "consent_missing: denies" in told
    assert "classes.preference.consent_needed" in told
    assert "confidence_too_low" not in told
