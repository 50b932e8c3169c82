"""Cancel, retry and timeline over HTTP: preconditions, idempotency, redaction, and what goes with a run."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from approvals_world import People, open_people
from conftest import FixedClock

from service.audit.record import record
from service.audit.tables import AuditEventRow
from service.core.database import Database
from service.executions.tables import InterventionRow
from service.identity.projects import add_member, remove_member
from service.jobs.system_unit import SystemUnits

REASON = {"reason": "The customer withdrew the order"}


@pytest.fixture
def people(database: Database, tmp_path: Path, clock: FixedClock) -> Iterator[People]:
    with open_people(database, tmp_path, clock) as people:
        yield people


def _act(
    people: People, run: str, act: str, *, who: dict[str, str] | None = None, version: int = 1, **more: Any
) -> tuple[int, dict[str, Any]]:
    headers = (who or people.operator) | {"If-Match": f'"{version}"'} | more.pop("headers", {})
    response = people.site.client.post(
        f"/v1/executions/{run}/{act}", headers=headers, json=more.get("json", REASON)
    )
    return response.status_code, response.json()


def _change_members(people: People, change: Callable[..., bool]) -> None:
    """Add or remove `user-1`, as the command line does, and let the message of it be delivered."""
    runtime = people.site.runtime
    units = SystemUnits(runtime.database, runtime.ciphers, runtime.tokens, runtime.clock, runtime.ids)
    with units.write(people.tenant_id) as unit:
        change(unit.project("alpha"), "user-1", unit=unit, trail=record)
    people.sweep()


def test_cancelling_needs_a_version_and_a_reason(people: People) -> None:
    run = people.open()

    without = people.post(f"/executions/{run}/cancel", REASON, people.operator)
    refused = [_act(people, run, "cancel", json=body)[0] for body in ({}, {"reason": " \n"}, {"reason": ""})]
    stale = _act(people, run, "cancel", version=7)

    assert (without.status_code, without.json()["code"]) == (428, "if_match_required")
    assert refused == [422] * 3
    assert (stale[0], stale[1]["current_version"]) == (412, 1)
    assert people.site.count(InterventionRow) == 0


def test_a_cancelled_run_is_answered_without_text_and_stays_cancelled(people: People) -> None:
    run = people.open()

    status, answer = _act(people, run, "cancel")
    stale, problem_stale = _act(people, run, "cancel")
    again, problem_again = _act(people, run, "cancel", version=2)
    shown = people.get(f"/executions/{run}", people.agent).json()

    assert (status, answer["status"], answer["version"], answer["objective"]) == (200, "cancelled", 2, None)
    assert (stale, problem_stale["code"]) == (412, "stale_version")
    assert (again, problem_again["code"], problem_again["status"]) == (409, "execution_ended", 409)
    assert (shown["status"], shown["ended_reason"], shown["pending_action"]) == (
        "cancelled",
        "operator",
        None,
    )
    assert people.site.count(InterventionRow) == 1


def test_a_repeat_with_its_key_cancels_once_and_answers_the_same(people: People) -> None:
    run, key = people.open(), {"Idempotency-Key": "cancel-1"}

    first = _act(people, run, "cancel", headers=key)
    again = _act(people, run, "cancel", headers=key)
    other = _act(people, run, "cancel", headers=key, json={"reason": "Another reason"})

    assert again == first
    assert (other[0], other[1]["code"]) == (422, "idempotency_key_reused")
    assert people.site.count(InterventionRow) == 1


def test_users_cancel_their_own_runs_by_their_own_sign_in_only(people: People) -> None:
    run = people.open()
    colleague = people.site.headers("user", subject="user-2")

    assert _act(people, run, "cancel", who=people.agent)[1]["code"] == "forbidden"
    assert _act(people, run, "cancel", who=colleague)[1]["code"] == "acting_user_only"
    assert _act(people, run, "cancel", who=people.user)[1]["ended_reason"] == "acting_user"
    assert _act(people, people.open(), "retry", who=people.user)[0] == 403


def test_approvals_of_a_cancelled_run_are_cancelled_and_can_neither_be_decided_nor_redeemed(
    people: People,
) -> None:
    run = people.open()
    asked = people.asked(run)
    approved = people.approved(run, {"kind": "orders.create", "sku": "B2"})

    _act(people, run, "cancel")

    assert [people.status(one) for one in (asked, approved)] == ["cancelled"] * 2
    assert people.decide(asked).status_code == 409
    assert people.redeem(approved, command={"kind": "orders.create", "sku": "B2"}).status_code == 409


def test_an_effect_of_unknown_outcome_outlives_its_run(people: People) -> None:
    run = people.open()
    people.post(
        f"/executions/{run}/effects", {"operation_id": "order-8", "kind": "orders.create"}, people.agent
    )
    people.report(run, "dispatched")

    _act(people, run, "cancel")
    effect = people.get(f"/executions/{run}/handoff", people.operator).json()["effects"]

    assert effect == [{"operation_id": "order-8", "status": "dispatched"}]


def test_a_failed_run_is_retried_by_an_operator(people: People) -> None:
    run = people.open()
    failing = people.agent | {"If-Match": '"1"'}
    people.site.client.post(
        f"/v1/executions/{run}/checkpoints", headers=failing, json={"transition": "fail"}
    ).raise_for_status()

    early = _act(people, people.open(), "retry")
    status, answer = _act(people, run, "retry", version=2)

    assert (early[0], early[1]["code"]) == (409, "transition_refused")
    assert (status, answer["status"], answer["version"]) == (200, "running", 3)


def test_a_run_whose_user_left_waits_for_review_until_they_are_back(people: People) -> None:
    run = people.open()
    _change_members(people, remove_member)

    reviewed = people.get(f"/executions/{run}", people.operator).json()
    too_early = _act(people, run, "retry")
    unseen = people.get(f"/executions/{run}", people.agent)
    _change_members(people, add_member)
    status, answer = _act(people, run, "retry")

    assert (reviewed["status"], reviewed["version"]) == ("review_required", 1)
    assert (too_early[0], too_early[1]["code"], unseen.status_code) == (409, "access_gone", 404)
    assert (status, answer["status"]) == (200, "running")


def test_the_timeline_pages_and_holds_no_text(people: People) -> None:
    run = people.open()
    people.post(f"/executions/{run}/turns", {"role": "user", "text": "Keep it secret"}, people.agent)
    _act(people, run, "cancel")
    auditor = people.site.headers("auditor", subject="auditor-1")

    first = people.site.client.get(
        f"/v1/executions/{run}/timeline", headers=people.operator, params={"limit": 2}
    )
    second = people.site.client.get(first.links["next"]["url"], headers=people.operator).json()
    whole = people.get(f"/executions/{run}/timeline", auditor).json()

    assert first.json()["items"] + second["items"] == whole["items"]
    assert [one["what"] for one in whole["items"]] == [
        "execution.opened",
        "turn.added",
        "execution.cancelled",
    ]
    assert whole["items"][0] == {
        "at": "2026-11-30T10:00:00Z",
        "kind": "transition",
        "actor": "agent:agent-1:for:user-1",
        "what": "execution.opened",
        "ref": f"execution:{run}",
        "details": whole["items"][0]["details"],
    }
    assert "secret" not in str(whole)
    assert "withdrew" not in str(whole)
    assert people.site.count(AuditEventRow) >= 3
