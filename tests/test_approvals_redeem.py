"""Redeeming an approval: once, for the exact command, with the effect's intent in the same transaction."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from approvals_world import ORDER, People, code, open_people
from conftest import FixedClock

from service.core.database import Database


@pytest.fixture
def people(database: Database, tmp_path: Path, clock: FixedClock) -> Iterator[People]:
    with open_people(database, tmp_path, clock) as people:
        yield people


def test_a_redemption_writes_the_intent_and_repeats_for_its_operation(people: People) -> None:
    run = people.open()
    approval = people.approved(run)

    first = people.redeem(approval)
    again = people.redeem(approval)
    people.report(run, "dispatched")
    dispatched = people.redeem(approval)

    assert (first.status_code, again.status_code, dispatched.status_code) == (200, 200, 200)
    effect = first.json()["effect"]
    assert (effect["operation_id"], effect["status"], effect["approval_id"]) == (
        "order-8",
        "intended",
        approval,
    )
    assert again.json() == first.json()
    assert dispatched.json()["effect"]["status"] == "dispatched"
    assert people.effects() == 1
    assert people.actions(approval) == [
        "approval.asked",
        "approval.decided",
        "approval.redeemed",
        "effect.intended",
    ]


def test_another_operation_is_refused_and_named(people: People) -> None:
    run = people.open()
    approval = people.approved(run)
    people.redeem(approval)

    other = people.redeem(approval, "order-9")

    assert code(other) == (409, "approval_used")
    assert other.json()["operation_id"] == "order-8"
    assert people.effects() == 1


def test_of_twenty_redeems_at_once_one_effect_comes(people: People) -> None:
    run = people.open()
    approval = people.approved(run)

    answers = people.at_once(20, lambda number: people.redeem(approval, f"order-{number}"))

    statuses = sorted(answer.status_code for answer in answers)
    assert statuses == [200, *[409] * 19]
    assert {answer.json()["code"] for answer in answers if answer.status_code == 409} == {"approval_used"}
    assert people.effects() == 1


@pytest.mark.parametrize(
    "command",
    [
        ORDER | {"sku": "A2"},
        ORDER | {"sku": "a1"},
        ORDER | {"quantity": "2"},
        ORDER | {"quantity": 3},
        ORDER | {"note": None},
        ORDER | {"kind": "orders.creates"},
        {"kind": "orders.create", "sku": "A1"},
    ],
)
def test_any_other_command_is_not_the_approved_one_and_leaves_the_approval_alone(
    people: People, command: dict[str, object]
) -> None:
    run = people.open()
    approval = people.approved(run)

    refused = people.redeem(approval, command=command)

    assert code(refused) == (409, "approval_stale")
    assert refused.json()["moved"] == ["command"]
    assert (people.effects(), people.status(approval)) == (0, "approved")


@pytest.mark.parametrize(
    "command",
    [
        {"quantity": 2, "sku": "A1", "kind": "orders.create"},
        ORDER | {"quantity": 2.0},
    ],
)
def test_the_same_command_in_other_words_is_the_approved_one(
    people: People, command: dict[str, object]
) -> None:
    run = people.open()
    approval = people.approved(run)

    assert people.redeem(approval, command=command).status_code == 200
    assert people.redeem(approval).status_code == 200


def test_what_nobody_approved_is_not_redeemed(people: People) -> None:
    run = people.open()
    pending = people.asked(run)
    rejected = people.asked(run, ORDER | {"sku": "A2"})
    people.decide(rejected, "reject")

    waiting = people.redeem(pending)
    refused = people.redeem(rejected, command=ORDER | {"sku": "A2"})
    people.cancel(pending)
    cancelled = people.redeem(pending)

    for answer, status in ((waiting, "pending"), (refused, "rejected"), (cancelled, "cancelled")):
        assert code(answer) == (409, "approval_not_approved")
        assert answer.json()["approval_status"] == status
    assert people.effects() == 0


def test_only_the_runs_own_side_redeems(people: People) -> None:
    run = people.open()
    approval = people.approved(run)
    colleague = people.site.headers("user", subject="user-2")
    stranger = people.site.headers("agent", subject="agent-1", on_behalf_of="user-1", tenant="other")
    elsewhere = people.site.headers("user", subject="user-3", projects=["beta"])

    assert code(people.redeem(approval, who=colleague)) == (403, "acting_user_only")
    assert people.redeem(approval, who=people.reviewer).status_code == 403
    assert people.redeem(approval, who=stranger).status_code == 404
    assert people.redeem(approval, who=elsewhere).status_code == 404
    assert people.redeem(approval, who=people.user).status_code == 200


def test_an_effect_that_needs_an_approval_comes_only_by_redemption(people: People) -> None:
    run, command = people.open(), {"kind": "payments.transfer", "amount": "120"}
    evidence = people.evidence()
    effect = {"operation_id": "pay-1", "kind": "payments.transfer", "request": {"amount": "120"}}
    path = f"/executions/{run}/effects"

    bare = people.post(path, effect, people.agent)
    unknown = people.post(path, effect | {"approval_id": run}, people.agent)
    approval = people.approved(run, command, evidence_ids=[evidence])
    named = people.post(path, effect | {"approval_id": approval}, people.agent)
    redeemed = people.redeem(approval, "pay-1", command)
    repeated = people.post(path, effect | {"approval_id": approval}, people.agent)
    other = people.post(path, effect | {"approval_id": approval, "operation_id": "pay-2"}, people.agent)

    assert code(bare) == (403, "approval_needed")
    assert code(unknown) == (422, "approval_unknown")
    assert code(named) == (409, "approval_not_redeemed")
    assert (repeated.status_code, repeated.json()) == (200, redeemed.json()["effect"])
    assert code(other) == (409, "approval_used")
    assert people.report(run, "dispatched", "pay-1").status_code == 200


def test_an_operation_that_stands_for_something_else_is_not_taken_over(people: People) -> None:
    run = people.open()
    people.post(
        f"/executions/{run}/effects",
        {"operation_id": "order-8", "kind": "orders.create", "request": {"sku": "B7"}},
        people.agent,
    )
    approval = people.approved(run)

    assert code(people.redeem(approval)) == (409, "operation_id_taken")
    assert people.status(approval) == "approved"
    assert people.redeem(approval, "order-9").status_code == 200


def test_an_idempotency_key_answers_the_first_redemption_again(people: People) -> None:
    run = people.open()
    approval = people.approved(run)
    headers = people.agent | {"Idempotency-Key": "k-1"}

    first, second = (people.redeem(approval, who=headers) for _ in range(2))

    assert first.json() == second.json()
    assert second.headers["Idempotent-Replayed"] == "true"
