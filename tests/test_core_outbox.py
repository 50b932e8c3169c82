"""The outbox: nothing lost, nothing handed to two workers, nothing kept alive by force."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

from conftest import FixedClock

from service.core.database import Database
from service.core.ids import new_id
from service.core.outbox import ATTEMPTS_MAX, CLAIM_SECONDS, Message, Outbox


def stage(database: Database, clock: FixedClock, *topics: str, tenant: str = "acme") -> list[str]:
    with database.write(tenant) as session:
        outbox = Outbox(session, tenant)
        return [outbox.stage(topic, {"item_id": topic}, ids=new_id, now=clock()) for topic in topics]


def claim(
    database: Database,
    clock: FixedClock,
    *,
    tenant: str = "acme",
    limit: int = 10,
    topics: Sequence[str] | None = None,
) -> Sequence[Message]:
    with database.write(tenant) as session:
        return Outbox(session, tenant).claim(now=clock(), limit=limit, topics=topics)


def test_messages_come_in_the_order_of_staging_and_only_once(database: Database, clock: FixedClock) -> None:
    stage(database, clock, "a", "b", "c")

    assert [message.topic for message in claim(database, clock, limit=2)] == ["a", "b"]
    assert [message.topic for message in claim(database, clock)] == ["c"]
    assert claim(database, clock) == []


def test_a_message_of_a_transaction_that_failed_was_never_staged(
    database: Database, clock: FixedClock
) -> None:
    try:
        with database.write("acme") as session:
            Outbox(session, "acme").stage("a", {}, ids=new_id, now=clock())
            raise KeyError  # noqa: TRY301 - what the transaction ends by
    except KeyError:
        pass

    assert claim(database, clock) == []


def test_tenants_do_not_see_each_others_messages(database: Database, clock: FixedClock) -> None:
    (staged,) = stage(database, clock, "a")

    assert claim(database, clock, tenant="umbrella") == []
    with database.write("umbrella") as session:
        outbox = Outbox(session, "umbrella")
        outbox.done([staged])
        assert not outbox.has_due(now=clock())
        assert (outbox.waiting(), outbox.dead(now=clock())) == (0, 0)
    assert [message.id for message in claim(database, clock)] == [staged]


def test_many_workers_at_once_get_different_messages(database: Database, clock: FixedClock) -> None:
    staged = stage(database, clock, *["a"] * 60)

    with ThreadPoolExecutor(6) as pool:
        claims = list(pool.map(lambda _: claim(database, clock, limit=7), range(12)))

    got = [message.id for messages in claims for message in messages]
    assert len(got) == len(set(got))
    assert set(got) | {message.id for message in claim(database, clock, limit=100)} == set(staged)


def test_a_claim_lapses_when_its_worker_dies(database: Database, clock: FixedClock) -> None:
    stage(database, clock, "a")
    (first,) = claim(database, clock)

    clock.advance(seconds=CLAIM_SECONDS - 1)
    assert claim(database, clock) == []
    clock.advance(seconds=1)
    (second,) = claim(database, clock)

    assert (first.id, first.attempts) == (second.id, 1)
    assert second.attempts == 2


def test_a_failed_message_waits_longer_each_time_and_then_is_dead(
    database: Database, clock: FixedClock
) -> None:
    stage(database, clock, "a")
    waits = []
    for _ in range(ATTEMPTS_MAX):
        (message,) = claim(database, clock)
        failed_at = clock()
        with database.write("acme") as session:
            Outbox(session, "acme").failed(message, failure="ValueError", now=failed_at)
            waiting = Outbox(session, "acme").waiting()
        while waiting and not _is_due(database, clock):
            clock.advance(seconds=1)
        waits.append(int((clock() - failed_at).total_seconds()))

    assert waits[:-1] == [2, 4, 8, 16, 32, 64, 128, 256, 300, 300, 300]
    clock.advance(days=30)
    assert claim(database, clock) == []
    with database.read("acme") as session:
        assert (Outbox(session, "acme").waiting(), Outbox(session, "acme").dead(now=clock())) == (0, 1)


def _is_due(database: Database, clock: FixedClock) -> bool:
    with database.read("acme") as session:
        return Outbox(session, "acme").has_due(now=clock())


def test_a_worker_that_dies_each_time_makes_a_dead_letter_too(database: Database, clock: FixedClock) -> None:
    stage(database, clock, "a")
    for _ in range(ATTEMPTS_MAX):
        assert len(claim(database, clock)) == 1
        clock.advance(seconds=CLAIM_SECONDS)

    assert claim(database, clock) == []
    with database.read("acme") as session:
        assert Outbox(session, "acme").dead(now=clock()) == 1


def test_what_does_not_answer_postpones_without_end(database: Database, clock: FixedClock) -> None:
    stage(database, clock, "a")

    for _ in range(3 * ATTEMPTS_MAX):
        (message,) = claim(database, clock)
        assert message.attempts == 1
        with database.write("acme") as session:
            Outbox(session, "acme").postponed(message, failure="Unavailable", now=clock(), seconds=5)
        assert claim(database, clock) == []
        clock.advance(seconds=5)

    assert len(claim(database, clock)) == 1


def test_a_late_worker_cannot_put_back_what_another_has_taken_over(
    database: Database, clock: FixedClock
) -> None:
    stage(database, clock, "a")
    (old,) = claim(database, clock)
    clock.advance(seconds=CLAIM_SECONDS)
    (current,) = claim(database, clock)

    with database.write("acme") as session:
        outbox = Outbox(session, "acme")
        outbox.failed(old, failure="TimeoutError", now=clock() - timedelta(hours=1))
        outbox.postponed(old, failure="Unavailable", now=clock() - timedelta(hours=1), seconds=0)
    assert claim(database, clock) == []
    with database.write("acme") as session:
        Outbox(session, "acme").done([current.id])
    clock.advance(hours=1)
    assert claim(database, clock) == []


def test_only_known_topics_and_what_was_due_then_are_claimed(database: Database, clock: FixedClock) -> None:
    stage(database, clock, "known", "from-a-newer-release")
    started = clock()
    clock.advance(seconds=1)
    stage(database, clock, "known")

    with database.write("acme") as session:
        outbox = Outbox(session, "acme")
        due = outbox.claim(now=clock(), limit=10, topics=["known"], due_at=started)
        assert len(due) == 1
        assert outbox.is_held(now=clock(), due_at=started)
        outbox.done([due[0].id])
        assert not outbox.is_held(now=clock(), due_at=started)
    assert len(claim(database, clock, topics=["known"])) == 1
    assert claim(database, clock, topics=[]) == []
    assert [message.topic for message in claim(database, clock)] == ["from-a-newer-release"]


def test_messages_staged_together_are_delivered_in_their_order(database: Database, clock: FixedClock) -> None:
    with database.write("acme") as session:
        outbox = Outbox(session, "acme")
        assert outbox.stage_all("none", [], ids=new_id, now=clock()) == []
        staged = outbox.stage_all("t", [{"item_id": name} for name in "cab"], ids=new_id, now=clock())

    messages = claim(database, clock)

    assert [message.id for message in messages] == list(staged)
    assert [message.payload["item_id"] for message in messages] == ["c", "a", "b"]
