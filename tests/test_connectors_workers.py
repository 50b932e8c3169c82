"""Workers beside requests: nobody waits for a slow downstream, and two workers never send a command twice."""

import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from conftest import FixedClock
from connectors_world import OPERATION, Orders, open_orders
from downstream_server import Fault

from service.core.database import Database
from service.core.outbox import Message
from service.executions.delivery.model import DELIVER_TOPIC, Order
from service.jobs import deliver_effects
from service.jobs.deliver_effects import EffectDelivery
from service.jobs.system_unit import SystemUnits


@pytest.fixture
def open_one(database: Database, tmp_path: Path, clock: FixedClock) -> Iterator[Any]:
    opened = []

    def open_with(**choices: Any) -> Orders:
        context = open_orders(database, tmp_path / "data", clock, **choices)
        opened.append(context)
        return context.__enter__()

    yield open_with
    for context in opened:
        context.__exit__(None, None, None)


def _handler(orders: Orders, **choices: Any) -> EffectDelivery:
    runtime = orders.site.runtime
    units = SystemUnits(runtime.database, runtime.ciphers, runtime.tokens, runtime.clock, runtime.ids)
    return EffectDelivery(units, runtime.connectors, **choices)


def _message(run: str, number: int = 1) -> Message:
    return Message(f"message-{number}", DELIVER_TOPIC, Order(run, OPERATION).payload, 1)


def test_of_many_workers_with_the_same_message_one_sends(open_one: Any) -> None:
    orders: Orders = open_one()
    orders.downstream.honours_keys = False
    orders.downstream.slow_seconds = 0.3
    orders.downstream.faults += [Fault.SLOW] * 8
    run = orders.open()
    orders.intend(run)
    handle = _handler(orders)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda number: handle(orders.tenant_id, [_message(run, number)]), range(8)))

    assert len(orders.downstream.dispatches) == 1
    assert (orders.effect(run).status, orders.effect(run).attempts) == ("committed", 1)


def test_a_message_that_comes_again_does_nothing(open_one: Any) -> None:
    orders: Orders = open_one()
    run = orders.open()
    orders.intend(run)
    handle = _handler(orders)

    for number in range(3):
        handle(orders.tenant_id, [_message(run, number)])

    assert (len(orders.downstream.dispatches), len(orders.downstream.look_ups)) == (1, 0)


def test_nothing_found_while_a_request_may_still_arrive_is_not_nothing_there(open_one: Any) -> None:
    orders: Orders = open_one(absent_after_seconds=5)
    orders.downstream.honours_keys = False
    orders.downstream.faults.append(Fault.FAIL)
    run = orders.open()
    orders.intend(run)

    orders.deliver()
    assert orders.effect(run).status == "unknown"
    assert orders.deliver(after_seconds=4.5) == 0
    assert len(orders.downstream.dispatches) == 1
    orders.deliver(after_seconds=0.5)

    assert (orders.effect(run).status, orders.effect(run).attempts) == ("committed", 2)


