"""The record's schema as a restore needs it: empty at any revision, filled, and brought to the newest."""

from collections.abc import Sequence
from typing import Final

from alembic import command
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, Table, inspect, text
from sqlmodel import SQLModel

from service.migrations.guards import put_up, take_down
from service.migrations.migrate import alembic_config
from service.migrations.tables import load_tables

_VERSIONS: Final = "alembic_version"


class RecordSchema:
    """`governance.backups.ports.Schema` over Alembic."""

    def tables(self) -> Sequence[Table]:
        """Answer the tables of the newest schema, those that others refer to first."""
        load_tables()
        return SQLModel.metadata.sorted_tables

    def revision(self, connection: Connection) -> str:
        """Answer which schema the record has."""
        return str(connection.execute(text(f"SELECT version_num FROM {_VERSIONS}")).scalar_one())  # noqa: S608 - our own table

    def knows(self, revision: str) -> bool:
        """Say whether this release can make a schema of that revision."""
        scripts = ScriptDirectory.from_config(alembic_config())
        return revision in {script.revision for script in scripts.walk_revisions()}

    def build_empty(self, connection: Connection, revision: str) -> None:
        """Drop all that is there and make the schema of that revision, without its guards.

        Guards refuse additions to what has ended: in the order of a copy most of it has ended already.
        """
        take_down(connection)
        present = set(inspect(connection).get_table_names())
        for name in [*(table.name for table in reversed(self.tables())), _VERSIONS]:
            if name in present:
                connection.execute(text(f"DROP TABLE {name}"))
        self._upgrade(connection, revision)
        take_down(connection)

    def finish(self, connection: Connection) -> None:
        """Put the guards up and bring the schema to the newest."""
        put_up(connection)
        self._upgrade(connection, "head")

    def _upgrade(self, connection: Connection, revision: str) -> None:
        config = alembic_config()
        config.attributes["connection"] = connection
        command.upgrade(config, revision)
