"""Deciding an approval: by the person whom the policy names, once, on what still is as it was asked."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from approvals_world import ORDER, People, code, open_people
from conftest import FixedClock

from service.core.database import Database

REFUND: dict[str, Any] = {"kind": "refunds.create", "amount": "12"}
RESTART: dict[str, Any] = {"kind": "restarts.host", "host": "a"}


@pytest.fixture
def people(database: Database, tmp_path: Path, clock: FixedClock) -> Iterator[People]:
    with open_people(database, tmp_path, clock) as people:
        yield people


def test_a_decision_counts_once(people: People) -> None:
    approval = people.asked(people.open())

    first = people.decide(approval)
    again = people.decide(approval)
    against = people.decide(approval, "reject")

    assert (first.status_code, first.json()["status"]) == (200, "approved")
    assert (first.json()["decided_by"], first.json()["decider_role"]) == ("reviewer-1", "reviewer")
    assert first.json()["reason"] == "the quote holds"
    for answer in (again, against):
        assert code(answer) == (409, "approval_decided")
        assert answer.json()["approval_status"] == "approved"


def test_a_rejection_is_recorded_like_an_approval(people: People) -> None:
    approval = people.asked(people.open())

    rejected = people.decide(approval, "reject")

    assert rejected.json()["status"] == "rejected"
    assert people.actions(approval) == ["approval.asked", "approval.decided"]
    assert code(people.decide(approval)) == (409, "approval_decided")


def test_of_two_decisions_at_once_one_counts(people: People) -> None:
    approval = people.asked(people.open())
    words = ["approve", "reject"] * 4

    answers = people.at_once(8, lambda number: people.decide(approval, words[number]))

    assert sorted(answer.status_code for answer in answers) == [200, *[409] * 7]
    winner = next(answer for answer in answers if answer.status_code == 200)
    assert people.status(approval) == winner.json()["status"]
    assert people.actions(approval).count("approval.decided") == 1


def test_no_agent_decides_whoever_it_acts_for(people: People) -> None:
    run = people.open()
    approval, refund = people.asked(run), people.asked(run, REFUND)
    lone = people.site.headers("agent", subject="agent-2")

    for who in (people.agent, lone):
        assert people.decide(approval, who=who).status_code == 403
        assert people.decide(refund, who=who).status_code == 403
    assert people.status(refund) == "pending"


def test_the_role_that_the_policy_names_decides_and_no_other(people: People) -> None:
    run = people.open()
    order, refund, restart = (people.asked(run, command) for command in (ORDER, REFUND, RESTART))

    for approval, others in (
        (order, (people.user, people.operator)),
        (refund, (people.reviewer, people.operator, people.site.headers("user", subject="user-2"))),
        (restart, (people.reviewer, people.user)),
    ):
        for who in others:
            assert code(people.decide(approval, who=who)) == (403, "approval_not_yours")
    for approval, who in ((order, people.reviewer), (refund, people.user), (restart, people.operator)):
        assert people.decide(approval, who=who).status_code == 200


def test_who_asked_or_acts_never_decides_in_another_role(people: People) -> None:
    run = people.open()
    approval = people.asked(run)
    as_reviewer = people.site.headers("reviewer", subject="user-1")
    agent_as_reviewer = people.site.headers("reviewer", subject="agent-1")

    assert code(people.decide(approval, who=as_reviewer)) == (403, "approval_not_yours")
    assert code(people.decide(approval, who=agent_as_reviewer)) == (403, "approval_not_yours")
    assert people.decide(approval).status_code == 200


def test_a_user_decides_what_they_asked_for_themselves_where_the_policy_names_them(people: People) -> None:
    run = people.open(people.user)
    refund = people.asked(run, REFUND, who=people.user)

    assert people.decide(refund, who=people.user).status_code == 200


def test_who_may_not_read_an_approval_learns_nothing_of_it(people: People) -> None:
    approval = people.asked(people.open())
    elsewhere = people.site.headers("reviewer", subject="reviewer-2", projects=["beta"])
    stranger = people.site.headers("reviewer", subject="reviewer-1", tenant="other")

    for who in (elsewhere, stranger):
        assert people.decide(approval, who=who).status_code == 404
        assert people.get(f"/approvals/{approval}", who).status_code == 404
        assert people.get("/approvals", who).json()["items"] == []
        assert people.cancel(approval, who).status_code == 404


def test_what_moved_before_the_decision_makes_it_stale_and_says_so(people: People) -> None:
    run = people.open()
    approval = people.asked(run)
    people.change_policy()

    refused = people.decide(approval)
    again = people.decide(approval)

    assert code(refused) == code(again) == (409, "approval_stale")
    assert refused.json()["moved"] == again.json()["moved"] == ["policy_version"]
    assert people.stored(approval) == ("stale", ["policy_version"])
    assert people.actions(approval) == ["approval.asked", "approval.stale"]


def test_nothing_is_decided_in_a_run_that_has_ended(people: People) -> None:
    run = people.open(deadline="2026-11-30T12:00:00Z")
    approval = people.asked(run)
    people.clock.advance(hours=3)

    assert code(people.decide(approval)) == (409, "execution_ended")


def test_an_operator_reads_the_command_that_they_decide_and_no_other(people: People) -> None:
    run = people.open()
    order, restart = people.asked(run), people.asked(run, RESTART)

    listed = {one["id"]: one for one in people.get("/approvals", people.operator).json()["items"]}

    assert (listed[order]["command"], listed[restart]["command"]) == (None, RESTART)
    assert people.get(f"/approvals/{order}", people.operator).json()["command"] is None
    assert people.get(f"/approvals/{restart}", people.operator).json()["command"] == RESTART
    assert people.decide(restart, who=people.operator).json()["reason"] == "the quote holds"
    people.decide(order)
    assert people.get(f"/approvals/{order}", people.operator).json()["reason"] is None
