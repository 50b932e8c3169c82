"""Approvals when things go wrong: crashes, races, a fresh session, and what a package tells of them."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from approvals_world import ORDER, People, code, open_people
from conftest import FixedClock

from service.core.database import Database
from service.core.failpoints import arm
from service.executions.tables import ExecutionRow


@pytest.fixture
def people(database: Database, tmp_path: Path, clock: FixedClock) -> Iterator[People]:
    with open_people(database, tmp_path, clock) as people:
        yield people
    arm({})


def _resume(people: People, run: str, who: dict[str, str] | None = None) -> dict[str, Any]:
    contract = people.get(f"/executions/{run}", people.agent).json()["contract_hash"]
    answer = people.post(f"/executions/{run}/resume", {"contract_hash": contract}, who or people.agent)
    assert answer.status_code == 200, answer.text
    return dict(answer.json())


def _token(resumed: dict[str, Any], people: People) -> dict[str, str]:
    return people.agent | {"Fencing-Token": str(resumed["lease"]["fencing_token"])}


def test_a_redemption_and_its_intent_are_there_together_or_not_at_all(people: People) -> None:
    run = people.open()
    approval = people.approved(run)

    arm({"http.redeem_approval.before_commit": "raise"})
    assert people.redeem(approval).status_code == 500
    before = (people.effects(), people.status(approval))
    arm({"http.redeem_approval.after_commit": "raise"})
    assert people.redeem(approval).status_code == 500
    arm({})

    assert before == (0, "approved")
    assert (people.effects(), people.status(approval)) == (1, "redeemed")
    assert people.redeem(approval).json()["effect"]["status"] == "intended"
    assert code(people.redeem(approval, "order-9")) == (409, "approval_used")


def test_what_was_found_stale_stays_so_after_a_crash(people: People) -> None:
    run = people.open()
    approval = people.approved(run)
    people.change_policy()

    arm({"http.redeem_approval.after_commit": "raise"})
    assert people.redeem(approval).status_code == 500
    arm({})

    assert people.stored(approval) == ("stale", ["policy_version"])
    assert code(people.redeem(approval)) == (409, "approval_stale")


def test_redeeming_cancelling_and_lapsing_at_once_leave_one_truth(people: People) -> None:
    for number in range(6):
        command = ORDER | {"sku": f"R{number}"}
        run = people.open()
        approval = people.approved(run, command)
        acts = [
            lambda a=approval, c=command: people.redeem(a, command=c),
            lambda a=approval: people.cancel(a, people.operator),
            lambda a=approval, c=command: people.redeem(a, command=c),
        ]

        answers = people.at_once(3, lambda index, acts=acts: acts[index]())

        status = people.status(approval)
        effects = people.get(f"/executions/{run}/handoff", people.agent).json()["effects"]
        assert {answer.status_code for answer in answers} <= {200, 409}
        assert (status, len(effects)) in {("redeemed", 1), ("cancelled", 0)}


@pytest.mark.parametrize("redeemed", [False, True])
def test_a_fresh_session_is_told_to_ask_again(people: People, *, redeemed: bool) -> None:
    run = people.open()
    approval = people.approved(run)
    if redeemed:
        people.redeem(approval)
    people.change_policy()

    told = _resume(people, run)
    under_lease = _token(told, people)
    refused = people.post(f"/executions/{run}/effects", {"operation_id": "x", "kind": "a.b"}, under_lease)
    anew = people.ask(run, who=under_lease)
    again = _resume(people, run, under_lease)

    assert told["decision"] == f"reapprove:{approval}"
    assert told["lease"]["mode"] == "recovery"
    assert [(one["code"], one["ref"]) for one in told["reasons"]] == [
        ("approval_policy_version", f"approval:{approval}")
    ]
    assert code(refused) == (409, "recovery_only")
    assert anew.status_code == 201
    assert not again["decision"].startswith("reapprove")
    assert people.redeem(anew.json()["id"], who=_token(again, people)).status_code == 409
    people.decide(anew.json()["id"])
    assert people.redeem(anew.json()["id"], who=_token(again, people)).status_code == 200
    assert people.effects() == 1


def test_cancelling_what_lapsed_lets_a_session_go_on(people: People) -> None:
    run = people.open()
    approval = people.asked(run, expires_at="2026-11-30T11:00:00Z")
    people.clock.advance(hours=1)

    told = _resume(people, run)
    people.cancel(approval, _token(told, people))
    again = _resume(people, run, _token(told, people))

    assert told["decision"] == f"reapprove:{approval}"
    assert told["reasons"][0]["code"] == "approval_expired"
    assert not again["decision"].startswith("reapprove")


def test_asking_and_deciding_leave_the_version_and_status_of_the_run_alone(people: People) -> None:
    run = people.open()
    people.redeem(people.approved(run))

    with people.site.runtime.database.read(people.tenant_id) as session:
        row = session.get_one(ExecutionRow, (people.tenant_id, run))
        assert (row.version, row.status) == (1, "open")


def test_a_package_names_what_waits_and_what_was_refused(people: People) -> None:
    run = people.open()
    pending, rejected = people.asked(run), people.asked(run, ORDER | {"sku": "A2"})
    people.decide(rejected, "reject")
    used = people.approved(run, ORDER | {"sku": "A3"})
    people.redeem(used, command=ORDER | {"sku": "A3"})

    built = people.post(
        "/context-packages",
        {"project": "alpha", "execution_id": run, "purpose": "service", "max_tokens": 4000},
        people.agent,
    )

    assert built.status_code == 201, built.text
    text = next(part for part in built.json()["sections"] if part["name"] == "state")["text"]
    assert f"[approval {pending}] orders.create: pending until 2026-12-01T10:00:00Z" in text
    assert f"[approval {rejected}] orders.create: rejected" in text
    assert used not in text
