"""Workers at once on a real service: one checkpoint, one lease, one delivery, no act by a replaced worker."""

import threading
import time
from collections import Counter
from collections.abc import Callable
from typing import Any, Final

import httpx
import pytest
from recovery_case import Case, wait
from recovery_changes import act_anyway
from recovery_fixtures import Warm
from recovery_line import Line
from recovery_matrix import on
from recovery_record import read_record
from recovery_site import LEASE_SECONDS
from recovery_verdict import orders_of
from sqlmodel import func, select

from service.core.outbox import OutboxRow
from service.executions.delivery.model import DELIVER_TOPIC, Order

pytestmark = [
    pytest.mark.timeout(600),
    pytest.mark.parametrize("warm", on("postgresql"), indirect=True),
]

MANY: Final = 20


def _line(case: Case) -> Line:
    return Line(case.address, case.tokens["agent"], "agent", case.told)


def _open(case: Case, line: Line) -> Any:
    body = {"project": "alpha", "external_ref": case.external_ref, "objective": "Order A1"}
    return line.ask("POST", "/executions", body)


def _at_once(count: int, act: Callable[[], httpx.Response]) -> list[httpx.Response]:
    """Do something many times at the same moment; answer all responses."""
    start, answers = threading.Barrier(count), []

    def go() -> None:
        start.wait()
        answers.append(act())

    threads = [threading.Thread(target=go) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return answers


def test_of_twenty_checkpoints_at_once_exactly_one_is_taken(warm: Warm) -> None:
    case = warm.next()
    line = _line(case)
    run = _open(case, line)
    body = {"transition": "start", "step": 1, "state": {"next_action": "go"}}

    answers = _at_once(
        MANY,
        lambda: line.call("POST", f"/executions/{run['id']}/checkpoints", body, version=1, expect=(201, 412)),
    )

    assert Counter(answer.status_code for answer in answers) == {201: 1, 412: MANY - 1}
    assert {answer.json()["current_version"] for answer in answers if answer.status_code == 412} == {2}
    assert read_record(case.place, case.external_ref).values("checkpoints", "version") == [2]


def test_of_many_resumes_at_once_one_gets_the_lease_and_all_the_same_decision(warm: Warm) -> None:
    case = warm.next()
    line = _line(case)
    run = _open(case, line)
    found = {"contract_hash": run["contract_hash"]}

    answers = _at_once(8, lambda: line.call("POST", f"/executions/{run['id']}/resume", found))

    leases = [answer.json()["lease"] for answer in answers]
    assert [lease["fencing_token"] for lease in leases if lease is not None] == [1]
    assert len({answer.json()["decision"] for answer in answers}) == 1
    assert all(answer.json()["leased_until"] is not None for answer in answers)


def test_a_worker_that_was_replaced_acts_no_more(warm: Warm) -> None:
    case = warm.next()
    with case.people():
        wait(case.agent({"agent.before_dispatch": "kill"}))
    run = read_record(case.place, case.external_ref)
    line = _line(case)
    found = {"contract_hash": run.values("executions", "contract_hash")[0]}
    deadline = time.monotonic() + LEASE_SECONDS + 60
    while True:
        resumed = line.ask("POST", f"/executions/{run.execution_id}/resume", found)
        if resumed["lease"] is not None:
            break
        assert time.monotonic() < deadline
        time.sleep(0.2)

    # The one that was thought dead: it still holds the token that it was given, and a redeemed approval.
    let_through = act_anyway(case, lease=-2)

    assert resumed["lease"]["fencing_token"] > 1
    assert let_through == []
    assert orders_of(case, run.execution_id) == []


def test_an_order_that_is_delivered_many_times_at_once_is_placed_once(warm: Warm) -> None:
    case = warm.next()
    line = _line(case)
    run = _open(case, line)
    operations = [f"{case.external_ref}-{number}" for number in range(5)]
    for operation in operations:
        intent = {"operation_id": operation, "kind": "orders.create", "request": {"sku": operation}}
        line.call("POST", f"/executions/{run['id']}/effects", intent)
        with case.place.office() as office, office.registry.write(case.place.tenant_id) as unit:
            # As a queue does that delivers at least once.
            unit.stage_all(DELIVER_TOPIC, [Order(run["id"], operation).payload] * 4)

    _await_settled(case, line, run["id"], operations)

    assert sorted(orders_of(case, run["id"])) == operations


def _await_settled(case: Case, line: Line, execution_id: str, operations: list[str]) -> None:
    deadline = time.monotonic() + 100
    while True:
        effects = line.ask("GET", f"/executions/{execution_id}/handoff")["effects"]
        settled = {one["operation_id"] for one in effects if one["status"] == "committed"}
        if settled == set(operations) and not _waiting(case):
            return
        assert time.monotonic() < deadline, effects
        time.sleep(0.2)


def _waiting(case: Case) -> int:
    """Count the orders that no worker has dealt with."""
    with case.place.office() as office, office.registry.read(case.place.tenant_id) as unit:
        query = select(func.count()).select_from(OutboxRow).where(OutboxRow.topic == DELIVER_TOPIC)
        return unit.session.exec(query).one()
