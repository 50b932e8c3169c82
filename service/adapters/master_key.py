"""Where the master key comes from: the setting, or a file that is made once."""

import base64
import binascii
import os
import secrets
import stat
from pathlib import Path
from typing import Final

_KEY_BYTES: Final = 32


class MasterKeyError(ValueError):
    """The master key is not one, or others may read it. The message names neither key nor path."""


def load_master_key(encoded: str | None, *, file: Path) -> bytes:
    """Answer the 32 bytes that wrap all data keys.

    `encoded` is the setting, base64. Without it the key is read from `file`, which is made with a random key
    and mode 0600 when it is not there; of several processes that do so at once, all get the same key.
    Raises `MasterKeyError`.
    """
    if encoded is not None:
        return _decode(encoded)
    if not file.exists():
        _make(file)
    if stat.S_IMODE(file.stat().st_mode) & 0o077:
        raise MasterKeyError("the master key's file may be read by others: give it mode 0600")
    return _decode(file.read_text(encoding="ascii"))


def _decode(encoded: str) -> bytes:
    try:
        key = base64.b64decode(encoded.strip(), validate=True)
    except (binascii.Error, ValueError):
        raise MasterKeyError("the master key is not base64") from None
    if len(key) != _KEY_BYTES:
        raise MasterKeyError(f"the master key has {_KEY_BYTES} bytes")
    return key


def _make(file: Path) -> None:
    file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    draft = file.with_name(f".{file.name}.{os.getpid()}.{secrets.token_hex(4)}")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(base64.b64encode(secrets.token_bytes(_KEY_BYTES)) + b"\n")
            stream.flush()
            os.fsync(stream.fileno())
        try:
            # A link never replaces: who comes second finds the first one's key.
            os.link(draft, file)
        except FileExistsError:
            return
        folder = os.open(file.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
    finally:
        draft.unlink()
