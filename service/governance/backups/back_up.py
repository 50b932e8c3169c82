"""`back_up`: write a consistent copy of the record into a folder, and make it known to the key store.

The record alone: without the key store, from which persons' keys go when they are erased, the copy is noise
wherever it speaks of them. A copy that held the keys would bring every person back. The index is left out
since it is made from the record.
"""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from service.core.clock import Clock
from service.core.database import Database
from service.core.failpoints import hit
from service.core.ids import IdSource
from service.core.signing import Signer
from service.governance.backups.manifest import write_manifest
from service.governance.backups.model import (
    KEEP_DAYS_DEFAULT,
    KEEP_DAYS_MAX,
    MANIFEST,
    Backup,
    FolderNotEmpty,
    KeepDaysInvalid,
    Manifest,
)
from service.governance.backups.ports import BackupRegistry, Schema
from service.governance.backups.store_copy import PRIVATE_FILE, copy_tables

_PRIVATE_FOLDER = 0o700


@dataclass(frozen=True, slots=True)
class BackUp:
    """Makes backups of one record."""

    database: Database
    schema: Schema
    registry: BackupRegistry
    signer: Signer
    clock: Clock
    ids: IdSource
    announce: Callable[[str], None]
    """Called with the backup's id before its first row is read. What it raises keeps it from being made."""

    def __call__(self, folder: Path, *, keep_days: int = KEEP_DAYS_DEFAULT) -> Manifest:
        """Write a backup into a folder that is new or empty, beside whoever works with the record.

        It is known to the key store before its first row is read: whatever is erased afterwards is told when
        this copy expires. A folder without a manifest is no backup. Raises `FolderNotEmpty`.
        """
        if not 1 <= keep_days <= KEEP_DAYS_MAX:
            raise KeepDaysInvalid
        folder.mkdir(parents=True, exist_ok=True, mode=_PRIVATE_FOLDER)
        if any(folder.iterdir()):
            raise FolderNotEmpty
        at, backup_id = self.clock(), self.ids()
        self.announce(backup_id)
        backup = Backup(backup_id, at, at + timedelta(days=keep_days), os.fspath(folder.resolve()))
        self.registry.register(backup)
        try:
            revision, tables = copy_tables(self.database, self.schema, folder)
            hit("backup.before_manifest")
            manifest = Manifest(backup.id, backup.at, backup.expires_at, revision, tuple(tables))
            _write_whole(folder / MANIFEST, write_manifest(manifest, self.signer))
        except Exception:
            # What cannot be removed stays known, since it may hold what is erased tomorrow.
            for file in folder.iterdir():
                file.unlink()
            self.registry.forget(backup.id)
            raise
        return manifest

    def list_all(self) -> Sequence[Backup]:
        """Answer every backup that was made, oldest first."""
        return self.registry.list_all()


def _write_whole(path: Path, content: bytes) -> None:
    draft = path.with_suffix(".part")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, PRIVATE_FILE)
    with os.fdopen(descriptor, "wb") as stream:
        stream.write(content)
        stream.flush()
        os.fsync(stream.fileno())
    draft.replace(path)
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
