"""Messages staged in the transaction that causes them, and handed on after it.

A capability that may not import another stages a message here; `jobs` delivers it, at least once and in the
order of staging for each tenant. Payloads hold ids and versions, never text.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from sqlalchemy import JSON, Column, Index, delete, or_, select, update
from sqlmodel import Field, Session, SQLModel, col

from service.core.database import UtcDateTime
from service.core.ids import IdSource

ATTEMPTS_MAX: Final = 12
"""After so many failures a message is a dead letter: kept, reported, not tried again by itself."""
CLAIM_SECONDS: Final = 60
"""How long one worker may hold a message before another may take it over."""
_BACKOFF_SECONDS_MAX: Final = 300


class OutboxRow(SQLModel, table=True):
    """One message that waits for its delivery."""

    __tablename__ = "outbox"
    __table_args__ = (Index("ix_outbox_due", "tenant_id", "available_at"),)

    tenant_id: str = Field(primary_key=True, max_length=36)
    id: str = Field(primary_key=True, max_length=36)
    topic: str = Field(max_length=64)
    payload: dict[str, Any] = Field(sa_column=Column(JSON, nullable=False))
    created_at: datetime = Field(sa_type=UtcDateTime)
    available_at: datetime = Field(sa_type=UtcDateTime)
    attempts: int = 0
    failure: str | None = Field(default=None, max_length=200)


@dataclass(frozen=True, slots=True)
class Message:
    """What a handler gets."""

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
        row = OutboxRow(
            tenant_id=self._tenant_id,
            id=ids(),
            topic=topic,
            payload=payload,
            created_at=now,
            available_at=now,
        )
        self._session.add(row)
        self._session.info.setdefault("staged", []).append(row.id)
        return row.id

    def claim(self, *, now: datetime, limit: int) -> Sequence[Message]:
        """Take up to `limit` due messages, oldest first, out of other workers' sight for `CLAIM_SECONDS`."""
        rows = self._session.exec(
            select(OutboxRow)  # type: ignore[call-overload]
            .where(
                col(OutboxRow.tenant_id) == self._tenant_id,
                col(OutboxRow.available_at) <= now,
                col(OutboxRow.attempts) < ATTEMPTS_MAX,
            )
            .order_by(col(OutboxRow.id))
            .limit(limit)
            .with_for_update(skip_locked=True)
        ).scalars()
        claimed = list(rows)
        for row in claimed:
            row.available_at = now + timedelta(seconds=CLAIM_SECONDS)
            row.attempts += 1
            self._session.add(row)
        return [Message(row.id, row.topic, dict(row.payload), row.attempts) for row in claimed]

    def done(self, ids: Sequence[str]) -> None:
        """Remove delivered messages."""
        self._session.exec(
            delete(OutboxRow).where(col(OutboxRow.tenant_id) == self._tenant_id, col(OutboxRow.id).in_(ids))
        )

    def failed(self, message: Message, *, failure: str, now: datetime) -> None:
        """Put a message back, later each time. `failure` is an exception's class name, never its text."""
        wait = min(2**message.attempts, _BACKOFF_SECONDS_MAX)
        self._session.exec(
            update(OutboxRow)
            .where(col(OutboxRow.tenant_id) == self._tenant_id, col(OutboxRow.id) == message.id)
            .values(available_at=now + timedelta(seconds=wait), failure=failure)
        )

    def waiting(self) -> int:
        """Count messages that are neither delivered nor dead."""
        rows = self._session.exec(
            select(col(OutboxRow.id)).where(  # type: ignore[call-overload]
                col(OutboxRow.tenant_id) == self._tenant_id, or_(col(OutboxRow.attempts) < ATTEMPTS_MAX)
            )
        ).all()
        return len(rows)
