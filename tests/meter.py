"""What a piece of work asks of the database: statements, rows handed over, and the work of finding them."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, event

from service.core.database import Database


@dataclass
class Reading:
    """What was counted.

    `instructions` are those of SQLite's virtual machine, which takes some for each row or entry of an index
    that it passes, handed over or not. PostgreSQL tells nothing of the kind.
    """

    statements: int = 0
    rows: int = 0
    instructions: int = 0


@contextmanager
def metered(database: Database) -> Iterator[Reading]:
    """Count what is asked of the database's writing side while the block runs."""
    reading = Reading()
    listeners = [
        ("begin", lambda connection: _count_work(connection, reading)),
        ("commit", _stop_counting),
        ("after_cursor_execute", lambda *given: _count_statement(given[1], reading)),
    ]
    for name, listener in listeners:
        event.listen(database.engine, name, listener)
    try:
        yield reading
    finally:
        for name, listener in listeners:
            event.remove(database.engine, name, listener)


def _count_statement(cursor: Any, reading: Reading) -> None:
    reading.statements += 1
    if not hasattr(cursor.connection, "set_progress_handler"):
        reading.rows += max(0, cursor.rowcount)


def _count_work(connection: Connection, reading: Reading) -> None:
    if connection.dialect.name != "sqlite":
        return

    def count_row(_cursor: object, row: tuple[Any, ...]) -> tuple[Any, ...]:
        reading.rows += 1
        return row

    def count_instruction() -> int:
        reading.instructions += 1
        return 0

    driver = connection.connection.dbapi_connection
    driver.row_factory = count_row
    driver.set_progress_handler(count_instruction, 1)


def _stop_counting(connection: Connection) -> None:
    if connection.dialect.name == "sqlite":
        driver = connection.connection.dbapi_connection
        driver.row_factory = None
        driver.set_progress_handler(None, 0)
