"""The end of approvals: by time, recorded like any other; or cancelled, so that none dangles."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from approvals_world import ORDER, People, code, open_people
from conftest import FixedClock

from service.core.database import Database
from service.core.outbox import OutboxRow

REFUND: dict[str, Any] = {"kind": "refunds.create", "amount": "12"}


@pytest.fixture
def people(database: Database, tmp_path: Path, clock: FixedClock) -> Iterator[People]:
    with open_people(database, tmp_path, clock) as people:
        yield people


def test_what_is_past_its_time_reads_as_expired_at_once_and_is_written_down_when_due(people: People) -> None:
    run = people.open()
    pending = people.asked(run, expires_at="2026-11-30T11:00:00Z")
    approved = people.approved(run, ORDER | {"sku": "A2"}, expires_at="2026-11-30T11:00:00Z")
    people.sweep()
    people.clock.advance(minutes=60)

    read = [people.status(one) for one in (pending, approved)]
    listed = people.get("/approvals?status=expired", people.reviewer).json()["items"]
    before = [people.stored(one)[0] for one in (pending, approved)]
    people.sweep()
    people.sweep()

    assert read == ["expired", "expired"]
    assert {one["id"] for one in listed} == {pending, approved}
    assert people.get("/approvals?status=pending", people.reviewer).json()["items"] == []
    assert before == ["pending", "approved"]
    assert [people.stored(one) for one in (pending, approved)] == [("expired", ["expired"])] * 2
    assert people.actions(pending) == ["approval.asked", "approval.lapsed"]
    assert people.actions(approved) == ["approval.asked", "approval.decided", "approval.lapsed"]


def test_what_was_decided_used_or_cancelled_does_not_lapse(people: People) -> None:
    run = people.open()
    rejected, redeemed = people.asked(run), people.approved(run, ORDER | {"sku": "A2"})
    people.decide(rejected, "reject")
    people.redeem(redeemed, command=ORDER | {"sku": "A2"})
    cancelled = people.asked(run, ORDER | {"sku": "A3"})
    people.cancel(cancelled)
    people.clock.advance(hours=25)

    people.sweep()

    assert [people.status(one) for one in (rejected, redeemed, cancelled)] == [
        "rejected",
        "redeemed",
        "cancelled",
    ]
    assert people.site.count(OutboxRow) == 0


def test_a_decision_that_comes_too_late_is_refused_and_the_lapse_recorded(people: People) -> None:
    approval = people.asked(people.open(), expires_at="2026-11-30T11:00:00Z")
    people.clock.advance(minutes=60)

    late = people.decide(approval)
    people.sweep()

    assert code(late) == (409, "approval_stale")
    assert late.json()["moved"] == ["expired"]
    assert people.actions(approval) == ["approval.asked", "approval.lapsed"]


def test_asking_again_after_the_time_is_up_writes_the_old_one_off(people: People) -> None:
    run = people.open()
    first = people.asked(run, expires_at="2026-11-30T11:00:00Z")
    people.clock.advance(minutes=60)

    second = people.asked(run)

    assert people.stored(first) == ("expired", ["expired"])
    assert people.decide(second).status_code == 200
    assert people.actions(first) == ["approval.asked", "approval.lapsed"]


def test_a_cancelled_request_lets_a_new_one_in(people: People) -> None:
    run = people.open()
    first = people.asked(run)

    cancelled, again = people.cancel(first), people.cancel(first)
    second = people.asked(run)

    assert (cancelled.status_code, again.status_code) == (200, 200)
    assert cancelled.json() == again.json()
    assert people.actions(first) == ["approval.asked", "approval.cancelled"]
    assert code(people.decide(first)) == (409, "approval_decided")
    assert people.decide(second).status_code == 200


def test_who_may_cancel_and_who_not(people: People) -> None:
    run = people.open()
    colleague = people.site.headers("user", subject="user-2")
    other_reviewer_is_fine = people.site.headers("reviewer", subject="reviewer-2")

    for number, who in enumerate((people.user, people.operator, people.reviewer, other_reviewer_is_fine)):
        assert people.cancel(people.asked(run, ORDER | {"sku": str(number)}), who).status_code == 200
    refund, order = people.asked(run, REFUND), people.asked(run)
    assert code(people.cancel(order, colleague)) == (403, "approval_not_yours")
    assert code(people.cancel(refund, people.reviewer)) == (403, "approval_not_yours")
    assert people.cancel(order, people.site.headers("grader", subject="grader-1")).status_code == 403


def test_a_lease_binds_who_drives_the_run_and_not_who_decides(people: People) -> None:
    run = people.open()
    order, refund, other = people.asked(run), people.asked(run, REFUND), people.asked(run, {"kind": "a.b"})
    contract = people.get(f"/executions/{run}", people.agent).json()["contract_hash"]
    people.post(f"/executions/{run}/resume", {"contract_hash": contract}, people.agent)

    assert code(people.cancel(order)) == (409, "fencing_token_stale")
    assert code(people.cancel(order, people.user)) == (409, "fencing_token_stale")
    assert people.cancel(refund, people.user).status_code == 200
    assert people.cancel(order, people.reviewer).status_code == 200
    assert people.decide(other).status_code == 200


def test_what_was_rejected_or_used_is_not_cancelled(people: People) -> None:
    run = people.open()
    rejected, redeemed = people.asked(run), people.approved(run, ORDER | {"sku": "A2"})
    people.decide(rejected, "reject")
    people.redeem(redeemed, command=ORDER | {"sku": "A2"})

    assert code(people.cancel(rejected)) == (409, "approval_decided")
    assert code(people.cancel(redeemed)) == (409, "approval_decided")


def test_a_stale_approval_is_cancelled_when_nobody_waits_for_it(people: People) -> None:
    run = people.open()
    approval = people.approved(run)
    people.change_policy()
    people.redeem(approval)

    assert people.cancel(approval).json()["status"] == "cancelled"
    assert people.actions(approval)[-2:] == ["approval.stale", "approval.cancelled"]


def test_a_run_that_is_cancelled_takes_its_approvals_along(people: People) -> None:
    run = people.open()
    pending, approved = people.asked(run), people.approved(run, ORDER | {"sku": "A2"})

    ended = people.post(
        f"/executions/{run}/cancel", {"reason": "no longer wanted"}, people.operator | {"If-Match": '"1"'}
    )
    people.clock.advance(hours=25)
    people.sweep()

    assert ended.status_code == 200, ended.text
    assert [people.stored(one)[0] for one in (pending, approved)] == ["cancelled", "cancelled"]


def test_the_list_is_paged_and_filtered(people: People) -> None:
    run = people.open()
    ids = [people.asked(run, ORDER | {"sku": str(number)}) for number in range(5)]
    people.decide(ids[0])
    seen: list[str] = []
    address = "/approvals?status=pending&limit=2"
    while address:
        page = people.get(address, people.reviewer)
        seen += [one["id"] for one in page.json()["items"]]
        cursor = page.json()["next_cursor"]
        address = f"/approvals?status=pending&limit=2&cursor={cursor}" if cursor else ""

    assert seen == ids[:0:-1]
    assert people.get(f"/approvals?limit=2&cursor={cursor}", people.reviewer).status_code == 422
    assert people.get("/approvals?status=odd", people.reviewer).status_code == 422


def test_the_handoff_names_every_approval(people: People) -> None:
    run = people.open()
    first, second = people.approved(run), people.asked(run, ORDER | {"sku": "A2"})

    handoff = people.get(f"/executions/{run}/handoff", people.agent).json()

    assert handoff["approvals"] == [
        {"id": first, "status": "approved"},
        {"id": second, "status": "pending"},
    ]
