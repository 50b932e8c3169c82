"""What the key store knows of backups and restores: it outlives the record that they are of."""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import delete, insert, select, update

from service.adapters.keystore import KeyStore
from service.adapters.keystore_tables import BACKUPS, RESTORES
from service.governance.backups.model import Backup, Restore


class KeyStoreBackups:
    """Keeps backups and restores as `governance.backups.ports.BackupRegistry` promises."""

    def __init__(self, keystore: KeyStore) -> None:
        self._keystore = keystore

    def register(self, backup: Backup) -> None:
        """Write down that a backup is being made."""
        row = {
            "id": backup.id,
            "at": backup.at,
            "expires_at": backup.expires_at,
            "folder": backup.folder,
        }
        with self._keystore.database.write(None) as session:
            session.connection().execute(insert(BACKUPS).values(row))

    def forget(self, backup_id: str) -> None:
        """Forget a backup that was not made after all."""
        with self._keystore.database.write(None) as session:
            session.connection().execute(delete(BACKUPS).where(BACKUPS.c.id == backup_id))

    def list_all(self) -> Sequence[Backup]:
        """Answer every backup that was made, oldest first."""
        query = select(BACKUPS).order_by(BACKUPS.c.at, BACKUPS.c.id)
        with self._keystore.database.read(None) as session:
            rows = session.connection().execute(query).all()
        return [Backup(row.id, row.at, row.expires_at, row.folder) for row in rows]

    def begin_restore(self, restore_id: str, backup_id: str, *, at: datetime) -> None:
        """Write down that the record is being put back: until `end_restores` nobody serves it."""
        row = {"id": restore_id, "backup_id": backup_id, "began_at": at, "finished_at": None}
        with self._keystore.database.write(None) as session:
            session.connection().execute(insert(RESTORES).values(row))

    def end_restores(self, *, at: datetime) -> None:
        """Write down that the record is whole again."""
        ended = update(RESTORES).where(RESTORES.c.finished_at.is_(None)).values(finished_at=at)
        with self._keystore.database.write(None) as session:
            session.connection().execute(ended)

    def unfinished_restore(self) -> Restore | None:
        """Answer the newest restore that has not come to its end, `None` when there is none."""
        query = (
            select(RESTORES)
            .where(RESTORES.c.finished_at.is_(None))
            .order_by(RESTORES.c.began_at.desc(), RESTORES.c.id.desc())
            .limit(1)
        )
        with self._keystore.database.read(None) as session:
            row = session.connection().execute(query).first()
        return None if row is None else Restore(row.id, row.backup_id, row.began_at)
