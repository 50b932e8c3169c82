"""The manifest of a backup: written last and signed, and what everything in the folder is compared with."""

import hashlib
import json
from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any, BinaryIO, Final

from service.core.clock import format_time
from service.core.hashing import canonical_json
from service.core.signing import SignatureFault, Signer, signature_fault, signed
from service.governance.backups.model import (
    FORMAT,
    MANIFEST,
    BackupDamaged,
    BackupOfOtherKeys,
    Manifest,
    TableFile,
)
from service.governance.backups.values import KINDS

_MANIFEST_BYTES_MAX: Final = 1_000_000
_LINE_BYTES_MAX: Final = 128 * 1024 * 1024
"""No row is larger: the largest text that is taken has 32 MiB."""
_READ_BYTES: Final = 1024 * 1024


def write_manifest(manifest: Manifest, signer: Signer) -> bytes:
    """Answer the manifest as canonical JSON with its signature."""
    document = {
        "format": FORMAT,
        "id": manifest.id,
        "at": format_time(manifest.at),
        "expires_at": format_time(manifest.expires_at),
        "schema_revision": manifest.schema_revision,
        "tables": [
            {
                "name": table.name,
                "file": table.file,
                "rows": table.rows,
                "size_bytes": table.size_bytes,
                "sha256": table.sha256,
                "columns": [{"name": name, "kind": kind} for name, kind in table.columns],
            }
            for table in manifest.tables
        ],
    }
    return canonical_json(signed(document, signer))


def read_manifest(folder: Path, *, trusted: bytes) -> Manifest:
    """Read the manifest that the holder of the trusted key signed.

    Raises `BackupOfOtherKeys` for another's, `BackupDamaged` for what is none or was changed.
    """
    try:
        with (folder / MANIFEST).open("rb") as stream:
            content = stream.read(_MANIFEST_BYTES_MAX + 1)
    except FileNotFoundError:
        raise BackupDamaged("There is no manifest in this folder: the backup was never finished.") from None
    try:
        found = json.loads(content)
        fault = signature_fault(found, trusted=trusted)
        if fault is SignatureFault.KEY_OTHER:
            raise BackupOfOtherKeys
        if fault is not None:
            raise BackupDamaged("The manifest was changed after it was signed.")
        return _manifest(found)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise BackupDamaged("The manifest cannot be read.") from None


def verify_files(folder: Path, manifest: Manifest) -> None:
    """Read every file of the backup and compare it with the manifest. Raises `BackupDamaged`."""
    for table in manifest.tables:
        digest, size_bytes = hashlib.sha256(), 0
        try:
            with (folder / table.file).open("rb") as stream:
                while part := stream.read(_READ_BYTES):
                    digest.update(part)
                    size_bytes += len(part)
        except FileNotFoundError:
            raise BackupDamaged(f"The file of the table {table.name} is missing.") from None
        if size_bytes != table.size_bytes or f"sha256:{digest.hexdigest()}" != table.sha256:
            raise BackupDamaged(f"The file of the table {table.name} is not the one that was written.")


def read_rows(folder: Path, table: TableFile) -> Iterator[list[Any]]:
    """Answer the rows of a table as they are written, one line in memory at a time."""
    with (folder / table.file).open("rb") as stream:
        for line in _lines(stream):
            row = json.loads(line)
            if not isinstance(row, list) or len(row) != len(table.columns):
                raise BackupDamaged(f"A line of the table {table.name} is no row.")
            yield row


def _lines(stream: BinaryIO) -> Iterator[bytes]:
    while line := stream.readline(_LINE_BYTES_MAX):
        yield line


def _manifest(found: Mapping[str, Any]) -> Manifest:
    if found["format"] != FORMAT:
        raise ValueError("another format")
    return Manifest(
        id=str(found["id"]),
        at=datetime.fromisoformat(found["at"]),
        expires_at=datetime.fromisoformat(found["expires_at"]),
        schema_revision=str(found["schema_revision"]),
        tables=tuple(_table(table) for table in found["tables"]),
    )


def _table(found: Mapping[str, Any]) -> TableFile:
    name = str(found["name"])
    columns = tuple((str(column["name"]), str(column["kind"])) for column in found["columns"])
    if not name.isidentifier() or not all(part.isidentifier() and kind in KINDS for part, kind in columns):
        raise ValueError("no table of a record")
    if found["file"] != file_of(name):
        raise ValueError("a file elsewhere")
    return TableFile(name, file_of(name), found["rows"], found["size_bytes"], found["sha256"], columns)


def file_of(table: str) -> str:
    """Answer the name of a table's file in the folder."""
    return f"{table}.jsonl"
