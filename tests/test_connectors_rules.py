"""What a downstream's answers make of an effect: pure, for every status that it can be met in."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import product
from typing import Final

import pytest

from service.executions.delivery.model import Order
from service.executions.delivery.rules import (
    TRIES_MAX,
    absence_counts_from,
    must_be_asked_about,
    retry_after,
    status_after_look_up,
    status_after_send,
)
from service.executions.ledger.model import Effect, EffectStatus, SettledBasis
from service.executions.ledger.rules import is_undelivered, is_unsettled
from service.executions.ports import Found, Sent

NOW: Final = datetime(2026, 11, 30, 10, 0, tzinfo=UTC)
EFFECT: Final = Effect(
    execution_id="01936d7e-0000-7000-8000-00000000e8ec",
    operation_id="seed-order-8",
    kind="orders.create",
    request={},
    request_hash="keyed",
    status=EffectStatus.DISPATCHED,
    downstream_ref=None,
    by="agent-1",
    created_at=NOW,
    updated_at=NOW,
    connector="orders",
    attempts=2,
    dispatched_at=NOW,
)
SETTLED: Final = {EffectStatus.COMMITTED, EffectStatus.FAILED}
UNDER_WAY: Final = {EffectStatus.DISPATCHED, EffectStatus.UNKNOWN}


def _in(status: EffectStatus) -> Effect:
    return replace(EFFECT, status=status)


@pytest.mark.parametrize("status", EffectStatus)
@pytest.mark.parametrize("attempt", [1, 2])
def test_a_clear_yes_settles_all_but_what_is_settled(status: EffectStatus, attempt: int) -> None:
    found = status_after_send(_in(status), Sent.COMMITTED, attempt=attempt)

    assert found == (None if status in SETTLED else EffectStatus.COMMITTED)


@pytest.mark.parametrize(("status", "outcome"), list(product(EffectStatus, [Sent.REFUSED, Sent.UNKNOWN])))
def test_any_other_answer_counts_only_for_its_own_dispatch(status: EffectStatus, outcome: Sent) -> None:
    assert status_after_send(_in(status), outcome, attempt=1) is None

    found = status_after_send(_in(status), outcome, attempt=2)
    if status not in UNDER_WAY:
        assert found is None
    elif outcome is Sent.REFUSED:
        assert found is EffectStatus.FAILED
    else:
        assert found == (EffectStatus.UNKNOWN if status is EffectStatus.DISPATCHED else None)


@pytest.mark.parametrize(("status", "attempt", "counts"), list(product(EffectStatus, [1, 2], [True, False])))
def test_nothing_found_is_absent_only_when_nothing_can_arrive_any_more(
    status: EffectStatus, attempt: int, counts: bool
) -> None:
    found = status_after_look_up(_in(status), Found.ABSENT, attempt=attempt, absence_counts=counts)

    is_clear = status in UNDER_WAY | {EffectStatus.ABSENT} and attempt == 2 and counts
    assert found == (EffectStatus.ABSENT if is_clear else None)


def test_what_people_say_is_absent_is_asked_about_and_what_the_downstream_says_is_sent() -> None:
    absent = _in(EffectStatus.ABSENT)

    asked = {
        basis: must_be_asked_about(replace(absent, settled_basis=basis)) for basis in (*SettledBasis, None)
    }

    assert [basis for basis, is_asked in asked.items() if not is_asked] == [SettledBasis.CONNECTOR]
    assert {status for status in EffectStatus if must_be_asked_about(_in(status))} == {
        *UNDER_WAY,
        EffectStatus.ABSENT,
    }


@pytest.mark.parametrize("status", EffectStatus)
def test_a_look_up_that_says_nothing_changes_nothing_and_one_that_finds_it_settles(
    status: EffectStatus,
) -> None:
    known = SETTLED | {EffectStatus.INTENDED}

    said = [
        status_after_look_up(_in(status), found, attempt=2, absence_counts=True)
        for found in (Found.UNKNOWN, Found.COMMITTED)
    ]

    assert said == [None, None if status in known else EffectStatus.COMMITTED]


def test_absence_counts_once_our_side_has_stopped_and_the_network_has_settled() -> None:
    times = {"timeout": timedelta(seconds=10), "absent_after": timedelta(seconds=5)}
    later = replace(_in(EffectStatus.UNKNOWN), updated_at=NOW + timedelta(seconds=3))

    assert absence_counts_from(EFFECT, **times) == NOW + timedelta(seconds=17)
    assert absence_counts_from(later, **times) == NOW + timedelta(seconds=8)


def test_waits_grow_and_have_an_end() -> None:
    waits = [retry_after(tries).total_seconds() for tries in range(1, TRIES_MAX + 100)]

    assert waits[:9] == [2, 4, 8, 16, 32, 64, 128, 256, 300]
    assert max(waits) == 300


def test_an_effect_is_in_the_hands_of_the_service_until_it_is_settled() -> None:
    assert {status for status in EffectStatus if is_undelivered(_in(status))} == {
        EffectStatus.INTENDED,
        EffectStatus.ABSENT,
    }
    assert not any(is_undelivered(replace(_in(status), connector=None)) for status in EffectStatus)
    assert {status for status in EffectStatus if is_unsettled(_in(status))} == {
        *UNDER_WAY,
        EffectStatus.ESCALATED,
    }


def test_an_order_is_what_its_message_says() -> None:
    order = Order("run", "operation", 3)

    assert Order.of(order.payload) == order
    assert Order.of({"execution_id": "run", "operation_id": "operation"}) == Order("run", "operation", 0)
