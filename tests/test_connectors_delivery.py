"""The service delivers a command: once, whatever the downstream or the worker does meanwhile."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import FixedClock
from connectors_world import OPERATION, Orders, open_orders
from downstream_server import Fault

from service.core import failpoints
from service.core.database import Database
from service.executions.delivery.rules import TRIES_MAX


@pytest.fixture
def orders(database: Database, tmp_path: Path, clock: FixedClock) -> Iterator[Orders]:
    with open_orders(database, tmp_path / "data", clock) as orders:
        yield orders
        failpoints.arm({})


def test_a_command_is_delivered_after_its_intent_and_not_by_the_request(orders: Orders) -> None:
    run = orders.open()
    orders.intend(run, sku="A1")
    assert (orders.effect(run).status, orders.downstream.received) == ("intended", [])

    assert orders.deliver() == 1

    effect = orders.effect(run)
    [sent] = orders.downstream.dispatches
    assert (sent.body["request"], sent.headers["Idempotency-Key"]) == ({"sku": "A1"}, OPERATION)
    assert (effect.status, effect.downstream_ref, effect.attempts) == ("committed", "order:1", 1)
    assert (effect.settled_basis, effect.settled_by) == ("connector", "connector:orders")
    assert effect.dispatched_at is not None
    assert orders.orders_waiting() == []
    steps = orders.trail("effect.intended", "effect.settled")
    assert [(one.get("status"), one["principal"]) for one in steps] == [
        (None, "agent:agent-1:for:user-1"),
        ("dispatched", "system:muniment"),
        ("committed", "system:muniment"),
    ]


@pytest.mark.parametrize("fault", [Fault.LOSE_ANSWER, Fault.FAIL_AFTER_COMMIT])
def test_an_answer_that_is_lost_after_the_commit_is_found_by_looking(orders: Orders, fault: Fault) -> None:
    run = orders.open()
    orders.downstream.faults.append(fault)
    orders.intend(run)

    orders.deliver()

    assert (orders.effect(run).status, orders.effect(run).downstream_ref) == ("committed", "order:1")
    assert (len(orders.downstream.dispatches), len(orders.downstream.look_ups)) == (1, 1)


def test_a_command_that_the_downstream_never_got_is_sent_again_under_the_same_id(orders: Orders) -> None:
    run = orders.open()
    orders.downstream.faults.append(Fault.FAIL)
    orders.intend(run)

    orders.deliver()

    assert (orders.effect(run).status, orders.effect(run).attempts) == ("committed", 2)
    assert {sent.headers["Idempotency-Key"] for sent in orders.downstream.dispatches} == {OPERATION}
    assert len(orders.downstream.orders) == 1
    assert [one["status"] for one in orders.trail("effect.settled")] == [
        *("dispatched", "unknown", "absent", "dispatched", "committed"),
    ]


def test_a_refusal_is_final_and_is_never_sent_again(orders: Orders) -> None:
    run = orders.open()
    orders.downstream.faults.append(Fault.REFUSE)
    orders.intend(run)

    orders.deliver()
    orders.deliver(after_seconds=3_600)

    effect = orders.effect(run)
    assert (effect.status, effect.failure, effect.settled_basis) == ("failed", "answered_422", "connector")
    assert len(orders.downstream.received) == 1


def test_a_refusal_of_a_repeat_may_be_of_what_was_done_before(orders: Orders) -> None:
    run = orders.open()
    orders.downstream.faults += [Fault.LOSE_ANSWER, Fault.REFUSE]
    orders.downstream.look_up_faults.append(Fault.GONE)
    orders.intend(run)

    orders.deliver()

    assert (orders.effect(run).status, orders.effect(run).attempts) == ("committed", 2)


def test_a_network_that_delivers_twice_is_the_keys_business(orders: Orders) -> None:
    run = orders.open()
    orders.downstream.faults.append(Fault.REPEAT)
    orders.intend(run)

    orders.deliver()

    assert (orders.effect(run).status, len(orders.downstream.orders)) == ("committed", 1)


def test_silence_is_asked_about_less_and_less_often_and_then_by_people(orders: Orders) -> None:
    run = orders.open()
    orders.downstream.faults.append(Fault.LOSE_ANSWER)
    orders.downstream.look_up_faults += [Fault.FAIL] * (TRIES_MAX + 5)
    orders.intend(run)

    waits = []
    orders.deliver()
    for wait in (2, 4, 8, 16, 32, 64, 128, 256, 300, 300, 300):
        assert orders.deliver(after_seconds=wait - 0.5) == 0
        waits.append(orders.deliver(after_seconds=0.5))
    orders.deliver(after_seconds=3_600)

    assert waits == [1] * (TRIES_MAX - 1)
    assert (orders.effect(run).status, orders.effect(run).failure) == ("escalated", "gave_up")
    assert len(orders.downstream.look_ups) == TRIES_MAX
    assert len(orders.downstream.dispatches) == 1
    assert orders.trail("effect.settled")[-1]["status"] == "escalated"


def test_a_downstream_that_comes_back_settles_it(orders: Orders) -> None:
    run = orders.open()
    orders.downstream.faults.append(Fault.FAIL)
    orders.downstream.look_up_faults += [Fault.FAIL] * 3
    orders.intend(run)

    for wait in (0, 2, 4, 8):
        orders.deliver(after_seconds=wait)

    assert (orders.effect(run).status, orders.effect(run).attempts) == ("committed", 2)
    assert len(orders.downstream.orders) == 1


def test_commands_go_out_in_the_order_of_their_intents(orders: Orders) -> None:
    run = orders.open()
    names = [f"order-{number}" for number in range(5)]
    for name in names:
        orders.intend(run, name)

    assert orders.deliver() == 5

    assert [sent.body["operation_id"] for sent in orders.downstream.dispatches] == names


@pytest.mark.parametrize(
    ("point", "dispatches", "attempts"),
    [
        ("outbox.before_delivery", 1, 1),
        ("deliver.before_dispatch_commit", 1, 1),
        ("deliver.after_dispatch_commit", 1, 2),
        ("deliver.before_send", 1, 2),
        ("deliver.after_send", 1, 1),
        ("deliver.before_result_commit", 1, 1),
        ("deliver.after_result_commit", 1, 1),
        ("outbox.after_delivery", 1, 1),
    ],
)
def test_a_worker_that_fails_anywhere_leaves_one_order_behind(
    orders: Orders, point: str, dispatches: int, attempts: int
) -> None:
    run = orders.open()
    orders.intend(run)
    failpoints.arm({point: "raise"})
    orders.deliver()

    failpoints.arm({})
    for _ in range(3):
        orders.deliver(after_seconds=60)

    effect = orders.effect(run)
    assert (effect.status, effect.attempts, effect.downstream_ref) == ("committed", attempts, "order:1")
    assert len(orders.downstream.dispatches) == dispatches
    assert orders.orders_waiting() == []


def test_what_can_never_be_worked_off_is_left_to_people_and_not_lost(orders: Orders) -> None:
    run, other = orders.open(), orders.open()
    orders.intend(run)
    failpoints.arm({"deliver.before_result_commit": "raise"})
    for _ in range(TRIES_MAX):
        orders.deliver(after_seconds=600)
    failpoints.arm({"deliver.before_dispatch_commit": "raise"})
    orders.intend(other)
    for _ in range(TRIES_MAX):
        orders.deliver(after_seconds=600)
    failpoints.arm({})

    assert (orders.effect(run).status, orders.effect(run).failure) == ("escalated", "gave_up")
    assert (orders.effect(other).status, orders.effect(other).failure) == ("failed", "gave_up")
    assert len(orders.downstream.orders) == 1


def test_what_people_call_absent_is_theirs_again_when_it_can_never_be_sent(orders: Orders) -> None:
    run = orders.open()
    orders.intend(run)
    path = f"/executions/{run}/effects/{OPERATION}/reconcile"
    failpoints.arm({"deliver.before_result_commit": "raise"})
    orders.deliver()
    orders.clock.advance(seconds=600)
    orders.made(path, {"outcome": "absent"}, orders.operator, status=200)
    for _ in range(TRIES_MAX):
        orders.deliver(after_seconds=600)
    failpoints.arm({})

    assert (orders.effect(run).status, orders.orders_waiting()[1:]) == ("escalated", [])
    assert orders.made(path, {"outcome": "committed"}, orders.operator, status=200)["status"] == "committed"
