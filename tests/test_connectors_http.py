"""Connectors over real HTTP: what each answer means, and that nothing leads anywhere else."""

import time
from collections.abc import Iterator
from typing import Any

import pytest
from downstream_server import Downstream, Fault, open_downstream

from service.adapters.downstream_connectors import HttpConnector, HttpConnectors
from service.executions.ports import Delivery, Found, FoundAnswer, Sent, SentAnswer
from service.settings_outside import ConnectorSettings

RUN = "01936d7e-0000-7000-8000-00000000e8ec"
ORDER = Delivery(RUN, "seed-order-8", "orders.create", {"sku": "A1", "name": "Grüße"})


@pytest.fixture
def downstream() -> Iterator[Downstream]:
    with open_downstream() as downstream:
        yield downstream


def _connector(downstream: Downstream, **choices: Any) -> HttpConnector:
    return HttpConnector.of("orders", ConnectorSettings(**downstream.connector(**choices)))


def test_a_command_goes_out_whole_under_its_operation_id_with_the_secret_headers(
    downstream: Downstream, tmp_path: Any
) -> None:
    (tmp_path / "key").write_text("from-a-file\n")
    connector = _connector(
        downstream,
        headers={"Authorization": "Bearer hunter2"},
        header_files={"X-Key": str(tmp_path / "key")},
    )

    assert connector.dispatch(ORDER) == SentAnswer(Sent.COMMITTED, "order:1")
    assert connector.look_up(RUN, "seed-order-8") == FoundAnswer(Found.COMMITTED, "order:1")

    [sent] = downstream.dispatches
    assert sent.body == {
        "operation_id": "seed-order-8",
        "execution_id": RUN,
        "kind": "orders.create",
        "request": {"sku": "A1", "name": "Grüße"},
    }
    assert sent.headers["Idempotency-Key"] == "seed-order-8"
    for one in downstream.received:
        assert (one.headers["Authorization"], one.headers["X-Key"]) == ("Bearer hunter2", "from-a-file")
    assert "hunter2" not in repr(connector)


@pytest.mark.parametrize(
    ("fault", "answer", "orders"),
    [
        (Fault.LOSE_ANSWER, SentAnswer(Sent.UNKNOWN, failure="connection_lost"), 1),
        (Fault.FAIL_AFTER_COMMIT, SentAnswer(Sent.UNKNOWN, failure="answered_500"), 1),
        (Fault.REFUSE, SentAnswer(Sent.REFUSED, failure="answered_422"), 0),
        (Fault.FAIL, SentAnswer(Sent.UNKNOWN, failure="answered_503"), 0),
        (Fault.FLOOD, SentAnswer(Sent.COMMITTED), 1),
        (Fault.REPEAT, SentAnswer(Sent.COMMITTED, "order:1"), 1),
    ],
)
def test_each_answer_means_what_it_can_mean(
    downstream: Downstream, fault: Fault, answer: SentAnswer, orders: int
) -> None:
    downstream.faults.append(fault)

    assert _connector(downstream).dispatch(ORDER) == answer
    assert len(downstream.orders) == orders


def test_a_slow_downstream_is_waited_for_so_long_and_no_longer(downstream: Downstream) -> None:
    downstream.faults += [Fault.SLOW, Fault.DRIP]
    connector = _connector(downstream, timeout_seconds=0.3)

    for _ in range(2):
        begun = time.monotonic()
        assert connector.dispatch(ORDER) == SentAnswer(Sent.UNKNOWN, failure="timed_out")
        assert time.monotonic() - begun < 2


def test_nobody_there_is_unknown_for_dispatch_and_look_up() -> None:
    with open_downstream() as gone:
        connector = _connector(gone)

    assert connector.dispatch(ORDER) == SentAnswer(Sent.UNKNOWN, failure="not_reached")
    assert connector.look_up(RUN, "seed-order-8") == FoundAnswer(Found.UNKNOWN, failure="not_reached")


def test_only_a_clear_nothing_is_absent(downstream: Downstream) -> None:
    connector = _connector(downstream)

    assert connector.look_up(RUN, "seed-order-8") == FoundAnswer(Found.ABSENT)
    downstream.look_up_faults += [Fault.FAIL, Fault.REFUSE]
    assert connector.look_up(RUN, "seed-order-8") == FoundAnswer(Found.UNKNOWN, failure="answered_503")
    assert connector.look_up(RUN, "seed-order-8") == FoundAnswer(Found.UNKNOWN, failure="answered_422")


def test_redirects_are_never_followed(downstream: Downstream) -> None:
    with open_downstream() as elsewhere:
        downstream.redirect_to = f"{elsewhere.address}/orders"
        downstream.faults.append(Fault.REDIRECT)
        downstream.look_up_faults.append(Fault.REDIRECT)
        connector = _connector(downstream, headers={"Authorization": "Bearer hunter2"})

        assert connector.dispatch(ORDER).outcome is Sent.UNKNOWN
        assert connector.look_up(RUN, "seed-order-8").outcome is Found.UNKNOWN
        assert elsewhere.received == []


@pytest.mark.parametrize(
    "operation", ["../admin", "a/../../admin", "a%2f..%2fadmin", "a?x=1#y", "a@b", "a\\b", "a:80", "å"]
)
def test_no_operation_id_leaves_its_place_in_the_address(downstream: Downstream, operation: str) -> None:
    connector = _connector(downstream, lookup_url=f"{downstream.address}/v1/orders/{{operation_id}}/state")

    connector.look_up(RUN, operation)

    [asked] = downstream.look_ups
    before, _, rest = asked.path.partition("/v1/orders/")
    assert (before, rest.count("/"), rest.endswith("/state"), "?" in rest) == ("", 1, True, False)


@pytest.mark.parametrize("operation", ["", ".", ".."])
def test_an_operation_id_that_would_climb_is_not_asked_for(downstream: Downstream, operation: str) -> None:
    connector = _connector(downstream)

    assert connector.look_up(RUN, operation) == FoundAnswer(Found.UNKNOWN, failure="address_unsafe")
    assert downstream.received == []


@pytest.mark.parametrize("operation", ["a\r\nX-Admin: 1", "a\nb", "a b", "å", ""])
def test_no_operation_id_becomes_another_header(downstream: Downstream, operation: str) -> None:
    hostile = Delivery(RUN, operation, "orders.create", {})

    answer = _connector(downstream).dispatch(hostile)

    assert answer == SentAnswer(Sent.REFUSED, failure="address_unsafe")
    assert downstream.received == []


def test_a_key_may_name_the_run_too_and_the_reference_may_stand_deeper(downstream: Downstream) -> None:
    connector = _connector(
        downstream, idempotency_key="{execution_id}:{operation_id}", reference_pointer="/request/sku"
    )

    assert connector.dispatch(ORDER).downstream_ref == "A1"
    assert downstream.dispatches[0].headers["Idempotency-Key"] == f"{RUN}:seed-order-8"


def test_a_connector_is_found_by_the_tenants_that_it_names_and_no_other(downstream: Downstream) -> None:
    names = {"id-of-acme": "acme", "id-of-umbrella": "umbrella"}
    connectors = HttpConnectors(
        {"orders": ConnectorSettings(**downstream.connector())}, tenant_name=names.get
    )

    assert connectors.find("id-of-acme", "orders") is not None
    assert connectors.find("id-of-acme", "other") is None
    assert connectors.find("id-of-umbrella", "orders") is None
    assert connectors.find("id-of-nobody", "orders") is None
