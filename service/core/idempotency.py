"""First answers of creating requests, kept for a day: a repeat gets them again and nothing is done twice.

Answers rest as ciphertext. `idempotency_refs` says whose text an answer holds, so that erasure finds and
empties it; what remains then says only that the answer has been erased.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from sqlalchemy import (
    JSON,
    CheckConstraint,
    Column,
    ForeignKeyConstraint,
    Index,
    LargeBinary,
    delete,
    text,
    update,
)
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import OperationalError
from sqlmodel import Field, Session, SQLModel, col, select

from service.core.cipher import Cipher
from service.core.database import UtcDateTime
from service.core.errors import Conflict, Gone, Invalid

KEPT_FOR: Final = timedelta(hours=24)
_WAIT_SECONDS: Final = 10
"""How long a repeat waits for the first request before it is told to come back."""
_PURGED_AT_ONCE: Final = 20
"""Each new row clears up to so many expired ones: the table cannot grow by what nobody asks for again."""
_REFS_AT_ONCE: Final = 1_000
_LOCK_NOT_AVAILABLE: Final = "55P03"


class KeyReused(Invalid):
    """The same key came with another request."""

    code = "idempotency_key_reused"
    title = "This Idempotency-Key was used for another request"


class StillRunning(Conflict):
    """The first request with this key has not ended yet."""

    code = "idempotency_in_progress"
    title = "The first request with this Idempotency-Key is still running"
    retry_after_seconds = 1


class IdempotencyRow(SQLModel, table=True):
    """One key, and the answer once there is one. Key and request are kept as keyed hashes."""

    __tablename__ = "idempotency"
    __table_args__ = (
        Index("ix_idempotency_expiry", "tenant_id", "expires_at"),
        CheckConstraint("NOT (erased AND body IS NOT NULL)", name="ck_idempotency_erased_is_empty"),
    )

    tenant_id: str = Field(primary_key=True, max_length=36)
    key_hash: str = Field(primary_key=True, max_length=128)
    request_hash: str = Field(max_length=128)
    expires_at: datetime = Field(sa_type=UtcDateTime)
    project_id: str | None = Field(default=None, max_length=36)
    status: int = 0
    headers: dict[str, Any] = Field(sa_column=Column(JSON, nullable=False))
    body: bytes | None = Field(default=None, sa_type=LargeBinary)
    erased: bool = False


class IdempotencyRefRow(SQLModel, table=True):
    """An item whose text one answer holds."""

    __tablename__ = "idempotency_refs"
    __table_args__ = (
        ForeignKeyConstraint(
            ["tenant_id", "key_hash"],
            ["idempotency.tenant_id", "idempotency.key_hash"],
            ondelete="CASCADE",
            name="fk_idempotency_refs_idempotency",
        ),
        Index("ix_idempotency_refs_key", "tenant_id", "key_hash"),
    )

    tenant_id: str = Field(primary_key=True, max_length=36)
    ref: str = Field(primary_key=True, max_length=200)
    key_hash: str = Field(primary_key=True, max_length=128)


@dataclass(frozen=True, slots=True)
class Kept:
    """An answer as it was first given. `body` may hold no text at all and then is empty."""

    status: int
    headers: dict[str, str]
    body: str
    project_id: str | None


class IdempotencyStore:
    """One tenant's first answers, inside the transaction that does the work."""

    def __init__(self, session: Session, tenant_id: str, cipher: Cipher) -> None:
        self._session = session
        self._tenant_id = tenant_id
        self._cipher = cipher

    def claim(self, *, key: str, request: str, now: datetime) -> Kept | None:
        """Take the key for this transaction and answer `None`, or answer what it was first answered.

        `key` names principal, method, path and the client's key; `request` is a digest of what was sent.
        Of two at once the second waits here. Raises `KeyReused` for another request, `StillRunning` when the
        first does not end in time, and `Gone` when the answer has been erased.
        """
        key_hash = self._cipher.keyed_hash(key)
        request_hash = self._cipher.keyed_hash(request)
        self._purge(key_hash, now)
        if self._insert(key_hash, request_hash, now):
            return None
        row = self._row(key_hash)
        if row is None:
            # The first request ended without doing anything between our two statements.
            raise StillRunning("Try again in a moment.")
        return self._kept(row, request_hash)

    def find(self, *, key: str, request: str, now: datetime) -> Kept | None:
        """Answer what the key was first answered, or `None` when nothing is kept; takes nothing.

        Raises `KeyReused` and `Gone` as `claim` does.
        """
        row = self._row(self._cipher.keyed_hash(key))
        if row is None or row.expires_at <= now:
            return None
        return self._kept(row, self._cipher.keyed_hash(request))

    def keep(self, *, key: str, answer: Kept, refs: Sequence[str], subjects: Sequence[str]) -> None:
        """Keep the answer under a claimed key. `refs` are the items, `subjects` the persons in its text."""
        key_hash = self._cipher.keyed_hash(key)
        sealed = None
        if answer.body:
            sealed = self._cipher.seal(answer.body, subjects=subjects, place=_place(key_hash))
        self._session.exec(
            update(IdempotencyRow)
            .where(col(IdempotencyRow.tenant_id) == self._tenant_id, col(IdempotencyRow.key_hash) == key_hash)
            .values(status=answer.status, headers=answer.headers, body=sealed, project_id=answer.project_id)
        )
        for ref in sorted(set(refs)):
            self._session.add(IdempotencyRefRow(tenant_id=self._tenant_id, ref=ref, key_hash=key_hash))

    def refs_of(self, *, key: str) -> Sequence[str]:
        """Answer the items whose text the answer under the key holds."""
        return self._session.exec(
            select(IdempotencyRefRow.ref).where(
                col(IdempotencyRefRow.tenant_id) == self._tenant_id,
                col(IdempotencyRefRow.key_hash) == self._cipher.keyed_hash(key),
            )
        ).all()

    def release(self, *, key: str) -> None:
        """Free a claimed key in the transaction that claimed it."""
        self._session.exec(
            delete(IdempotencyRow).where(
                col(IdempotencyRow.tenant_id) == self._tenant_id,
                col(IdempotencyRow.key_hash) == self._cipher.keyed_hash(key),
            )
        )

    def erase(self, refs: Sequence[str]) -> int:
        """Empty every answer that holds text of these items; their keys answer `Gone` from now on.

        Answers how many were emptied.
        """
        # A person may have more memories than one statement takes parameters.
        return sum(
            self._empty(refs[first : first + _REFS_AT_ONCE]) for first in range(0, len(refs), _REFS_AT_ONCE)
        )

    def _empty(self, refs: Sequence[str]) -> int:
        holders = select(IdempotencyRefRow.key_hash).where(
            col(IdempotencyRefRow.tenant_id) == self._tenant_id, col(IdempotencyRefRow.ref).in_(refs)
        )
        emptied = self._session.exec(
            update(IdempotencyRow)
            .where(
                col(IdempotencyRow.tenant_id) == self._tenant_id,
                col(IdempotencyRow.key_hash).in_(holders),
                col(IdempotencyRow.erased).is_(False),
            )
            .values(body=None, headers={}, erased=True)
        )
        return int(emptied.rowcount)

    def _kept(self, row: IdempotencyRow, request_hash: str) -> Kept:
        if row.request_hash != request_hash:
            raise KeyReused("Send a new key, or repeat the first request unchanged.")
        if row.erased:
            raise Gone
        body = "" if row.body is None else self._cipher.open(row.body, place=_place(row.key_hash))
        return Kept(row.status, dict(row.headers), body, row.project_id)

    def _row(self, key_hash: str) -> IdempotencyRow | None:
        return self._session.exec(
            select(IdempotencyRow).where(
                col(IdempotencyRow.tenant_id) == self._tenant_id, col(IdempotencyRow.key_hash) == key_hash
            )
        ).one_or_none()

    def _insert(self, key_hash: str, request_hash: str, now: datetime) -> bool:
        # ON CONFLICT waits for a transaction that holds the key and then sees whether it kept it. Under
        # SQLite there is one writer at a time, so that the wait was already over when this one began.
        on_sqlite = self._session.get_bind().dialect.name == "sqlite"
        insert = sqlite.insert if on_sqlite else postgresql.insert
        statement = (
            insert(IdempotencyRow)
            .values(
                tenant_id=self._tenant_id,
                key_hash=key_hash,
                request_hash=request_hash,
                expires_at=now + KEPT_FOR,
                status=0,
                headers={},
                erased=False,
            )
            .on_conflict_do_nothing()
            # Not the row count: the driver gives none for an insertion into one row.
            .returning(col(IdempotencyRow.key_hash))
        )
        connection = self._session.connection()
        if on_sqlite:
            return connection.execute(statement).first() is not None
        connection.execute(text(f"SET LOCAL lock_timeout = '{_WAIT_SECONDS}s'"))
        try:
            inserted = connection.execute(statement).first() is not None
        except OperationalError as error:
            if getattr(error.orig, "sqlstate", None) == _LOCK_NOT_AVAILABLE:
                raise StillRunning("Try again in a moment.") from None
            raise
        connection.execute(text("SET LOCAL lock_timeout TO DEFAULT"))
        return inserted

    def _purge(self, key_hash: str, now: datetime) -> None:
        expired = (
            select(IdempotencyRow.key_hash)
            .where(col(IdempotencyRow.tenant_id) == self._tenant_id, col(IdempotencyRow.expires_at) <= now)
            .order_by((col(IdempotencyRow.key_hash) == key_hash).desc(), col(IdempotencyRow.expires_at))
            .limit(_PURGED_AT_ONCE)
            .with_for_update(skip_locked=True)
        )
        found = self._session.exec(expired).all()
        if found:
            self._session.exec(
                delete(IdempotencyRow).where(
                    col(IdempotencyRow.tenant_id) == self._tenant_id, col(IdempotencyRow.key_hash).in_(found)
                )
            )


def _place(key_hash: str) -> str:
    return f"idempotency/{key_hash}/body"