def test_a_worker_that_died_is_given_all_of_its_time_before_another_sends(open_one: Any) -> None:
    orders: Orders = open_one(absent_after_seconds=5, timeout_seconds=2)
    run = orders.open()
    orders.intend(run)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(EffectDelivery, "_send", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            _handler(orders)(orders.tenant_id, [_message(run)])
    assert orders.effect(run).status == "dispatched"

    handle = _handler(orders)
    orders.clock.advance(seconds=8.5)
    handle(orders.tenant_id, [_message(run, 2)])
    assert orders.downstream.dispatches == []
    orders.deliver(after_seconds=0.5)

    assert (orders.effect(run).status, len(orders.downstream.orders)) == ("committed", 1)


def test_a_clear_yes_counts_even_when_people_were_asked_meanwhile(open_one: Any) -> None:
    orders: Orders = open_one()
    orders.downstream.slow_seconds = 1.0
    orders.downstream.faults.append(Fault.SLOW)
    run = orders.open()
    orders.intend(run)
    worker = threading.Thread(target=orders.deliver)
    worker.start()
    while not orders.downstream.dispatches:
        time.sleep(0.01)
    reconcile = f"/executions/{run}/effects/{OPERATION}/reconcile"
    orders.made(reconcile, {"outcome": "undetermined"}, orders.operator, status=200)
    assert orders.effect(run).status == "escalated"

    worker.join()

    assert (orders.effect(run).status, orders.effect(run).settled_basis) == ("committed", "connector")


def test_a_yes_that_comes_after_an_absence_and_the_runs_end_is_still_the_truth(open_one: Any) -> None:
    orders: Orders = open_one()
    orders.downstream.slow_seconds = 1.0
    orders.downstream.faults.append(Fault.SLOW)
    run = orders.open()
    orders.intend(run)
    worker = threading.Thread(target=orders.deliver)
    worker.start()
    while not orders.downstream.dispatches:
        time.sleep(0.01)
    orders.clock.advance(seconds=60)
    reconcile = f"/executions/{run}/effects/{OPERATION}/reconcile"
    orders.made(reconcile, {"outcome": "absent"}, orders.operator, status=200)
    headers = {**orders.operator, "If-Match": '"1"'}
    orders.made(f"/executions/{run}/cancel", {"reason": "not wanted"}, headers, status=200)

    worker.join()
    orders.deliver(after_seconds=600)

    assert (orders.effect(run).status, orders.status(run)) == ("committed", "cancelled")
    assert len(orders.downstream.dispatches) == 1


def test_neither_the_request_nor_another_writer_waits_for_a_slow_downstream(open_one: Any) -> None:
    orders: Orders = open_one(timeout_seconds=20)
    orders.downstream.slow_seconds = 3
    orders.downstream.faults.append(Fault.SLOW)
    run = orders.open()
    deliveries = orders.site.runtime.deliveries
    assert deliveries is not None
    deliveries.start()
    deliveries.start()

    begun = time.monotonic()
    orders.intend(run)
    answered = time.monotonic() - begun
    while not orders.downstream.dispatches:
        time.sleep(0.005)
    woken = time.monotonic() - begun
    orders.open()
    written = time.monotonic() - begun
    while orders.effect(run).status != "committed":
        time.sleep(0.01)
    done = time.monotonic() - begun
    deliveries.stop()
    deliveries.stop()

    assert max(answered, woken, written) < 2.5
    assert done >= 3
    assert not [one for one in threading.enumerate() if one.name.startswith("effect-delivery")]


def test_one_tenants_slow_downstream_does_not_hold_up_another(open_one: Any) -> None:
    orders: Orders = open_one(tenants=["acme", "umbrella"], timeout_seconds=20)
    orders.downstream.slow_seconds = 3
    other = Orders(orders.site, orders.clock, orders.downstream, tenant="umbrella")
    slow, quick = orders.open(), other.open()
    orders.downstream.faults.append(Fault.SLOW)
    for number in range(3):
        orders.intend(slow, f"slow-{number}")
    deliveries = orders.site.runtime.deliveries
    assert deliveries is not None

    deliveries.start()
    while not orders.downstream.dispatches:
        time.sleep(0.005)
    begun = time.monotonic()
    other.intend(quick)
    while other.effect(quick).status != "committed":
        time.sleep(0.01)
    took = time.monotonic() - begun
    deliveries.stop()

    assert took < 2.5


@pytest.mark.parametrize("set_back", [False, True], ids=["both clocks ran", "the clock was set back"])
def test_a_worker_that_wakes_after_another_took_over_sends_nothing(
    open_one: Any, monkeypatch: pytest.MonkeyPatch, set_back: bool
) -> None:
    orders: Orders = open_one(absent_after_seconds=5, timeout_seconds=2)
    orders.downstream.honours_keys = False
    run = orders.open()
    orders.intend(run)
    ran = [0.0]
    sleeper = _handler(orders, monotonic=lambda: ran[0])
    stopped = []

    def stop_once(name: str) -> None:
        if name != "deliver.before_send" or stopped:
            return
        stopped.append(name)
        before = orders.clock.now
        orders.deliver(after_seconds=60)
        orders.deliver(after_seconds=60)
        ran[0] += 120.0
        if set_back:
            orders.clock.now = before

    monkeypatch.setattr(deliver_effects, "hit", stop_once)
    sleeper(orders.tenant_id, [_message(run)])

    assert stopped
    assert (orders.effect(run).status, orders.effect(run).attempts) == ("committed", 2)
    assert len(orders.downstream.dispatches) == 1


@pytest.mark.parametrize("slept", ["machine", "worker"])
def test_what_was_not_sent_in_time_is_looked_up_and_sent_later(
    open_one: Any, monkeypatch: pytest.MonkeyPatch, slept: str
) -> None:
    orders: Orders = open_one(absent_after_seconds=5, timeout_seconds=2)
    run = orders.open()
    orders.intend(run)
    ran = [0.0]
    sleeper = _handler(orders, monotonic=lambda: ran[0])

    def stop(name: str) -> None:
        if name == "deliver.before_send" and slept == "machine":
            orders.clock.advance(seconds=2)
        elif name == "deliver.before_send":
            ran[0] += 2.0

    monkeypatch.setattr(deliver_effects, "hit", stop)
    sleeper(orders.tenant_id, [_message(run)])
    assert (orders.effect(run).status, orders.effect(run).failure) == ("unknown", "not_sent_in_time")
    assert orders.downstream.dispatches == []

    monkeypatch.undo()
    orders.deliver(after_seconds=10)

    assert (orders.effect(run).status, len(orders.downstream.dispatches)) == ("committed", 1)
