"""A PostgreSQL server seen from behind: its folder, and what its operator does to leave no bytes of rows."""

import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psycopg
from recovery_site import database_at, name_of


@dataclass(frozen=True, slots=True)
class Server:
    """A database of its own on the tests' server; `operator` is its superuser's address."""

    url: str
    operator: str
    folder: Path

    def run(self, *statements: str) -> None:
        """Run statements as the operator, each by itself."""
        with psycopg.connect(self.operator, autocommit=True) as connection:
            for statement in statements:
                connection.execute(statement.encode())

    def vacuum(self) -> None:
        """Do what leaves no bytes of removed rows: in tables, in what was sampled of them, and in the log."""
        self.run("VACUUM (FULL, ANALYZE)", "VACUUM FULL pg_catalog.pg_statistic")
        # The log's present file is closed, and once what it tells is in the tables, no file of it is needed.
        self.run("SELECT pg_switch_wal()", "CHECKPOINT", "SELECT pg_switch_wal()", "CHECKPOINT")


@contextmanager
def open_server(base_url: str, template: str) -> Iterator[Server]:
    """Make a database with the schema on a server that removes old files of its log, not uses them anew."""
    name = f"c{uuid.uuid4().hex}"  # noqa: TID251 - a name for a throw-away database
    as_operator = base_url.replace("muniment_app:@", "postgres:@", 1)
    operator = database_at(as_operator, name)
    with psycopg.connect(as_operator, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name} TEMPLATE {template} OWNER muniment_app".encode())
        with psycopg.connect(operator) as asking:
            row = asking.execute("SELECT current_setting('data_directory')").fetchone()
        assert row is not None
        server = Server(database_at(base_url, name), operator, Path(row[0]))
        server.run("ALTER SYSTEM SET wal_recycle = off", "SELECT pg_reload_conf()")
        try:
            yield server
        finally:
            server.run("ALTER SYSTEM RESET wal_recycle", "SELECT pg_reload_conf()")
            connection.execute(f"DROP DATABASE {name_of(server.url)} WITH (FORCE)".encode())
