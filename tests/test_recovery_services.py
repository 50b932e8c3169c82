"""Two services on one PostgreSQL: one dies and the other goes on; both deliver, and nothing is done twice."""

import shutil
import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import Final

import pytest
from recovery_case import Case, await_kill, opened
from recovery_line import Line
from recovery_report import Note, note_case
from recovery_site import Place
from recovery_verdict import judge, orders_of

from service.entry.demo.local_service import LocalService

pytestmark = [
    pytest.mark.torture,
    pytest.mark.timeout(600),
    pytest.mark.parametrize("place", ["postgresql"], indirect=True),
]

ORDERS: Final = 20


@dataclass
class Pair:
    """A case with two services; `start` opens each with its own folder and the common record and keys."""

    case: Case
    stack: ExitStack

    def start(self, name: str, **armed: str) -> LocalService:
        """Start a service under a name of its own."""
        place = self.case.place
        keys = place.data / "keystore"
        shared = {
            "MUNIMENT_KEYSTORE_URL": f"sqlite:///{keys / 'keys.db'}",
            "MUNIMENT_MASTER_KEY": (keys / "master.key").read_text().strip(),
        }
        folder = place.folder / name
        # The embedded index is each process's own.
        shutil.copytree(place.data / "index", folder / "data" / "index")
        own = replace(place, folder=folder)
        points = {point.replace("__", "."): action for point, action in armed.items()}
        return self.stack.enter_context(own.serving(armed=points, extra={**self.case.extra, **shared}))


@pytest.fixture
def pair(place: Place) -> Iterator[Pair]:
    with opened(place) as case, ExitStack() as stack:
        yield Pair(case, stack)


def test_a_fresh_session_goes_on_at_the_service_that_is_left(pair: Pair, record_property: Note) -> None:
    first = pair.start("first", http__patch_effect__after_commit="kill")
    second = pair.start("second")
    case = pair.case
    case.address = first.address
    with case.people() as people:
        await_kill(first.process, case)
        case.address = second.address
        people.move_to(second.address)
        case.go_on()

    verdict = judge(case)
    note_case(record_property, "one of two services", verdict.as_json(), verdict.faults)
    assert verdict.faults == []


def test_two_services_deliver_each_order_once(pair: Pair) -> None:
    services = [pair.start("first"), pair.start("second")]
    case = pair.case
    lines = [Line(one.address, case.tokens["agent"], "agent", case.told) for one in services]
    opening = {"project": "alpha", "external_ref": case.external_ref, "objective": "Order A1"}
    run = lines[0].ask("POST", "/executions", opening)["id"]
    operations = [f"order-{number:02}" for number in range(ORDERS)]
    for number, operation in enumerate(operations):
        intent = {"operation_id": operation, "kind": "orders.create", "request": {"sku": operation}}
        lines[number % 2].call("POST", f"/executions/{run}/effects", intent)

    deadline = time.monotonic() + 100
    while True:
        effects = lines[1].ask("GET", f"/executions/{run}/handoff")["effects"]
        if all(one["status"] == "committed" for one in effects):
            break
        assert time.monotonic() < deadline, effects
        time.sleep(0.2)

    assert sorted(orders_of(case, run)) == operations
