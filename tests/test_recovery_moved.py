"""The world moves between two sessions of a run: the second goes on by what holds now, or not at all."""

import time
from collections.abc import Callable, Iterator
from datetime import timedelta

import httpx
import pytest
from recovery_case import KILLED, Case, await_kill, opened, wait
from recovery_changes import (
    act_anyway,
    age_by_a_release,
    change_policy,
    leave_project,
    let_case_expire,
    rejoin_project,
    replace_reviewer,
    see_case,
)
from recovery_matrix import DATABASES, on
from recovery_record import Record, read_record
from recovery_report import Note, note_case
from recovery_site import Place
from recovery_tasks import order_of
from recovery_verdict import Verdict, judge, orders_of

from service.executions.model import STATE_SCHEMA_VERSION

Change = Callable[[Case], None]

pytestmark = pytest.mark.timeout(600)


@pytest.fixture
def case(place: Place) -> Iterator[Case]:
    with opened(place) as case, place.serving(extra=case.extra) as service:
        case.address = service.address
        yield case


def _killed_at(case: Case, point: str) -> None:
    with case.people():
        assert wait(case.agent({point: "kill"})) == KILLED


def _completed(case: Case, name: str, note: Note, *, stale_acts: list[str]) -> Verdict:
    with case.people():
        case.go_on()
    verdict = judge(case, stale_acts=stale_acts)
    note_case(note, name, verdict.as_json(), verdict.faults)
    return verdict


def _refused(case: Case) -> list[str]:
    """Try on the old authority; answer whatever was let through or reached the shop."""
    let_through = act_anyway(case)
    return [*let_through, *orders_of(case, read_record(case.place, case.external_ref).execution_id)]


@pytest.mark.parametrize("place", on("postgresql"), indirect=True)
@pytest.mark.parametrize(
    "point", [pytest.param("agent.before_redeem", marks=pytest.mark.torture), "agent.before_dispatch"]
)
def test_an_approval_whose_approver_is_gone_leads_to_no_act(
    case: Case, point: str, record_property: Note
) -> None:
    _killed_at(case, point)
    replace_reviewer(case)
    stale = _refused(case)

    verdict = _completed(case, "approver gone before the act", record_property, stale_acts=stale)

    assert verdict.faults == []
    assert any(decision.startswith("reapprove:") for decision in verdict.decisions)
    redeemed = [
        row
        for row in read_record(case.place, case.external_ref).rows["approvals"]
        if row["status"] == "redeemed"
    ]
    assert [row["decided_by"] for row in redeemed] == ["reviewer-2"]


@pytest.mark.torture
@pytest.mark.parametrize("place", DATABASES, indirect=True)
@pytest.mark.parametrize("point", ["agent.before_redeem", "agent.before_dispatch"])
def test_an_approval_under_another_policy_leads_to_no_act(
    case: Case, point: str, record_property: Note
) -> None:
    _killed_at(case, point)
    change_policy(case)
    stale = _refused(case)

    verdict = _completed(case, "policy moved before the act", record_property, stale_acts=stale)

    assert verdict.faults == []
    assert any(decision.startswith("reapprove:") for decision in verdict.decisions)


@pytest.mark.torture
@pytest.mark.parametrize("place", DATABASES, indirect=True)
def test_a_run_whose_user_left_waits_for_a_person(case: Case, record_property: Note) -> None:
    _killed_at(case, "agent.before_dispatch")
    leave_project(case)
    stale = _refused(case)
    # Whoever comes now finds nothing that they could go on with, and begins nothing either.
    assert wait(case.agent()) != 0
    stopped = read_record(case.place, case.external_ref)
    rejoin_project(case)

    verdict = _completed(case, "user gone before the act", record_property, stale_acts=stale)

    assert stopped.values("executions", "status") == ["review_required"]
    assert verdict.faults == []


@pytest.mark.parametrize("place", on("sqlite"), indirect=True)
def test_a_state_that_rests_on_expired_evidence_is_refreshed_first(case: Case, record_property: Note) -> None:
    _killed_at(case, "agent.after_read")
    let_case_expire(case)
    run = read_record(case.place, case.external_ref)
    found = {"contract_hash": run.values("executions", "contract_hash")[0]}
    answer = httpx.post(
        f"{case.address}/v1/executions/{run.execution_id}/resume",
        json=found,
        headers={"Authorization": f"Bearer {case.tokens['agent']}"},
        timeout=30,
    )
    see_case(case, timedelta(hours=1))

    verdict = _completed(case, "evidence expired meanwhile", record_property, stale_acts=[])

    assert answer.json()["decision"].startswith("refresh:")
    assert [reason["code"] for reason in answer.json()["reasons"]] == ["source_expired"]
    assert verdict.faults == []


@pytest.mark.torture
@pytest.mark.parametrize("place", DATABASES, indirect=True)
def test_a_run_of_the_release_before_goes_on(case: Case, record_property: Note) -> None:
    _killed_at(case, "agent.before_dispatch")
    age_by_a_release(case)

    verdict = _completed(case, "checkpoint of the schema before", record_property, stale_acts=[])

    assert verdict.faults == []
    kept = read_record(case.place, case.external_ref)
    assert kept.values("executions", "schema_version") == [STATE_SCHEMA_VERSION]
    assert 1 in kept.values("checkpoints", "schema_version")


@pytest.mark.torture
@pytest.mark.parametrize("place", DATABASES, indirect=True)
def test_what_the_service_had_not_sent_when_it_was_killed_is_not_sent_for_a_user_who_left(
    place: Place,
) -> None:
    with opened(place) as case:
        armed = {"deliver.before_dispatch_commit": "kill"}
        with place.serving(armed=armed, extra=case.extra) as first:
            case.address = first.address
            with case.people():
                await_kill(first.process, case)
        before = read_record(place, case.external_ref)
        leave_project(case)
        with place.serving(extra=case.extra):
            after = _await_change(case, before)

    assert [row["status"] for row in before.rows["effects"]] == ["committed", "intended"]
    assert [row["status"] for row in after.rows["effects"]] == ["committed", "failed"]
    assert after.values("executions", "status") == ["review_required"]
    assert order_of(case.external_ref) not in orders_of(case, after.execution_id)


def _await_change(case: Case, before: Record) -> Record:
    """Wait until the service has dealt with what it held when it died: that is free again after a minute."""
    deadline = time.monotonic() + 150
    while True:
        now = read_record(case.place, case.external_ref)
        if now.values("effects", "status") != before.values("effects", "status"):
            return now
        assert time.monotonic() < deadline
        time.sleep(1)
