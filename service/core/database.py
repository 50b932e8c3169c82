"""The record: SQLite or PostgreSQL behind one class, one transaction at a time, one tenant in each.

SQLite gets two engines. The writing one begins with `BEGIN IMMEDIATE`: a deferred transaction that turns
to writing fails at once when another has written meanwhile, whatever its time-out.
"""

import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any, Final

from sqlalchemy import DateTime, Dialect, Engine, Select, create_engine, event, text
from sqlalchemy.dialects import sqlite
from sqlalchemy.engine import URL, Compiled, make_url
from sqlalchemy.types import TypeDecorator
from sqlmodel import Session

SQLITE_BUSY_TIMEOUT_SECONDS: Final = 15
TENANT_SETTING: Final = "muniment.tenant_id"
"""The PostgreSQL setting that row-level security compares `tenant_id` with; empty means none."""
CREDENTIAL_SETTING: Final = "muniment.credential_id"
"""The PostgreSQL setting that lets a credential's own row be found before its tenant is known."""


class UtcDateTime(TypeDecorator[datetime]):
    """An aware UTC time on every database; SQLite alone would give it back without its zone."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """Refuse a naive time, store the rest in UTC."""
        del dialect
        if value is None:
            return None
        if value.tzinfo is None:
            raise ValueError("a naive time cannot be stored")
        return value.astimezone(UTC)

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """Answer the time in UTC with its zone."""
        del dialect
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


class Database:
    """Opens transactions. Every one names its tenant, or `None` for the registry of tenants and keys."""

    def __init__(self, url: str) -> None:
        parsed = make_url(url)
        self.is_sqlite = parsed.get_backend_name() == "sqlite"
        if self.is_sqlite:
            if parsed.database:
                Path(parsed.database).parent.mkdir(parents=True, exist_ok=True)
            self._writer = _sqlite_engine(parsed, "BEGIN IMMEDIATE")
            self._reader = _sqlite_engine(parsed, "BEGIN")
        else:
            self._writer = _postgresql_engine(parsed)
            # One pool. By itself PostgreSQL would show each statement of a transaction another moment's data.
            self._reader = self._writer.execution_options(isolation_level="REPEATABLE READ")

    @property
    def engine(self) -> Engine:
        """The writing engine, for migrations."""
        return self._writer

    @contextmanager
    def write(self, tenant_id: str | None) -> Iterator[Session]:
        """Open a transaction that may write; commit when the block ends well, roll back otherwise."""
        with Session(self._writer, expire_on_commit=False) as session, session.begin():
            self.name_tenant(session, tenant_id)
            yield session

    @contextmanager
    def read(self, tenant_id: str | None, *, credential_id: str | None = None) -> Iterator[Session]:
        """Open a transaction that only reads and sees one moment's data."""
        with Session(self._reader, expire_on_commit=False) as session, session.begin():
            self.name_tenant(session, tenant_id)
            if credential_id is not None and not self.is_sqlite:
                _set(session, CREDENTIAL_SETTING, credential_id)
            yield session

    def name_tenant(self, session: Session, tenant_id: str | None) -> None:
        """Say whose rows the rest of the session's transaction is about, once that is known."""
        if not self.is_sqlite:
            _set(session, TENANT_SETTING, tenant_id or "")

    def ask(self, statement: Select[*tuple[Any, ...]], parameters: Mapping[str, Any]) -> Any:  # noqa: ANN401 - the driver's own type
        """Answer the first value of a reading statement that concerns no tenant's rows, `None` without a row.

        As the driver gives it, and on SQLite without a transaction around it: one statement sees one moment
        anyway, and what belongs to a transaction takes seven times as long as the statement.
        """
        if not self.is_sqlite:
            with self._reader.connect() as connection:
                return connection.execute(statement, parameters).scalar()
        plain = _plain(statement)
        pooled = self._reader.raw_connection()
        try:
            row = pooled.cursor().execute(str(plain), plain.construct_params(parameters)).fetchone()
            return None if row is None else row[0]
        finally:
            pooled.close()

    def tidy(self) -> bool:
        """Leave no bytes of removed rows in SQLite's files; say whether that was to be had now.

        Others who read or write can keep it from that, and then nothing is lost: personal text rests as
        ciphertext alone. PostgreSQL is vacuumed by its operator.
        """
        if not self.is_sqlite:
            return True
        connection = self._writer.raw_connection()
        try:
            driver = connection.driver_connection
            assert driver is not None
            try:
                driver.execute("VACUUM")
                busy, _, _ = driver.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
            except sqlite3.OperationalError:
                return False
            return not busy
        finally:
            connection.close()

    def close(self) -> None:
        """Give all connections back."""
        self._writer.dispose()
        self._reader.dispose()


@cache
def _plain(statement: Select[*tuple[Any, ...]]) -> Compiled:
    return statement.compile(dialect=sqlite.dialect(paramstyle="named"))


def _set(session: Session, name: str, value: str) -> None:
    # True: for this transaction only, so that a pooled connection never carries a tenant along.
    session.connection().execute(
        text("SELECT set_config(:name, :value, true)"), {"name": name, "value": value}
    )


def _sqlite_engine(url: URL, begin: str) -> Engine:
    engine = create_engine(
        url, connect_args={"timeout": SQLITE_BUSY_TIMEOUT_SECONDS}, pool_size=20, max_overflow=44
    )

    @event.listens_for(engine, "connect")
    def _configure(connection: Any, _record: object) -> None:  # noqa: ANN401 - the driver's own type
        # pysqlite would begin transactions by itself, and deferred: we begin them below.
        connection.isolation_level = None
        for pragma in ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON", "secure_delete=ON"):
            connection.execute(f"PRAGMA {pragma}")

    @event.listens_for(engine, "begin")
    def _begin(connection: Any) -> None:  # noqa: ANN401 - the driver's own type
        connection.exec_driver_sql(begin)

    return engine


def _postgresql_engine(url: URL) -> Engine:
    if url.drivername in ("postgresql", "postgres"):
        url = url.set(drivername="postgresql+psycopg")
    return create_engine(url, pool_size=20, max_overflow=44, pool_pre_ping=True)
