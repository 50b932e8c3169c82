"""Putting the rows of a backup into the record, in one transaction: all of it or nothing."""

from collections.abc import Iterator
from itertools import groupby, islice
from pathlib import Path
from typing import Any, Final

from sqlalchemy import ColumnElement, Connection, Text, cast, column, insert, table, text
from sqlalchemy.dialects import postgresql
from sqlalchemy.types import TypeDecorator, TypeEngine

from service.core.database import TENANT_SETTING, Database
from service.core.failpoints import hit
from service.governance.backups.manifest import read_rows
from service.governance.backups.model import BackupDamaged, Manifest, TableFile
from service.governance.backups.ports import Schema
from service.governance.backups.values import JSON_TEXT, KINDS, read_value

_ROWS_AT_ONCE: Final = 500
_TENANT: Final = "tenant_id"


def load_tables(folder: Path, manifest: Manifest, *, database: Database, schema: Schema) -> None:
    """Replace the record by what stands in the backup, and bring it to the newest schema.

    Raises `BackupDamaged` for rows that do not belong together, and then nothing has changed.
    """
    with database.engine.begin() as connection:
        if database.is_sqlite:
            # Rows may refer to rows that come later; at the end all must be there.
            connection.execute(text("PRAGMA defer_foreign_keys=ON"))
        schema.build_empty(connection, manifest.schema_revision)
        for part in manifest.tables:
            if _load(folder, part, connection) != part.rows:
                raise BackupDamaged(f"The table {part.name} has not as many rows as were written.")
        hit("restore.loaded")
        schema.finish(connection)


def _load(folder: Path, part: TableFile, connection: Connection) -> int:
    on_postgresql = connection.dialect.name == "postgresql"
    types = {name: _type_of(kind, on_postgresql=on_postgresql) for name, kind in part.columns}
    target = insert(table(part.name, *(column(name, kept) for name, kept in types.items())))
    loaded = 0
    for tenant_id, rows in groupby(_read(folder, part), key=lambda row: row.get(_TENANT)):
        if on_postgresql and tenant_id is not None:
            connection.execute(
                text("SELECT set_config(:name, :value, true)"), {"name": TENANT_SETTING, "value": tenant_id}
            )
        while some := list(islice(rows, _ROWS_AT_ONCE)):
            connection.execute(target, some)
            loaded += len(some)
    return loaded


def _read(folder: Path, part: TableFile) -> Iterator[dict[str, Any]]:
    for row in read_rows(folder, part):
        try:
            yield {
                name: read_value(kind, value) for (name, kind), value in zip(part.columns, row, strict=True)
            }
        except ValueError:
            raise BackupDamaged(f"A value of the table {part.name} cannot be read.") from None


def _type_of(kind: str, *, on_postgresql: bool) -> TypeEngine[Any]:
    return _JsonText() if kind == JSON_TEXT and on_postgresql else KINDS[kind]()


class _JsonText(TypeDecorator[str]):
    """The text of a JSON document, for a column of PostgreSQL's type json."""

    impl = Text
    cache_ok = True

    def bind_expression(self, bindparam: Any) -> ColumnElement[Any]:  # noqa: ANN401 - as the library types it
        """Answer the text as a document."""
        return cast(cast(bindparam, Text), postgresql.JSON)
