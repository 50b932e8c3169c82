"""Between approval and act: every binding that moves is found at redemption, and again at dispatch."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from approvals_world import People, code, open_people
from conftest import FixedClock

from service.core.database import Database

PAYMENT: dict[str, Any] = {"kind": "payments.transfer", "amount": "120"}


def _revoke_approver(people: People, _evidence: str) -> None:
    people.revoke_keys("reviewer-1")


def _part_approver(people: People, _evidence: str) -> None:
    people.remove_member("reviewer-1")


def _change_policy(people: People, _evidence: str) -> None:
    people.change_policy()


def _change_evidence(people: People, _evidence: str) -> None:
    people.evidence("The quote is 130.")


def _supersede_evidence(people: People, evidence: str) -> None:
    people.evidence("The quote is 130.", "doc://other", supersedes=evidence)


def _erase_evidence(people: People, evidence: str) -> None:
    deleted = people.site.client.delete(f"/v1/evidence/{evidence}", headers=people.agent)
    assert deleted.status_code in (200, 202, 204), deleted.text


def _quarantine_evidence(people: People, evidence: str) -> None:
    body = {"source": f"evidence:{evidence}", "reason": "somebody else wrote it"}
    begun = people.site.client.post("/v1/quarantines", headers=people.site.headers("reviewer"), json=body)
    assert begun.status_code == 201, begun.text


def _let_evidence_expire(people: People, _evidence: str) -> None:
    people.clock.advance(hours=2)


def _let_time_pass(people: People, _evidence: str) -> None:
    people.clock.advance(hours=4)


MOVES: list[tuple[Callable[[People, str], None], set[str], str]] = [
    (_revoke_approver, {"approver"}, "stale"),
    (_part_approver, {"approver"}, "stale"),
    (_change_policy, {"policy_version"}, "stale"),
    (_change_evidence, {"evidence_changed"}, "stale"),
    (_supersede_evidence, {"evidence_superseded"}, "stale"),
    (_erase_evidence, {"evidence_erased"}, "stale"),
    (_quarantine_evidence, {"evidence_quarantined"}, "stale"),
    (_let_evidence_expire, {"evidence_expired"}, "stale"),
    (_let_time_pass, {"expired", "evidence_expired"}, "expired"),
]
NAMES = [move.__name__.strip("_") for move, _, _ in MOVES]


@pytest.fixture
def people(database: Database, tmp_path: Path, clock: FixedClock) -> Iterator[People]:
    with open_people(database, tmp_path, clock) as people:
        yield people


def _approved(people: People) -> tuple[str, str, str]:
    run = people.open()
    evidence = people.evidence(fresh_until="2026-11-30T11:00:00Z")
    return run, people.approved(run, PAYMENT, evidence_ids=[evidence]), evidence


@pytest.mark.parametrize(("move", "moved", "status"), MOVES, ids=NAMES)
def test_what_moved_after_the_approval_keeps_it_from_being_redeemed(
    people: People, move: Callable[[People, str], None], moved: set[str], status: str
) -> None:
    _, approval, evidence = _approved(people)
    move(people, evidence)

    refused = people.redeem(approval, "pay-1", PAYMENT)
    again = people.redeem(approval, "pay-1", PAYMENT)

    assert code(refused) == code(again) == (409, "approval_stale")
    assert set(refused.json()["moved"]) <= moved
    assert refused.json()["moved"] == again.json()["moved"] == people.stored(approval)[1]
    assert people.stored(approval)[0] == status
    assert people.effects() == 0
    assert people.actions(approval)[-1] == {"stale": "approval.stale", "expired": "approval.lapsed"}[status]


@pytest.mark.parametrize(("move", "moved", "status"), MOVES, ids=NAMES)
def test_what_moved_after_the_redemption_keeps_the_effect_from_being_dispatched(
    people: People, move: Callable[[People, str], None], moved: set[str], status: str
) -> None:
    run, approval, evidence = _approved(people)
    people.redeem(approval, "pay-1", PAYMENT)
    move(people, evidence)

    refused = people.report(run, "dispatched", "pay-1")
    again = people.report(run, "dispatched", "pay-1")

    del status
    assert code(refused) == code(again) == (409, "approval_stale")
    assert set(refused.json()["moved"]) == moved
    assert people.stored(approval) == ("stale", refused.json()["moved"])
    assert people.actions(approval)[-1] == "approval.stale"


def test_a_living_key_of_the_same_role_stands_for_one_that_was_revoked(people: People) -> None:
    _, approval, _ = _approved(people)
    people.revoke_keys("reviewer-1")
    people.site.token("reviewer", subject="reviewer-1")

    assert people.redeem(approval, "pay-1", PAYMENT).status_code == 200


def test_a_key_of_another_role_or_project_does_not(people: People) -> None:
    _, approval, _ = _approved(people)
    people.revoke_keys("reviewer-1")
    people.site.token("user", subject="reviewer-1")

    assert people.redeem(approval, "pay-1", PAYMENT).json()["moved"] == ["approver"]


def test_who_left_the_project_finds_nothing_to_redeem(people: People) -> None:
    _, approval, _ = _approved(people)
    people.remove_member("user-1")

    assert people.redeem(approval, "pay-1", PAYMENT).status_code == 404
    assert "acting_user" in people.get(f"/approvals/{approval}", people.reviewer).json()["moved"]


def test_a_new_approval_of_the_same_command_revives_the_intent(people: People) -> None:
    run, first, evidence = _approved(people)
    people.redeem(first, "pay-1", PAYMENT)
    people.change_policy()
    people.report(run, "dispatched", "pay-1")

    second = people.approved(run, PAYMENT, evidence_ids=[evidence])
    attached = people.redeem(second, "pay-1", PAYMENT)
    dispatched = people.report(run, "dispatched", "pay-1")

    assert (attached.status_code, attached.json()["effect"]["approval_id"]) == (200, second)
    assert (dispatched.status_code, dispatched.json()["status"]) == (200, "dispatched")
    assert people.redeem(first, "pay-1", PAYMENT).status_code == 409
    assert people.effects() == 1


def test_an_effect_that_is_done_takes_no_new_approval(people: People) -> None:
    run, first, evidence = _approved(people)
    people.redeem(first, "pay-1", PAYMENT)
    people.report(run, "dispatched", "pay-1")
    people.report(run, "committed", "pay-1")

    second = people.approved(run, PAYMENT, evidence_ids=[evidence])

    assert code(people.redeem(second, "pay-1", PAYMENT)) == (409, "effect_backwards")
    assert people.status(second) == "approved"


def test_an_intent_whose_kind_has_come_to_need_an_approval_waits_for_one(people: People) -> None:
    run, order = people.open(), {"kind": "orders.create", "sku": "A1"}
    people.post(
        f"/executions/{run}/effects",
        {"operation_id": "order-1", "kind": "orders.create", "request": {"sku": "A1"}},
        people.agent,
    )
    people.files["approvals.yaml"] += (
        '  "orders.*":\n    {capability: effects, approval: needed, approver: reviewer,'
        " longest_expiry_hours: 4}\n"
    )
    people.change_policy()

    refused = people.report(run, "dispatched", "order-1")
    approval = people.approved(run, order)
    attached = people.redeem(approval, "order-1", order)

    assert code(refused) == (403, "approval_needed")
    assert attached.json()["effect"]["approval_id"] == approval
    assert people.report(run, "dispatched", "order-1").status_code == 200


def test_a_waiting_request_that_no_longer_holds_makes_room_for_a_new_one(people: People) -> None:
    run = people.open()
    first = people.asked(run)
    people.change_policy()

    second = people.asked(run)

    assert first != second
    assert people.stored(first) == ("stale", ["policy_version"])
    assert people.decide(second).status_code == 200
