"""What a backup is: its manifest, its place in the key store, and why one is not put back."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from service.core.errors import Conflict, Invalid, Unavailable

FORMAT: Final = "muniment-backup/1"
MANIFEST: Final = "manifest.json"
KEEP_DAYS_DEFAULT: Final = 30
KEEP_DAYS_MAX: Final = 3_650


@dataclass(frozen=True, slots=True)
class Backup:
    """A backup as the key store knows it. `at` lies before the moment that it shows."""

    id: str
    at: datetime
    expires_at: datetime
    folder: str


@dataclass(frozen=True, slots=True)
class Restore:
    """A restore that has begun and not ended."""

    id: str
    backup_id: str
    began_at: datetime


@dataclass(frozen=True, slots=True)
class TableFile:
    """One table in a backup: JSON Lines in which each line is a row, its values in the columns' order.

    `columns` are names with kinds, as `values` writes and reads them.
    """

    name: str
    file: str
    rows: int
    size_bytes: int
    sha256: str
    columns: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Manifest:
    """What stands in a backup. Tables come in the order in which they are put back."""

    id: str
    at: datetime
    expires_at: datetime
    schema_revision: str
    tables: tuple[TableFile, ...]


@dataclass(frozen=True, slots=True)
class Restored:
    """What a restore did in one tenant.

    Its trail was put back as far as `audit_sequence`; `chain_fault` says why that does not hold, if it does
    not. Counted are what was erased, and the rights that were ended, because the ledger says so.
    """

    tenant_id: str
    audit_sequence: int
    chain_fault: str | None
    erased: int
    rights_ended: int


class BackupDamaged(Invalid):
    """A backup is not as it was written."""

    code = "backup_damaged"
    title = "The backup is damaged"


class BackupOfOtherKeys(Conflict):
    """The key store that is configured did not make this backup, and cannot open what stands in it."""

    code = "backup_of_other_keys"
    title = "The backup belongs to another key store: configure the one that it was made with"


class BackupNewer(Conflict):
    """The backup was made by a release that this one does not know."""

    code = "backup_newer"
    title = "The backup was made by a newer release: restore it with that one"


class RecordNotEmpty(Conflict):
    """A restore would replace a record that somebody uses."""

    code = "record_not_empty"
    title = "The record is not empty: `--replace` puts the backup in its place"


class FolderNotEmpty(Conflict):
    """A backup would mix with something else."""

    code = "folder_not_empty"
    title = "The folder is not empty: name a new one"


class RestoreUnfinished(Unavailable):
    """A restore was interrupted, so that the record may hold what was erased."""

    code = "restore_unfinished"
    title = "A restore has not ended: run `muniment restore` again before anything else"


class KeepDaysInvalid(Invalid):
    """A backup is to be kept for no time, or for ever."""

    code = "keep_days_invalid"
    title = f"A backup is kept for 1 to {KEEP_DAYS_MAX:,} days"
