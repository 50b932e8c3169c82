"""The record: one tenant's transaction at a time, on both databases."""

from datetime import UTC, datetime

from service.core.database import Database
from service.core.ids import new_id
from service.core.outbox import Outbox

NOW = datetime(2026, 11, 30, 10, 0, tzinfo=UTC)


def test_a_staged_message_is_claimed_once_and_only_by_its_tenant(database: Database) -> None:
    with database.write("a") as session:
        Outbox(session, "a").stage("evidence.changed", {"item_id": "1"}, ids=new_id, now=NOW)

    with database.write("b") as session:
        assert Outbox(session, "b").claim(now=NOW, limit=10) == []
    with database.write("a") as session:
        first = Outbox(session, "a").claim(now=NOW, limit=10)
        second = Outbox(session, "a").claim(now=NOW, limit=10)

    assert [message.payload for message in first] == [{"item_id": "1"}]
    assert second == []
