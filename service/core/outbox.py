"""Messages staged in the transaction that causes them, and handed on after it.

A capability that may not import another stages a message here; `jobs` delivers it, at least once and, while
nothing fails, in the order of staging for each tenant. One that fails waits and does not hold up later ones:
so a handler never trusts a message's order, reads the record anew and brings its own side in line with that.
Payloads hold ids and versions, never text.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from sqlalchemy import (
    JSON,
    Column,
    ColumnElement,
    CursorResult,
    Executable,
    Index,
    and_,
    delete,
    func,
    insert,
    or_,
    select,
    update,
)
from sqlmodel import Field, Session, SQLModel, col

from service.core.database import UtcDateTime
from service.core.ids import IdSource

ATTEMPTS_MAX: Final = 12
"""After so many failures a message is a dead letter: kept, reported, not tried again by itself."""
CLAIM_SECONDS: Final = 60
"""How long one worker may hold a message before another may take it over."""
CLAIM_MESSAGES_MAX: Final = 1_000
"""Most messages of one claim."""
_BACKOFF_SECONDS_MAX: Final = 300


class OutboxRow(SQLModel, table=True):
    """One message that waits for its delivery. `claimed_until` is set while a worker holds it."""

    __tablename__ = "outbox"
    __table_args__ = (Index("ix_outbox_due", "tenant_id", "available_at"),)

    tenant_id: str = Field(primary_key=True, max_length=36)
    id: str = Field(primary_key=True, max_length=36)
    topic: str = Field(max_length=64)
    payload: dict[str, Any] = Field(sa_column=Column(JSON, nullable=False))
    created_at: datetime = Field(sa_type=UtcDateTime)
    available_at: datetime = Field(sa_type=UtcDateTime)
    claimed_until: datetime | None = Field(default=None, sa_type=UtcDateTime)
    attempts: int = 0
    failure: str | None = Field(default=None, max_length=200)


@dataclass(frozen=True, slots=True)
class Message:
    """What a handler gets. `attempts` counts this delivery too; it also tells one claim from the next."""

    id: str
    topic: str
    payload: dict[str, Any]
    attempts: int


class Outbox:
    """One tenant's messages, inside one transaction."""

    def __init__(self, session: Session, tenant_id: str) -> None:
        self._session = session
        self._tenant_id = tenant_id

    def stage(self, topic: str, payload: dict[str, Any], *, ids: IdSource, now: datetime) -> str:
        """Add a message that becomes visible with this transaction. Answers its id."""
        (staged,) = self.stage_all(topic, [payload], ids=ids, now=now)
        return staged

    def stage_all(
        self,
        topic: str,
        payloads: Sequence[dict[str, Any]],
        *,
        ids: IdSource,
        now: datetime,
        due_at: datetime | None = None,
    ) -> Sequence[str]:
        """Add a message for each payload, in order and in one go. Answers their ids.

        With `due_at`, nobody gets them before that time.
        """
        fresh = {"claimed_until": None, "attempts": 0, "failure": None}
        rows = [
            {
                "tenant_id": self._tenant_id,
                "id": ids(),
                "topic": topic,
                "payload": payload,
                "created_at": now,
                "available_at": max(now, due_at or now),
                **fresh,
            }
            for payload in payloads
        ]
        if rows:
            self._session.connection().execute(insert(OutboxRow), rows)
        staged = [str(row["id"]) for row in rows]
        self._session.info.setdefault("staged", []).extend(staged)
        self._session.info.setdefault("staged_topics", set()).add(topic)
        return staged

    def has_due(self, *, now: datetime, topics: Sequence[str] | None = None) -> bool:
        """Say whether `claim` would find anything: a reading transaction is enough to ask."""
        query = select(col(OutboxRow.id)).where(self._due(topics, now, now)).limit(1)
        return self._run(query).first() is not None

    def claim(
        self,
        *,
        now: datetime,
        limit: int,
        topics: Sequence[str] | None = None,
        due_at: datetime | None = None,
    ) -> Sequence[Message]:
        """Take up to `limit` due messages, oldest first, out of other workers' sight for `CLAIM_SECONDS`.

        Only of `topics`, where they are given: an older process leaves alone what a newer one staged. Only
        what was due at the earlier moment `due_at`, where that is given. What another worker holds, or is
        taking at this moment, is passed over: two workers never get the same message at once.
        """
        query = (
            select(col(OutboxRow.id), col(OutboxRow.topic), col(OutboxRow.payload), col(OutboxRow.attempts))
            .where(self._due(topics, now, due_at or now))
            .order_by(col(OutboxRow.id))
            .limit(min(limit, CLAIM_MESSAGES_MAX))
            .with_for_update(skip_locked=True)
        )
        rows = self._run(query).all()
        claimed = [Message(row.id, row.topic, dict(row.payload), row.attempts + 1) for row in rows]
        if claimed:
            self._run(
                update(OutboxRow)
                .where(self._named([message.id for message in claimed]))
                .values(
                    claimed_until=now + timedelta(seconds=CLAIM_SECONDS),
                    attempts=col(OutboxRow.attempts) + 1,
                )
            )
        return claimed

    def done(self, ids: Sequence[str]) -> None:
        """Remove delivered messages, also those that another worker has meanwhile taken over."""
        if ids:
            self._run(delete(OutboxRow).where(self._named(ids)))

    def failed(self, message: Message, *, failure: str, now: datetime) -> None:
        """Put a message back, later each time. `failure` is an exception's class name, never its text.

        Does nothing when another worker has taken the message over since.
        """
        wait = min(2**message.attempts, _BACKOFF_SECONDS_MAX)
        self._put_back(message, failure, now + timedelta(seconds=wait), message.attempts)

    def postponed(self, message: Message, *, failure: str, now: datetime, seconds: float) -> None:
        """Put a message back because something it needs does not answer.

        That is no fault of the message, so the attempt does not count: no outage makes dead letters.
        """
        self._put_back(message, failure, now + timedelta(seconds=seconds), message.attempts - 1)

    def is_held(self, *, now: datetime, due_at: datetime) -> bool:
        """Say whether some worker holds a message that was due at `due_at`."""
        query = select(col(OutboxRow.id)).where(
            col(OutboxRow.tenant_id) == self._tenant_id,
            col(OutboxRow.available_at) <= due_at,
            col(OutboxRow.claimed_until) > now,
        )
        return self._run(query.limit(1)).first() is not None

    def waiting(self) -> int:
        """Count messages that are not delivered and will be tried (again)."""
        return self._count(
            or_(col(OutboxRow.attempts) < ATTEMPTS_MAX, col(OutboxRow.claimed_until).is_not(None))
        )

    def dead(self, *, now: datetime) -> int:
        """Count dead letters: tried `ATTEMPTS_MAX` times in vain, or lost by their last worker."""
        return self._count(and_(col(OutboxRow.attempts) >= ATTEMPTS_MAX, self._free(now)))

    def _put_back(self, message: Message, failure: str, available_at: datetime, attempts: int) -> None:
        self._run(
            update(OutboxRow)
            # The count of attempts tells this claim from a later one.
            .where(self._named([message.id]), col(OutboxRow.attempts) == message.attempts)
            .values(available_at=available_at, claimed_until=None, failure=failure, attempts=attempts)
        )

    def _count(self, condition: ColumnElement[bool]) -> int:
        query = select(func.count()).where(col(OutboxRow.tenant_id) == self._tenant_id, condition)
        return int(self._run(query).scalar_one())

    def _run(self, statement: Executable) -> CursorResult[Any]:
        self._session.flush()
        return self._session.connection().execute(statement)

    def _named(self, ids: Sequence[str]) -> ColumnElement[bool]:
        return and_(col(OutboxRow.tenant_id) == self._tenant_id, col(OutboxRow.id).in_(ids))

    def _due(self, topics: Sequence[str] | None, now: datetime, due_at: datetime) -> ColumnElement[bool]:
        conditions = [
            col(OutboxRow.tenant_id) == self._tenant_id,
            col(OutboxRow.available_at) <= due_at,
            col(OutboxRow.attempts) < ATTEMPTS_MAX,
            self._free(now),
        ]
        if topics is not None:
            conditions.append(col(OutboxRow.topic).in_(topics))
        return and_(*conditions)

    @staticmethod
    def _free(now: datetime) -> ColumnElement[bool]:
        return or_(col(OutboxRow.claimed_until).is_(None), col(OutboxRow.claimed_until) <= now)
