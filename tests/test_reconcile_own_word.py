"""What the run's own worker handed in is its own word, unless the policy trusts it with that source."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import FixedClock
from connectors_world import OPERATION, Orders, open_orders
from test_reconcile import _code, _report, _say, _show

from service.core.database import Database

SHOP = """
  shop:
    uri_prefix: "tool://shop/"
    trust: internal_tool
    ceiling: tool_result
    settles_own: true
"""


@pytest.fixture
def orders(database: Database, tmp_path: Path, clock: FixedClock) -> Iterator[Orders]:
    with open_orders(database, tmp_path / "data", clock) as orders:
        shipped = orders.files["sources.yaml"]
        assert shipped.count("settles_own: true") == 1
        orders.activate(sources=shipped.replace("    settles_own: true\n", "") + SHOP)
        yield orders


@pytest.fixture
def run(orders: Orders) -> str:
    """Open a run with an effect of the agent's own that is dispatched."""
    opened = orders.open()
    orders.intend(opened, kind="parcels.send")
    _report(orders, opened, "dispatched")
    return opened


@pytest.mark.parametrize("outcome", ["committed", "absent", "undetermined"])
def test_what_the_agent_or_its_user_handed_in_settles_nothing(orders: Orders, run: str, outcome: str) -> None:
    by_agent = _show(orders)
    by_user = _show(orders, "tool://parcels/9", who=orders.site.headers("user", subject="user-1"))
    large = {"content": "The parcel went out. " * 4_000, "source": {"uri": "tool://parcels", "kind": "tool"}}
    large["source"]["observed_at"] = orders.clock().isoformat()
    observed = orders.made(f"/executions/{run}/observations", large, orders.agent)["evidence_id"]

    for shown in (by_agent, by_user, observed):
        refused = _say(orders, run, orders.agent, outcome, evidence_id=shown)
        assert _code(refused) == (403, "reconciliation_needs_proof")
    assert orders.effect(run).status == "dispatched"


def test_what_another_credential_handed_in_settles_it(orders: Orders, run: str) -> None:
    gateway = orders.site.headers("agent", subject="gateway-1")
    shown = _show(orders, who=gateway)

    assert _say(orders, run, orders.agent, "committed", evidence_id=shown).json()["status"] == "committed"


@pytest.mark.parametrize(("source", "uri"), [("tool", "tool://parcels/8"), ("register", "register://8")])
def test_a_key_that_is_granted_the_source_may_speak_for_it(
    orders: Orders, run: str, source: str, uri: str
) -> None:
    granted = orders.site.headers("agent", subject="agent-1", on_behalf_of="user-1", sources=[source])
    shown = _show(orders, uri, who=granted)

    assert _say(orders, run, granted, "committed", evidence_id=shown).json()["status"] == "committed"


def test_a_grant_for_another_source_says_nothing(orders: Orders, run: str) -> None:
    granted = orders.site.headers("agent", subject="agent-1", on_behalf_of="user-1", sources=["register"])
    shown = _show(orders, who=granted)

    assert _code(_say(orders, run, granted, "committed", evidence_id=shown))[0] == 403


def test_a_source_of_which_the_bundle_says_so_needs_no_grant(orders: Orders, run: str) -> None:
    shown = _show(orders, f"tool://shop/orders/{OPERATION}")

    assert _say(orders, run, orders.agent, "absent", evidence_id=shown).json()["status"] == "absent"


def test_an_operator_may_show_whatever_there_is_and_silence_is_written_down(orders: Orders, run: str) -> None:
    other = orders.open()
    orders.intend(other, kind="parcels.send")
    _report(orders, other, "dispatched")
    shown = _show(orders)

    _say(orders, run, orders.operator, "committed", evidence_id=shown).raise_for_status()
    _say(orders, other, orders.operator, "committed").raise_for_status()

    assert [event["code"] for event in orders.trail("effect.reconciled")] == [None, "no_reason_given"]
