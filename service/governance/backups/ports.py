"""What backups need from outside: a register apart from the record, and the record's schema."""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from sqlalchemy import Connection, Table

from service.governance.backups.model import Backup, Restore


class BackupRegistry(Protocol):
    """Knows backups and restores, apart from the record that they are of."""

    def register(self, backup: Backup) -> None:
        """Write down that a backup is being made."""
        ...

    def forget(self, backup_id: str) -> None:
        """Forget a backup that was not made after all."""
        ...

    def list_all(self) -> Sequence[Backup]:
        """Answer every backup that was made, oldest first."""
        ...

    def begin_restore(self, restore_id: str, backup_id: str, *, at: datetime) -> None:
        """Write down that the record is being put back: until `end_restores` nobody serves it."""
        ...

    def end_restores(self, *, at: datetime) -> None:
        """Write down that the record is whole again."""
        ...

    def unfinished_restore(self) -> Restore | None:
        """Answer the newest restore that has not come to its end, `None` when there is none."""
        ...


class Schema(Protocol):
    """The schema of the record, through its whole history. It works on a connection of the caller's."""

    def tables(self) -> Sequence[Table]:
        """Answer the tables of the newest schema, those that others refer to first."""
        ...

    def revision(self, connection: Connection) -> str:
        """Answer which schema the record has."""
        ...

    def knows(self, revision: str) -> bool:
        """Say whether this release can make a schema of that revision."""
        ...

    def build_empty(self, connection: Connection, revision: str) -> None:
        """Drop all that is there and make the schema of that revision, without its guards."""
        ...

    def finish(self, connection: Connection) -> None:
        """Put the guards up and bring the schema to the newest."""
        ...
