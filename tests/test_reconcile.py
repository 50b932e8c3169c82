"""Settling an unknown outcome: operators on their word, everybody else with evidence that counts."""

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest
from conftest import FixedClock
from connectors_world import OPERATION, Orders, open_orders
from sqlmodel import select

from service.core.database import Database
from service.core.ids import new_id
from service.executions.tables import InterventionRow


@pytest.fixture
def orders(database: Database, tmp_path: Path, clock: FixedClock) -> Iterator[Orders]:
    with open_orders(database, tmp_path / "data", clock) as orders:
        yield orders


def _report(orders: Orders, run: str, *statuses: str) -> None:
    path = f"/v1/executions/{run}/effects/{OPERATION}"
    for status in statuses:
        orders.site.client.patch(path, headers=orders.agent, json={"status": status}).raise_for_status()


def _unknown(orders: Orders, *statuses: str) -> str:
    """Open a run with an effect of its own that is dispatched, and perhaps unknown."""
    run = orders.open()
    orders.intend(run, kind="parcels.send")
    _report(orders, run, *(statuses or ("dispatched",)))
    return run


def _say(orders: Orders, run: str, who: dict[str, str], outcome: str, **fields: Any) -> httpx.Response:
    body = {"outcome": outcome, **fields}
    return orders.post(f"/executions/{run}/effects/{OPERATION}/reconcile", body, who)


def _code(response: httpx.Response) -> tuple[int, str]:
    return response.status_code, response.json()["code"]


def _show(
    orders: Orders,
    uri: str = "tool://parcels/8",
    *,
    observed_before: float = 0,
    who: dict[str, str] | None = None,
    **fields: Any,
) -> str:
    """Keep evidence, the agent's unless it is said whose, and answer its id."""
    observed = orders.clock() - timedelta(seconds=observed_before)
    source = {"uri": uri, "kind": "tool", "observed_at": observed.isoformat()}
    body = {"project": "alpha", "text": f"Seen at {uri}", "source": source, **fields}
    return str(orders.made("/evidence", body, who or orders.agent)["id"])


@pytest.mark.parametrize(
    ("outcome", "status"), [("committed", "committed"), ("absent", "absent"), ("undetermined", "escalated")]
)
@pytest.mark.parametrize("before", [("dispatched",), ("dispatched", "unknown")])
def test_an_operators_word_settles_it_once(
    orders: Orders, outcome: str, status: str, before: tuple[str, ...]
) -> None:
    run = _unknown(orders, *before)

    said = _say(orders, run, orders.operator, outcome, downstream_ref="parcel:8", reason="I looked.")
    again = _say(orders, run, orders.operator, outcome)

    assert (said.status_code, again.status_code) == (200, 200)
    assert said.json()["status"] == again.json()["status"] == status
    effect = orders.effect(run)
    assert (effect.settled_basis, effect.settled_by) == ("operator", "operator:operator-1")
    assert effect.downstream_ref == "parcel:8"
    [event] = orders.trail("effect.reconciled")
    assert (event["status"], event["before"], event["basis"]) == (status, before[-1], "operator")
    assert "looked" not in str(event)


def test_an_operators_reason_is_kept_sealed(orders: Orders) -> None:
    run = _unknown(orders)
    _say(orders, run, orders.operator, "committed", reason="The courier called.")

    with orders.site.runtime.database.read(orders.tenant_id) as session:
        [row] = session.exec(select(InterventionRow)).all()
    assert (row.action, row.operation_id, row.by) == ("reconcile", OPERATION, "operator:operator-1")
    assert row.reason is not None
    assert b"courier" not in row.reason


def test_what_is_settled_is_not_settled_otherwise(orders: Orders) -> None:
    committed, failed, intended = _unknown(orders), _unknown(orders, "dispatched", "failed"), orders.open()
    orders.intend(intended, kind="parcels.send")
    _say(orders, committed, orders.operator, "committed")

    for run in (committed, failed, intended):
        for who in (orders.operator, orders.agent):
            refused = _say(orders, run, who, "absent")
            assert _code(refused) == (409, "reconciliation_not_needed")


def test_what_was_escalated_is_settled_by_an_operator_later(orders: Orders) -> None:
    run = _unknown(orders)

    for outcome, status in (("undetermined", "escalated"), ("committed", "committed")):
        assert _say(orders, run, orders.operator, outcome).json()["status"] == status


@pytest.mark.parametrize("outcome", ["committed", "absent", "undetermined"])
def test_a_bare_word_of_the_runs_own_people_settles_nothing(orders: Orders, outcome: str) -> None:
    run = _unknown(orders)
    as_user = orders.site.headers("user", subject="user-1")

    for who in (orders.agent, as_user):
        refused = _say(orders, run, who, outcome, reason="Trust me.")
        assert _code(refused) == (403, "reconciliation_needs_proof")
    assert orders.effect(run).status == "dispatched"


@pytest.mark.parametrize("outcome", ["committed", "absent"])
def test_evidence_that_counts_settles_it(orders: Orders, outcome: str) -> None:
    run = _unknown(orders)
    shown = _show(orders)

    said = _say(orders, run, orders.agent, outcome, evidence_id=shown)

    assert (said.status_code, said.json()["status"]) == (200, outcome)
    effect = orders.effect(run)
    assert (effect.settled_basis, effect.evidence_id) == ("evidence", shown)
    assert effect.settled_by == "agent:agent-1:for:user-1"


