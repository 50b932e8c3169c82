"""Between the intent and its dispatch the world may change: what is no longer allowed is never sent."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from conftest import FixedClock
from connectors_world import OPERATION, SECRET, Orders, open_orders
from downstream_server import Fault
from sqlmodel import col, delete, update

from service.core.database import Database
from service.executions.ledger.tables import EffectRow
from service.identity.tables import ApiKeyRow, MemberRow


@pytest.fixture
def orders(database: Database, tmp_path: Path, clock: FixedClock) -> Iterator[Orders]:
    with open_orders(database, tmp_path / "data", clock) as orders:
        yield orders


def _cancel(orders: Orders, run: str) -> None:
    headers = {**orders.operator, "If-Match": '"1"'}
    orders.made(f"/executions/{run}/cancel", {"reason": "not wanted"}, headers, status=200)


def _expire(orders: Orders, _run: str) -> None:
    orders.clock.advance(days=2)


def _revoke(orders: Orders, _run: str) -> None:
    with orders.site.runtime.database.write(orders.tenant_id) as session:
        session.exec(
            update(ApiKeyRow).where(col(ApiKeyRow.subject) == "agent-1").values(revoked_at=orders.clock())
        )


def _remove_member(orders: Orders, _run: str) -> None:
    with orders.site.runtime.database.write(orders.tenant_id) as session:
        session.exec(delete(MemberRow).where(col(MemberRow.subject) == "user-1"))


def _change(rule: str) -> Callable[[Orders, str], None]:
    def change(orders: Orders, _run: str) -> None:
        orders.activate(connectors=f'commands:\n  "orders.*": {{approver: reviewer, {rule}}}\n')

    return change


_BY_POLICY = "longest_expiry_hours: 4, connector: orders"


@pytest.mark.parametrize(
    ("happens", "failure"),
    [
        (_cancel, "execution_ended"),
        (_expire, "execution_ended"),
        (_revoke, "authority_gone"),
        (_remove_member, "authority_gone"),
        (_change(f"capability: launching, approval: not_needed, {_BY_POLICY}"), "capability_missing"),
        (_change(f"capability: effects, approval: needed, {_BY_POLICY}"), "approval_needed"),
        (
            _change("capability: effects, approval: not_needed, longest_expiry_hours: 4"),
            "connector_changed",
        ),
        (
            _change(f"capability: effects, approval: not_needed, {_BY_POLICY.replace('orders', 'other')}"),
            "connector_changed",
        ),
    ],
    ids=[
        *("cancelled", "expired", "key_revoked", "member_removed"),
        *("capability_moved", "approval_asked_for", "connector_taken_away", "another_connector"),
    ],
)
def test_what_is_no_longer_allowed_at_dispatch_is_never_sent(
    orders: Orders, happens: Callable[[Orders, str], None], failure: str
) -> None:
    deadline = orders.clock.now.replace(month=12, day=1).isoformat()
    run = orders.open(deadline=deadline)
    orders.intend(run)
    happens(orders, run)

    orders.deliver(after_seconds=60)
    orders.deliver(after_seconds=3_600)

    effect = orders.effect(run)
    assert (effect.status, effect.failure, effect.attempts) == ("failed", failure, 0)
    assert orders.downstream.received == []
    assert orders.trail("effect.settled")[-1]["failure"] == failure
    assert orders.orders_waiting() == []


def test_an_approval_is_compared_again_before_the_command_leaves(orders: Orders) -> None:
    run = orders.open()
    command = {"kind": "transfers.create", "amount": 3}
    asked = orders.made(f"/executions/{run}/approvals", {"command": command}, orders.agent)
    verdict = {"decision": "approve", "reason": "fine"}
    orders.made(f"/approvals/{asked['id']}/decision", verdict, orders.reviewer, status=200)
    redeeming = {"command": command, "operation_id": OPERATION}
    orders.made(f"/approvals/{asked['id']}/redeem", redeeming, orders.agent, status=200)
    orders.activate(unrelated="purposes:\n  other:\n    description: Another purpose.\n")

    orders.deliver()

    assert (orders.effect(run).status, orders.effect(run).failure) == ("failed", "approval_stale")
    assert orders.downstream.received == []
    assert orders.get(f"/approvals/{asked['id']}", orders.agent).json()["status"] == "stale"


def test_an_approved_command_is_delivered_with_its_redemption(orders: Orders) -> None:
    run = orders.open()
    command = {"kind": "transfers.create", "amount": 3}
    asked = orders.made(f"/executions/{run}/approvals", {"command": command}, orders.agent)
    verdict = {"decision": "approve", "reason": "fine"}
    orders.made(f"/approvals/{asked['id']}/decision", verdict, orders.reviewer, status=200)
    redeeming = {"command": command, "operation_id": OPERATION}
    for _ in range(2):
        orders.made(f"/approvals/{asked['id']}/redeem", redeeming, orders.agent, status=200)

    orders.deliver()

    assert orders.effect(run).status == "committed"
    assert [sent.body["request"] for sent in orders.downstream.dispatches] == [{"amount": 3}]


@pytest.mark.parametrize("kind", ["strange.create", "foreign.create"])
def test_a_connector_that_is_not_the_tenants_takes_no_intent(orders: Orders, kind: str) -> None:
    run = orders.open()

    refused = orders.try_intend(run, kind=kind)

    assert (refused.status_code, refused.json()["code"]) == (409, "connector_unknown")
    assert orders.site.count(EffectRow) == 0
    assert orders.orders_waiting() == []


def test_what_a_connector_delivers_nobody_else_reports_about(orders: Orders) -> None:
    run = orders.open()
    orders.intend(run)
    path = f"/v1/executions/{run}/effects/{OPERATION}"

    for status in ("dispatched", "committed", "failed", "unknown"):
        refused = orders.site.client.patch(path, headers=orders.agent, json={"status": status})
        assert (refused.status_code, refused.json()["code"]) == (409, "connector_delivers")
    assert orders.effect(run).status == "intended"


def test_an_intent_from_before_the_connector_is_not_done_beside_it(orders: Orders) -> None:
    run = orders.open()
    orders.intend(run, kind="parcels.send")
    rule = "capability: effects, approval: not_needed, approver: reviewer, longest_expiry_hours: 4"
    orders.activate(parcels=f'commands:\n  "parcels.*": {{{rule}, connector: orders}}\n')
    path = f"/v1/executions/{run}/effects/{OPERATION}"

    refused = orders.site.client.patch(path, headers=orders.agent, json={"status": "dispatched"})
    given_up = orders.site.client.patch(path, headers=orders.agent, json={"status": "failed"})

    assert (refused.json()["code"], given_up.json()["status"]) == ("connector_delivers", "failed")


def test_an_erased_request_is_not_sent_as_an_empty_one(orders: Orders) -> None:
    run = orders.open()
    orders.intend(run, sku="A1")
    with orders.site.runtime.database.write(orders.tenant_id) as session:
        session.exec(update(EffectRow).values(request=None))

    orders.deliver()

    assert (orders.effect(run).status, orders.effect(run).failure) == ("failed", "text_erased")
    assert orders.downstream.received == []


def test_no_secret_and_no_command_is_ever_told(orders: Orders, capfd: pytest.CaptureFixture[str]) -> None:
    run = orders.open()
    orders.downstream.faults += [Fault.FAIL, Fault.REFUSE]
    orders.downstream.look_up_faults.append(Fault.FAIL)
    orders.intend(run, sku="VERY-PRIVATE")
    for _ in range(3):
        orders.deliver(after_seconds=5)

    said = "".join(capfd.readouterr())
    answers = [
        orders.get(f"/executions/{run}", orders.agent).text,
        orders.get(f"/executions/{run}/handoff", orders.agent).text,
        orders.get(f"/executions/{run}/timeline", orders.operator).text,
        str(orders.trail("effect.intended", "effect.settled")),
    ]
    told = said + "".join(answers)
    assert "downstream_answered" in said
    for word in (SECRET, "hunter2", "VERY-PRIVATE", orders.downstream.address):
        assert word not in told
