"""Asking for an approval: bound to the exact command, never laxer than the policy."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from approvals_world import ORDER, People, code, open_people
from conftest import FixedClock

from service.core.database import Database
from service.core.hashing import hash_text
from service.core.ids import new_id
from service.executions.approvals.tables import ApprovalRow

PAYMENT: dict[str, Any] = {"kind": "payments.transfer", "amount": "120"}


@pytest.fixture
def people(database: Database, tmp_path: Path, clock: FixedClock) -> Iterator[People]:
    with open_people(database, tmp_path, clock) as people:
        yield people


def test_a_request_says_who_decides_what_until_when(people: People) -> None:
    run = people.open()

    asked = people.ask(run, expires_at=None)

    answer = asked.json()
    assert asked.status_code == 201
    assert answer["command_hash"] == hash_text('{"kind":"orders.create","quantity":2,"sku":"A1"}')
    assert (answer["status"], answer["approver_role"]) == ("pending", "reviewer")
    assert answer["expires_at"] == "2026-12-01T10:00:00Z"
    assert answer["command"] == ORDER
    assert (answer["acting_user"], answer["agent"]) == ("user-1", "agent-1")
    assert answer["requested_by"] == "agent:agent-1:for:user-1"
    assert people.get(f"/approvals/{answer['id']}", people.reviewer).json() == answer


def test_one_request_for_a_command_waits_however_it_is_written(people: People) -> None:
    run = people.open()
    first = people.ask(run)

    again = people.ask(run, {"quantity": 2.0, "sku": "A1", "kind": "orders.create"}, who=people.user)
    other = people.ask(run, ORDER | {"quantity": 3})

    assert (again.status_code, again.json()["id"]) == (200, first.json()["id"])
    assert (other.status_code, people.site.count(ApprovalRow)) == (201, 2)


def test_of_many_requests_at_once_one_is_new(people: People) -> None:
    run = people.open()

    answers = people.at_once(8, lambda _: people.ask(run))

    assert sorted(answer.status_code for answer in answers) == [200] * 7 + [201]
    assert len({answer.json()["id"] for answer in answers}) == 1


def test_a_request_may_be_stricter_than_the_policy_and_not_laxer(people: People) -> None:
    run, evidence = people.open(), people.evidence()
    other = people.evidence("The budget is 500.", "doc://budget")

    too_long = people.ask(run, PAYMENT, evidence_ids=[evidence], expires_at="2026-11-30T14:00:01Z")
    bare = people.ask(run, PAYMENT)
    past = people.ask(run, PAYMENT, evidence_ids=[evidence], expires_at="2026-11-30T10:00:00Z")
    twice = people.ask(run, PAYMENT, evidence_ids=[evidence, evidence])
    stricter = people.ask(
        run, PAYMENT, evidence_ids=[evidence, other], expires_at="2026-11-30T11:00:00+00:00"
    )

    assert code(too_long) == (422, "approval_too_lax")
    assert too_long.json()["errors"][0]["pointer"] == "/expires_at"
    assert code(bare) == (422, "approval_too_lax")
    assert bare.json()["errors"][0]["pointer"] == "/evidence_ids"
    assert (past.status_code, past.json()["errors"][0]["pointer"]) == (422, "/expires_at")
    assert twice.status_code == 422
    assert stricter.status_code == 201
    assert [one["version"] for one in stricter.json()["evidence"]] == [1, 1]
    assert people.site.count(ApprovalRow) == 1


def test_evidence_that_cannot_be_shown_is_not_pinned(people: People) -> None:
    run, old = people.open(), people.evidence()
    brief = people.evidence("Valid today.", "doc://brief", fresh_until="2026-11-30T10:30:00Z")
    foreign = people.site.headers("agent", subject="agent-1", on_behalf_of="user-1", projects=["beta"])
    source = {"uri": "doc://x", "kind": "document", "observed_at": "2026-11-30T09:00:00Z"}
    beta = people.post("/evidence", {"project": "beta", "text": "x", "source": source}, foreign).json()["id"]
    people.evidence("The quote is 130.", "doc://newer", supersedes=old)
    people.clock.advance(hours=1)

    for evidence_id, status in (
        (new_id(), 404),
        ("nothing", 404),
        (beta, 404),
        (old, 422),
        (brief, 422),
    ):
        answer = people.ask(run, PAYMENT, evidence_ids=[evidence_id])
        assert answer.status_code == status, answer.text
        assert answer.json()["errors"][0]["pointer"] == "/evidence_ids/0"
    assert people.site.count(ApprovalRow) == 0


def test_a_command_without_an_exact_form_is_refused_where_it_stands(people: People) -> None:
    run = people.open()

    huge = people.ask(run, ORDER | {"lines": [{"quantity": 2**53}]})
    long = people.ask(run, ORDER | {"note": "x" * 65_536})
    nameless = people.ask(run, {"sku": "A1"})
    odd = people.ask(run, ORDER | {"kind": "with space"})
    exact = people.ask(run, ORDER | {"quantity": 2**53 - 1})

    assert code(huge) == (422, "command_inexact")
    assert huge.json()["errors"][0]["pointer"] == "/command/*/0/*"
    assert (code(long), long.json()["errors"][0]["pointer"]) == ((422, "command_inexact"), "/command")
    assert (nameless.status_code, odd.status_code) == (422, 422)
    assert exact.status_code == 201
    assert people.site.count(ApprovalRow) == 1


def test_the_policy_says_what_may_be_asked_for_at_all(people: People) -> None:
    run = people.open()

    refused = people.ask(run, {"kind": "launches.rocket"})

    assert code(refused) == (403, "capability_missing")
    assert people.site.count(ApprovalRow) == 0


def test_others_cannot_ask_in_a_run_and_nobody_in_an_ended_one(people: People) -> None:
    run, over = people.open(), people.open(deadline="2026-11-30T12:00:00Z")
    colleague = people.site.headers("user", subject="user-2")
    stranger = people.site.headers("agent", subject="agent-1", on_behalf_of="user-1", tenant="other")

    assert code(people.ask(run, who=colleague)) == (403, "acting_user_only")
    assert people.ask(run, who=people.reviewer).status_code == 403
    assert people.ask(run, who=stranger).status_code == 404
    people.clock.advance(hours=3)
    assert code(people.ask(over)) == (409, "execution_ended")


def test_a_fenced_run_takes_requests_under_its_token_alone(people: People) -> None:
    run = people.open()
    contract = people.get(f"/executions/{run}", people.agent).json()["contract_hash"]
    lease = people.post(f"/executions/{run}/resume", {"contract_hash": contract}, people.agent).json()[
        "lease"
    ]

    without = people.ask(run)
    with_token = people.ask(run, who=people.agent | {"Fencing-Token": str(lease["fencing_token"])})

    assert code(without) == (409, "fencing_token_stale")
    assert with_token.status_code == 201