def test_evidence_that_is_not_believed_or_not_current_settles_nothing(orders: Orders) -> None:
    run = _unknown(orders)
    doubtful = _show(orders, "https://example.org/parcels/8")
    mail = _show(orders, "mail://parcels/8")
    stale = _show(orders, "tool://parcels/1", fresh_until=orders.clock().isoformat())
    superseded = _show(orders, "tool://parcels/2")
    _show(orders, "tool://parcels/3", supersedes=superseded)
    orders.clock.advance(seconds=1)

    for shown in (doubtful, mail, stale, superseded):
        refused = _say(orders, run, orders.agent, "committed", evidence_id=shown)
        assert _code(refused) == (403, "reconciliation_needs_proof")


def test_what_was_seen_before_the_dispatch_says_nothing_about_what_came_after(orders: Orders) -> None:
    run = orders.open()
    before = _show(orders, "tool://parcels/7")
    orders.clock.advance(seconds=1)
    orders.intend(run, kind="parcels.send")
    between = _show(orders)
    orders.clock.advance(seconds=1)
    _report(orders, run, "dispatched")

    # A dispatch may be written down late; nothing happened before anybody intended it.
    for outcome, shown in (("absent", before), ("absent", between), ("committed", before)):
        refused = _say(orders, run, orders.agent, outcome, evidence_id=shown)
        assert _code(refused) == (403, "reconciliation_needs_proof")
    assert _say(orders, run, orders.agent, "committed", evidence_id=between).json()["status"] == "committed"


def test_evidence_that_may_not_be_read_is_not_there(orders: Orders) -> None:
    run = _unknown(orders)
    private = orders.site.headers("agent", subject="agent-2", on_behalf_of="user-2", projects=["beta"])
    source = {"uri": "tool://x", "kind": "tool", "observed_at": orders.clock().isoformat()}
    foreign = orders.made("/evidence", {"project": "beta", "text": "x", "source": source}, private)["id"]

    for who in (orders.agent, orders.operator):
        for shown in (foreign, new_id(), "nothing"):
            refused = _say(orders, run, who, "committed", evidence_id=shown)
            assert _code(refused) == (404, "reference_not_found")


def test_others_may_not_and_foreign_runs_do_not_exist(orders: Orders) -> None:
    run = _unknown(orders)
    shown = _show(orders)
    colleague = orders.site.headers("user", subject="user-2")
    outsider = orders.site.headers("user", subject="user-1", projects=["beta"], tenant="umbrella")
    foreign_operator = orders.site.headers("operator", subject="operator-1", tenant="umbrella")

    refused = _say(orders, run, colleague, "committed", evidence_id=shown)
    assert _code(refused) == (403, "acting_user_only")
    for who in (orders.reviewer, orders.grader):
        assert _code(_say(orders, run, who, "committed")) == (403, "forbidden")
    for who in (outsider, foreign_operator):
        assert _code(_say(orders, run, who, "committed")) == (404, "not_found")
    missing = orders.post(
        f"/executions/{run}/effects/never-intended/reconcile", {"outcome": "committed"}, orders.operator
    )
    assert _code(missing) == (404, "not_found")


def test_an_absent_effect_may_be_dispatched_again_under_the_same_id(orders: Orders) -> None:
    run = _unknown(orders, "dispatched", "unknown")
    _say(orders, run, orders.operator, "absent")

    _report(orders, run, "dispatched", "committed")

    assert (orders.effect(run).status, orders.effect(run).attempts) == ("committed", 2)


def test_a_run_that_has_ended_still_has_its_unknown_effect_settled(orders: Orders) -> None:
    run, other = _unknown(orders, "dispatched", "unknown"), _unknown(orders)
    shown = _show(orders)
    for one in (run, other):
        headers = {**orders.operator, "If-Match": '"1"'}
        orders.made(f"/executions/{one}/cancel", {"reason": "not wanted"}, headers, status=200)

    assert _say(orders, run, orders.operator, "absent").json()["status"] == "absent"
    assert _say(orders, other, orders.agent, "committed", evidence_id=shown).json()["status"] == "committed"
    assert (orders.status(run), orders.status(other)) == ("cancelled", "cancelled")


def test_of_two_operators_at_once_one_is_heard(orders: Orders) -> None:
    run = _unknown(orders)

    with ThreadPoolExecutor(2) as pool:
        said = list(
            pool.map(lambda outcome: _say(orders, run, orders.operator, outcome), ["committed", "absent"])
        )

    assert sorted(response.status_code for response in said) == [200, 409]
    assert len(orders.trail("effect.reconciled")) == 1


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"outcome": "failed"},
        {"outcome": "committed", "status": "committed"},
        {"outcome": "committed", "downstream_ref": "two words"},
        {"outcome": "committed", "reason": ""},
        {"outcome": "committed", "reason": "\ud800"},
    ],
)
def test_what_cannot_be_meant_is_refused_and_changes_nothing(orders: Orders, body: dict[str, Any]) -> None:
    run = _unknown(orders)

    path = f"/v1/executions/{run}/effects/{OPERATION}/reconcile"
    headers = {**orders.operator, "Content-Type": "application/json"}
    refused = orders.site.client.post(path, headers=headers, content=json.dumps(body))

    assert refused.status_code == 422
    assert orders.effect(run).status == "dispatched"
