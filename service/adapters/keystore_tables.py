"""The key store's own tables. They stand apart from the record's, so that no backup of it holds a key."""

from typing import Final

from sqlalchemy import Column, Index, Integer, LargeBinary, MetaData, String, Table, Text

from service.core.database import UtcDateTime

METADATA: Final = MetaData()

DATA_KEYS: Final = Table(
    "data_keys",
    METADATA,
    Column("tenant_id", String(36), primary_key=True),
    Column("key_id", String(36), primary_key=True),
    # Empty: the tenant's own key. NULL: destroyed; then nothing says whose it was.
    Column("subject_hash", String(64)),
    Column("wrapped", LargeBinary),
    Column("created_at", UtcDateTime, nullable=False),
    Column("destroyed_at", UtcDateTime),
    # One living key for each subject, however many processes meet it first. NULLs are all different.
    Index("uq_data_keys_subject", "tenant_id", "subject_hash", unique=True),
)

EPOCHS: Final = Table(
    "epochs",
    METADATA,
    Column("tenant_id", String(36), primary_key=True),
    Column("epoch", Integer, nullable=False),
)

TOMBSTONES: Final = Table(
    "tombstones",
    METADATA,
    Column("tenant_id", String(36), primary_key=True),
    Column("kind", String(64), primary_key=True),
    Column("ref_hash", String(64), primary_key=True),
    Column("at", UtcDateTime, nullable=False),
)

NAMES: Final = Table(
    "names",
    METADATA,
    Column("tenant_id", String(36), primary_key=True),
    # The subject's own name, under the subject's own key: it is unreadable once that key is destroyed.
    Column("key_id", String(36), primary_key=True),
    Column("sealed", LargeBinary, nullable=False),
)

CHECKPOINTS: Final = Table(
    "audit_checkpoints",
    METADATA,
    Column("tenant_id", String(36), primary_key=True),
    Column("sequence", Integer, nullable=False),
    # Signed JSON, as `muniment audit checkpoint` writes it to a file.
    Column("document", Text, nullable=False),
)

SIGNING_KEYS: Final = Table(
    "signing_keys",
    METADATA,
    Column("name", String(32), primary_key=True),
    Column("wrapped", LargeBinary, nullable=False),
    Column("created_at", UtcDateTime, nullable=False),
)

BACKUPS: Final = Table(
    "backups",
    METADATA,
    Column("id", String(36), primary_key=True),
    # Before the first row was read: whatever was there then may be in it.
    Column("at", UtcDateTime, nullable=False),
    Column("expires_at", UtcDateTime, nullable=False),
    Column("folder", Text, nullable=False),
)

POLICIES: Final = Table(
    "policies",
    METADATA,
    Column("tenant_id", String(36), primary_key=True),
    Column("revision", Integer, nullable=False),
    Column("version", String(71), nullable=False),
    # JSON: the text of each file by its path. Policies are the organisation's words, not a person's.
    Column("files", Text, nullable=False),
)

RESTORES: Final = Table(
    "restores",
    METADATA,
    Column("id", String(36), primary_key=True),
    Column("backup_id", String(36), nullable=False),
    Column("began_at", UtcDateTime, nullable=False),
    # NULL: the record is half restored, and nobody serves it.
    Column("finished_at", UtcDateTime),
)

CHECKS: Final = Table(
    "checks",
    METADATA,
    Column("name", String(32), primary_key=True),
    Column("value", String(64), nullable=False),
)
