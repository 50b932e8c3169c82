"""Reading the whole record at one moment, table by table, and writing it to files."""

import hashlib
import json
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from sqlalchemy import Connection, Select, Table, Text, cast, select
from sqlmodel import Session

from service.core.database import Database
from service.core.failpoints import hit
from service.governance.backups.manifest import file_of
from service.governance.backups.model import TableFile
from service.governance.backups.ports import Schema
from service.governance.backups.values import JSON_TEXT, kind_of, writer_of

_ROWS_AT_ONCE: Final = 500
_TENANTS: Final = "tenants"
PRIVATE_FILE: Final = 0o600


def copy_tables(database: Database, schema: Schema, folder: Path) -> tuple[str, Sequence[TableFile]]:
    """Write every table of the record into the folder, as one moment shows it, some rows in memory at a time.

    Answers the record's schema and the files. On SQLite as on PostgreSQL it is one reading transaction:
    others write meanwhile, and nothing that they write is in it.
    """
    with database.read(None) as session:
        connection = session.connection()
        tables = schema.tables()
        tenants = next(table for table in tables if table.name == _TENANTS)
        tenant_ids = list(connection.execute(select(tenants.c.id).order_by(tenants.c.id)).scalars())
        hit("backup.begun")
        files = [
            _write(table, _rows(table, tenant_ids, database=database, session=session), folder)
            for table in tables
        ]
        return schema.revision(connection), files


def _rows(table: Table, tenant_ids: Sequence[str], *, database: Database, session: Session) -> Iterator[Any]:
    connection = session.connection()
    if "tenant_id" not in table.c:
        yield from _fetched(_query(table), connection)
        return
    # PostgreSQL shows the rows of the tenant that the transaction names, and no others.
    for tenant_id in tenant_ids:
        database.name_tenant(session, tenant_id)
        yield from _fetched(_query(table).where(table.c.tenant_id == tenant_id), connection)


def _query(table: Table) -> Select[*tuple[Any, ...]]:
    columns = [
        cast(column, Text).label(column.name) if kind_of(column.type) == JSON_TEXT else column
        for column in table.columns
    ]
    return select(*columns).order_by(*table.primary_key.columns)


def _fetched(query: Select[*tuple[Any, ...]], connection: Connection) -> Iterator[Any]:
    with connection.execute(query, execution_options={"yield_per": _ROWS_AT_ONCE}) as found:
        yield from found


def _write(table: Table, rows: Iterator[Any], folder: Path) -> TableFile:
    columns = tuple((column.name, kind_of(column.type)) for column in table.columns)
    writers = [writer_of(kind) for _, kind in columns]
    file, digest, count, size_bytes = file_of(table.name), hashlib.sha256(), 0, 0
    descriptor = os.open(folder / file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, PRIVATE_FILE)
    with os.fdopen(descriptor, "wb") as stream:
        for row in rows:
            values = [write(value) for write, value in zip(writers, row, strict=True)]
            line = json.dumps(values, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"
            stream.write(line)
            digest.update(line)
            count, size_bytes = count + 1, size_bytes + len(line)
        stream.flush()
        os.fsync(stream.fileno())
    return TableFile(table.name, file, count, size_bytes, f"sha256:{digest.hexdigest()}", columns)
