"""The relay: every message is delivered, whatever fails, and a caller reads its own writes."""

import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import pytest
from conftest import FixedClock

from service.core import failpoints
from service.core.database import Database
from service.core.errors import Unavailable
from service.core.failpoints import Action
from service.core.ids import new_id
from service.core.outbox import ATTEMPTS_MAX, CLAIM_SECONDS, Message, Outbox
from service.jobs.relay import Relay


@dataclass
class Ledger:
    """A handler that writes down what it was handed, and fails when told to."""

    runs: list[list[str]] = field(default_factory=list)
    failing: dict[str, BaseException] = field(default_factory=dict)
    before: Callable[[], None] = lambda: None

    def __call__(self, tenant_id: str, messages: Sequence[Message]) -> None:
        self.before()
        names = [f"{tenant_id}/{message.payload['item_id']}" for message in messages]
        for name in names:
            if name in self.failing:
                raise self.failing[name]
        self.runs.append(names)

    @property
    def delivered(self) -> list[str]:
        return [name for run in self.runs for name in run]


@pytest.fixture
def ledger() -> Ledger:
    return Ledger()


@pytest.fixture
def relay(database: Database, clock: FixedClock, ledger: Ledger) -> Iterator[Relay]:
    handlers = {"evidence.changed": ledger, "evidence.deleted": ledger}
    relay = Relay(database, handlers, clock, tenant_ids=lambda: ["acme", "umbrella"])
    yield relay
    relay.stop()
    failpoints.arm({})


def stage(
    database: Database,
    clock: FixedClock,
    *items: str,
    tenant: str = "acme",
    topic: str = "evidence.changed",
) -> None:
    with database.write(tenant) as session:
        for item in items:
            Outbox(session, tenant).stage(topic, {"item_id": item}, ids=new_id, now=clock())


def waiting(database: Database, tenant: str = "acme") -> int:
    with database.read(tenant) as session:
        return Outbox(session, tenant).waiting()


def test_a_drain_hands_over_all_in_order_and_in_runs_of_one_topic(
    database: Database, clock: FixedClock, relay: Relay, ledger: Ledger
) -> None:
    stage(database, clock, "1", "2")
    stage(database, clock, "3", topic="evidence.deleted")
    stage(database, clock, "4")
    stage(database, clock, "9", tenant="umbrella")

    assert relay.drain("acme") == 4
    assert ledger.runs == [["acme/1", "acme/2"], ["acme/3"], ["acme/4"]]
    assert (waiting(database), waiting(database, "umbrella")) == (0, 1)
    assert relay.drain("acme") == 0


def test_hundreds_of_messages_come_in_few_runs(
    database: Database, clock: FixedClock, relay: Relay, ledger: Ledger
) -> None:
    stage(database, clock, *(str(number) for number in range(600)))

    assert relay.drain("acme") == 600
    assert [len(run) for run in ledger.runs] == [256, 256, 88]


def test_one_that_fails_neither_raises_nor_holds_up_the_others(
    database: Database, clock: FixedClock, relay: Relay, ledger: Ledger
) -> None:
    stage(database, clock, "1", "2", "3")
    ledger.failing["acme/2"] = ValueError("a text that must not be logged")

    assert relay.drain("acme") == 2
    assert ledger.delivered == ["acme/1", "acme/3"]
    ledger.failing.clear()
    assert relay.drain("acme") == 0
    clock.advance(seconds=4)
    assert relay.drain("acme") == 1
    assert ledger.delivered[-1] == "acme/2"


def test_one_that_always_fails_ends_as_a_dead_letter(
    database: Database, clock: FixedClock, relay: Relay, ledger: Ledger
) -> None:
    stage(database, clock, "1")
    ledger.failing["acme/1"] = ValueError()

    for _ in range(ATTEMPTS_MAX + 3):
        relay.drain("acme")
        clock.advance(seconds=300)

    assert waiting(database) == 0
    with database.read("acme") as session:
        assert Outbox(session, "acme").dead(now=clock()) == 1


def test_a_panic_of_a_native_library_is_a_failure_like_any_other(
    database: Database, clock: FixedClock, relay: Relay, ledger: Ledger
) -> None:
    class Panic(BaseException):
        """As a Rust binding raises it: no `Exception`."""

    stage(database, clock, "1", "2")
    ledger.failing["acme/1"] = Panic()

    assert relay.drain("acme") == 1
    assert waiting(database) == 1


