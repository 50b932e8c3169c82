"""Puts one changed file of a bundle back into its folder, whole or not at all."""

import os
import stat
from contextlib import suppress
from pathlib import Path

from service.core.errors import Conflict


class FileChanged(Conflict):
    """Somebody else changed the file meanwhile: what they wrote is not overwritten."""

    code = "file_changed"
    title = "The file was changed by somebody else meanwhile"


def replace_file(folder: Path, name: str, before: str, after: str) -> None:
    """Replace a file that said `before`: readers see one text or the other, even after a crash.

    `name` is one that `read_folder` answered, so it leads nowhere else. Raises `FileChanged`, and `OSError`.
    """
    target = folder / name
    mode = stat.S_IMODE(target.stat().st_mode)
    # Names that begin with a dot are no files of a bundle, so one that a crash leaves does no harm.
    written = target.with_name(f".{target.name}.new")
    with suppress(FileNotFoundError):
        written.unlink()
    descriptor = os.open(written, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(after.encode())
            file.flush()
            os.fchmod(descriptor, mode)
            os.fsync(descriptor)
        _check_unchanged(target, name, before)
        written.replace(target)
    except BaseException:
        with suppress(FileNotFoundError):
            written.unlink()
        raise
    _sync(target.parent)


def _check_unchanged(target: Path, name: str, before: str) -> None:
    if target.is_symlink() or target.read_bytes() != before.encode():
        raise FileChanged(f"{name} is not what it was when it was read; look at it and try again.")


def _sync(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
