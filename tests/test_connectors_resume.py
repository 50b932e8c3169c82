"""A resume asks what downstreams and sources know now, and only then decides."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import FixedClock
from connectors_world import OPERATION, Orders, open_orders
from downstream_server import Fault

from service.core import failpoints
from service.core.database import Database
from service.core.hashing import hash_text
from service.evidence.tables import EvidenceVersionRow


@pytest.fixture
def orders(database: Database, tmp_path: Path, clock: FixedClock) -> Iterator[Orders]:
    with open_orders(database, tmp_path / "data", clock) as orders:
        yield orders
        failpoints.arm({})


def _resume(orders: Orders, run: str, *, status: int = 200, **found: Any) -> dict[str, Any]:
    """Resume, answer what was decided, and hold the run no longer."""
    contract = orders.get(f"/executions/{run}", orders.agent).json()["contract_hash"]
    body = {"contract_hash": contract, **found}
    answer = orders.made(f"/executions/{run}/resume", body, orders.agent, status=status)
    lease = answer.get("lease")
    if lease is not None:
        headers = {**orders.agent, "Fencing-Token": str(lease["fencing_token"])}
        orders.site.client.delete(f"/v1/executions/{run}/lease", headers=headers).raise_for_status()
    return answer


def _crash(orders: Orders, point: str) -> None:
    failpoints.arm({point: "raise"})
    orders.deliver()
    failpoints.arm({})


def test_a_crash_after_the_act_is_settled_by_the_resume_itself(orders: Orders) -> None:
    run = orders.open()
    orders.intend(run)
    _crash(orders, "deliver.after_send")
    assert orders.effect(run).status == "dispatched"

    decided = _resume(orders, run)

    assert decided["decision"] == "verify:orders"
    assert (orders.effect(run).status, orders.effect(run).downstream_ref) == ("committed", "order:1")
    orders.deliver(after_seconds=600)
    assert len(orders.downstream.dispatches) == 1


def test_a_crash_before_the_act_is_dispatched_again_after_the_resume(orders: Orders) -> None:
    run = orders.open()
    orders.intend(run)
    _crash(orders, "deliver.before_send")

    assert _resume(orders, run)["decision"] == f"reconcile:{OPERATION}"
    orders.clock.advance(seconds=4)
    _resume(orders, run)
    assert orders.effect(run).status == "absent"
    orders.deliver()

    assert (orders.effect(run).status, orders.effect(run).attempts) == ("committed", 2)
    assert len(orders.downstream.orders) == 1


def test_a_downstream_that_does_not_answer_leaves_the_effect_open_and_the_resume_decided(
    orders: Orders,
) -> None:
    run = orders.open()
    orders.intend(run)
    orders.downstream.faults.append(Fault.LOSE_ANSWER)
    orders.downstream.look_up_faults += [Fault.FAIL] * 3
    orders.deliver()

    decided = _resume(orders, run)

    assert decided["decision"] == f"reconcile:{OPERATION}"
    assert orders.effect(run).status == "unknown"


def test_what_people_were_asked_about_is_settled_by_a_yes_and_sent_again_by_nobody(orders: Orders) -> None:
    done, missing = orders.open(), orders.open()
    for run, fault in ((done, Fault.LOSE_ANSWER), (missing, Fault.FAIL)):
        orders.downstream.faults.append(fault)
        orders.downstream.look_up_faults.append(Fault.FAIL)
        orders.intend(run, f"order-of-{run}")
        orders.deliver()
        path = f"/executions/{run}/effects/order-of-{run}/reconcile"
        orders.made(path, {"outcome": "undetermined"}, orders.operator, status=200)

    decided = [_resume(orders, run)["decision"] for run in (done, missing)]
    orders.deliver(after_seconds=600)

    assert decided == ["verify:orders", f"escalated:order-of-{missing}"]
    assert orders.effect(missing, f"order-of-{missing}").status == "escalated"
    assert len(orders.downstream.dispatches) == 2


def test_a_run_is_not_completed_before_its_commands_are_delivered(orders: Orders) -> None:
    run = orders.open()
    orders.intend(run)
    artifact = hash_text("build 17")
    orders.made(f"/executions/{run}/candidates", {"artifact_hash": artifact}, orders.agent)
    check = {
        "requirement": "orders",
        "passed": True,
        "artifact_hash": artifact,
        "contract_hash": orders.get(f"/executions/{run}", orders.agent).json()["contract_hash"],
        "grader": {"id": "browser", "version": "3"},
    }
    orders.made(f"/executions/{run}/checks", check, orders.grader)
    waiting = _resume(orders, run, artifact_hash=artifact)
    assert (waiting["decision"], orders.status(run)) == (f"reconcile:{OPERATION}", "open")
    assert [reason["code"] for reason in waiting["reasons"]] == ["effect_undelivered"]

    orders.deliver()

    assert orders.status(run) == "completed"
    assert [one["status"] for one in orders.trail("effect.settled")] == ["dispatched", "committed"]


def test_an_operators_word_completes_a_run_as_well(orders: Orders) -> None:
    run = orders.open()
    orders.intend(run, kind="parcels.send")
    path = f"/v1/executions/{run}/effects/{OPERATION}"
    orders.site.client.patch(path, headers=orders.agent, json={"status": "dispatched"}).raise_for_status()
    artifact = hash_text("build 17")
    orders.made(f"/executions/{run}/candidates", {"artifact_hash": artifact}, orders.agent)
    check = {
        "requirement": "orders",
        "passed": True,
        "artifact_hash": artifact,
        "contract_hash": orders.get(f"/executions/{run}", orders.agent).json()["contract_hash"],
        "grader": {"id": "browser", "version": "3"},
    }
    orders.made(f"/executions/{run}/checks", check, orders.grader)
    assert orders.status(run) == "open"

    said = {"outcome": "committed"}
    orders.made(f"/executions/{run}/effects/{OPERATION}/reconcile", said, orders.operator, status=200)

    assert orders.status(run) == "completed"


def test_what_an_operator_finds_absent_is_delivered_again(orders: Orders) -> None:
    run = orders.open()
    orders.downstream.faults.append(Fault.FAIL)
    orders.downstream.look_up_faults.append(Fault.FAIL)
    orders.intend(run)
    orders.deliver()

    path = f"/executions/{run}/effects/{OPERATION}/reconcile"
    orders.made(path, {"outcome": "absent"}, orders.operator, status=200)
    orders.deliver()
    orders.deliver(after_seconds=600)

    assert (orders.effect(run).status, orders.effect(run).attempts) == ("committed", 2)
    assert len(orders.downstream.dispatches) == 2


def test_what_an_operator_finds_absent_and_the_downstream_has_is_not_sent_again(orders: Orders) -> None:
    run = orders.open()
    orders.downstream.faults.append(Fault.LOSE_ANSWER)
    orders.downstream.look_up_faults.append(Fault.FAIL)
    orders.intend(run)
    orders.deliver()

    path = f"/executions/{run}/effects/{OPERATION}/reconcile"
    orders.made(path, {"outcome": "absent"}, orders.operator, status=200)
    orders.deliver()

    assert (orders.effect(run).status, orders.effect(run).settled_basis) == ("committed", "connector")
    assert len(orders.downstream.dispatches) == 1


def test_nobody_says_absent_while_the_service_may_be_sending(orders: Orders) -> None:
    run = orders.open()
    orders.intend(run)
    _crash(orders, "deliver.before_send")
    path = f"/executions/{run}/effects/{OPERATION}/reconcile"

    refused = orders.post(path, {"outcome": "absent"}, orders.operator)
    orders.clock.advance(seconds=4)
    said = orders.post(path, {"outcome": "absent"}, orders.operator)

    assert (refused.status_code, refused.json()["code"]) == (409, "delivery_under_way")
    assert said.status_code == 200


def test_calling_it_undetermined_first_is_no_way_around(orders: Orders) -> None:
    run = orders.open()
    orders.intend(run)
    _crash(orders, "deliver.before_send")
    path = f"/executions/{run}/effects/{OPERATION}/reconcile"
    orders.made(path, {"outcome": "undetermined"}, orders.operator, status=200)

    refused = orders.post(path, {"outcome": "absent"}, orders.operator)
    orders.clock.advance(seconds=4)
    said = orders.post(path, {"outcome": "absent"}, orders.operator)

    assert (refused.status_code, refused.json().get("code")) == (409, "delivery_under_way")
    assert said.status_code == 200


def test_a_source_that_changed_is_reloaded_and_what_rests_on_it_refreshed(orders: Orders) -> None:
    orders.downstream.records["plots/18"] = ("v7", "Plot 18: outline consent granted.")
    kept = _keep_register(orders, "Plot 18: outline consent granted.", "v7")
    run = _derive(orders, kept["id"])
    assert _resume(orders, run)["decision"] == "verify:orders"

    orders.downstream.records["plots/18"] = ("v8", "Plot 18: consent withdrawn.")
    decided = _resume(orders, run)

    assert decided["decision"] == f"refresh:{kept['id']}"
    assert decided["reasons"][0]["code"] == "source_changed"
    shown = orders.get(f"/evidence/{kept['id']}", orders.agent).json()
    assert (shown["version"], shown["source"]["source_version"]) == (2, "v8")
    text = orders.get(f"/evidence/{kept['id']}/text", orders.agent).json()["text"]
    assert text == "Plot 18: consent withdrawn."
    assert shown["trust"] == kept["trust"] == "first_party"
    again = _resume(orders, run)
    assert again["decision"] == f"refresh:{kept['id']}"
    assert orders.site.count(EvidenceVersionRow) == 2


def test_a_source_that_is_gone_or_silent_is_not_gone_on_with(orders: Orders) -> None:
    orders.downstream.records["plots/18"] = ("v7", "Plot 18: outline consent granted.")
    kept = _keep_register(orders, "Plot 18: outline consent granted.", "v7")
    run = _derive(orders, kept["id"])

    orders.downstream.look_up_faults.append(Fault.FAIL)
    silent = _resume(orders, run, status=503)
    orders.downstream.records.clear()
    gone = _resume(orders, run)

    assert silent["code"] == "source_unavailable"
    assert gone["decision"] == f"refresh:{kept['id']}"
    assert gone["reasons"][0]["code"] == "source_gone_at_source"


def _keep_register(orders: Orders, text: str, version: str) -> dict[str, Any]:
    source = {
        "uri": "register://plots/18",
        "kind": "record",
        "source_version": version,
        "observed_at": orders.clock().isoformat(),
    }
    return orders.made("/evidence", {"project": "alpha", "text": text, "source": source}, orders.agent)


def _derive(orders: Orders, evidence_id: str) -> str:
    run = orders.open()
    state = {"plan": ["read"], "derived_from": [f"evidence:{evidence_id}"]}
    headers = {**orders.agent, "If-Match": '"1"'}
    orders.made(f"/executions/{run}/checkpoints", {"transition": "start", "state": state}, headers)
    return run