def test_an_outage_postpones_all_and_is_not_asked_again_at_once(
    database: Database, clock: FixedClock, relay: Relay, ledger: Ledger
) -> None:
    calls = []
    ledger.before = lambda: calls.append(1)
    stage(database, clock, "1", "2", "3")
    ledger.failing["acme/1"] = Unavailable(retry_after_seconds=5)
    assert relay.drain("acme") == 0
    stage(database, clock, "4")
    stage(database, clock, "5", tenant="umbrella")

    assert relay.drain("acme") == relay.drain("umbrella") == 0
    assert len(calls) == 1
    ledger.failing.clear()
    clock.advance(seconds=5)
    assert relay.sweep() == 5
    assert sorted(ledger.delivered) == ["acme/1", "acme/2", "acme/3", "acme/4", "umbrella/5"]


def test_no_outage_makes_dead_letters(
    database: Database, clock: FixedClock, relay: Relay, ledger: Ledger
) -> None:
    stage(database, clock, "1")
    ledger.failing["acme/1"] = Unavailable()
    for _ in range(ATTEMPTS_MAX * 3):
        relay.drain("acme")
        clock.advance(minutes=10)

    ledger.failing.clear()

    assert relay.drain("acme") == 1


def test_a_crash_around_a_delivery_delivers_again(
    database: Database, clock: FixedClock, relay: Relay, ledger: Ledger
) -> None:
    stage(database, clock, "1")

    for point, runs in (("outbox.before_delivery", 0), ("outbox.after_delivery", 1)):
        failpoints.arm({point: Action.RAISE})
        assert relay.drain("acme") == 0
        assert len(ledger.runs) == runs
        clock.advance(seconds=10)

    failpoints.arm({})
    assert relay.drain("acme") == 1
    assert ledger.delivered == ["acme/1", "acme/1"]
    assert waiting(database) == 0


def test_two_drains_of_a_tenant_never_overlap_and_the_second_waits(
    database: Database, clock: FixedClock, relay: Relay, ledger: Ledger
) -> None:
    inside, together = threading.Semaphore(0), []
    entered = threading.Event()
    going_on = threading.Event()

    def block() -> None:
        together.append(1)
        entered.set()
        going_on.wait(10)
        inside.release()

    ledger.before = block
    stage(database, clock, "1")
    first = threading.Thread(target=relay.drain, args=["acme"])
    first.start()
    entered.wait(10)
    second = threading.Thread(target=relay.drain, args=["acme"])
    second.start()

    second.join(0.2)
    assert second.is_alive()
    going_on.set()
    first.join(10)
    second.join(10)
    assert (len(together), ledger.delivered) == (1, ["acme/1"])


def test_a_drain_waits_for_what_another_process_holds_but_not_for_long(
    database: Database, clock: FixedClock, relay: Relay, ledger: Ledger
) -> None:
    stage(database, clock, "1")
    with database.write("acme") as session:
        (held,) = Outbox(session, "acme").claim(now=clock(), limit=1)
    finished = threading.Timer(0.1, _finish, [database, held])
    finished.start()

    assert relay.drain("acme") == 0
    if not database.is_sqlite:
        assert waiting(database) == 0
    finished.join()
    assert ledger.runs == []


def _finish(database: Database, message: Message) -> None:
    with database.write("acme") as session:
        Outbox(session, "acme").done([message.id])


def test_the_sweep_takes_over_from_a_dead_worker(database: Database, clock: FixedClock, relay: Relay) -> None:
    stage(database, clock, "1", tenant="umbrella")
    with database.write("umbrella") as session:
        Outbox(session, "umbrella").claim(now=clock(), limit=1)
    assert relay.sweep() == 0

    clock.advance(seconds=CLAIM_SECONDS)

    assert relay.sweep() == 1


def test_the_thread_delivers_what_no_request_did_and_ends_when_told(
    database: Database, clock: FixedClock, relay: Relay, ledger: Ledger
) -> None:
    done = threading.Event()
    ledger.before = done.set
    stage(database, clock, "1")

    relay.start()
    relay.start()

    assert done.wait(10)
    relay.stop()
    relay.stop()
    assert ledger.delivered == ["acme/1"]
    assert not [thread for thread in threading.enumerate() if thread.name == "outbox-relay"]


def test_the_sweep_survives_a_list_of_tenants_that_fails(
    database: Database, clock: FixedClock, ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("service.jobs.relay.SWEEP_SECONDS", 0.01)
    asked = threading.Event()
    answers: list[BaseException | list[str]] = [OSError(), ["acme"]]
    done = threading.Event()
    ledger.before = done.set
    stage(database, clock, "1")

    def tenant_ids() -> Sequence[str]:
        answer = answers.pop(0) if len(answers) > 1 else answers[0]
        asked.set()
        if isinstance(answer, BaseException):
            raise answer
        return answer

    relay = Relay(database, {"evidence.changed": ledger}, clock, tenant_ids=tenant_ids)
    relay.start()

    assert done.wait(10)
    relay.stop()
