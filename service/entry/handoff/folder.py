"""The folder itself: nothing outside it is touched, nothing is half written, one process works at a time.

Every file is opened by its name below an open folder and never through a link, so that nothing that is put
there can lead a write to another place.
"""

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from filelock import FileLock, Timeout

from service.core.failpoints import hit

LOG: Final = "execution.jsonl"
LOG_LOCK: Final = "execution.jsonl.lock"
"""Held for each reading and writing of the log, and by everybody else who appends to it."""
TORN: Final = "execution.torn"
"""Where the rest of a line goes that its writer did not live to end."""
NEXT_STEPS: Final = "next-steps.txt"
STATE: Final = ".handoff.json"
FOLDER_LOCK: Final = ".handoff.lock"
FILE_BYTES_MAX: Final = 256 * 1024 * 1024
_LOCK_SECONDS_MAX: Final = 60
_PRIVATE_FOLDER: Final = 0o700
_PRIVATE_FILE: Final = 0o600
_NEVER_A_LINK: Final = os.O_NOFOLLOW | os.O_CLOEXEC
# A pipe in a file's place would hold up whoever opens it.
_READ: Final = os.O_RDONLY | os.O_NONBLOCK | _NEVER_A_LINK


class FolderUnfit(Exception):
    """The folder, or something in it, is not what may be worked with; the text says why."""


class FolderBusy(Exception):
    """Another process works in the folder."""


class Folder:
    """One folder, held open. Use it in a `with` block, or `close` it.

    Raises `FolderUnfit` for a link or anything else than a folder. With `create`, one that is missing is made
    for its owner alone, as are all files: what is written here is what people said.
    """

    def __init__(self, path: Path, *, create: bool) -> None:
        self.path = path
        if create:
            with suppress(FileExistsError):
                path.mkdir(mode=_PRIVATE_FOLDER)
        try:
            self._folder = os.open(path, os.O_RDONLY | os.O_DIRECTORY | _NEVER_A_LINK)
        except OSError as failure:
            if failure.errno in (errno.ELOOP, errno.ENOTDIR):
                raise FolderUnfit(f"{path} is a link or no folder.") from None
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the folder."""
        os.close(self._folder)

    @contextmanager
    def locked(self, name: str) -> Iterator[None]:
        """Hold one of the locks; it is let go when the process dies. Raises `FolderBusy`."""
        # The lock opens by path: what stands there is looked at first.
        os.close(self._open(name, os.O_RDWR | os.O_CREAT | os.O_NONBLOCK | _NEVER_A_LINK))
        lock = FileLock(self.path / name, timeout=_LOCK_SECONDS_MAX, mode=_PRIVATE_FILE)
        try:
            lock.acquire()
        except Timeout:
            raise FolderBusy(f"Another process has held {name} for {_LOCK_SECONDS_MAX} s.") from None
        try:
            yield
        finally:
            lock.release()

    def read(self, name: str, *, start: int = 0) -> bytes | None:
        """Answer a file's bytes from a position on, or `None` when there is no such file."""
        try:
            descriptor = self._open(name, _READ)
        except FileNotFoundError:
            return None
        with os.fdopen(descriptor, "rb") as file:
            if os.fstat(descriptor).st_size > FILE_BYTES_MAX:
                raise FolderUnfit(f"{name} is larger than {FILE_BYTES_MAX} bytes.")
            file.seek(start)
            return file.read()

    def size(self, name: str) -> int:
        """Answer a file's size in bytes, 0 when there is no such file."""
        try:
            descriptor = self._open(name, _READ)
        except FileNotFoundError:
            return 0
        try:
            return os.fstat(descriptor).st_size
        finally:
            os.close(descriptor)

    def replace(self, name: str, content: bytes, *, point: str | None = None) -> None:
        """Put a whole file in place of what stood there: readers see one or the other, even after a crash.

        `point` names the fail points before and after.
        """
        written = f".{name.removeprefix('.')}.new"
        with suppress(FileNotFoundError):
            # Left by a process that died; one folder lock, so nobody writes it now.
            os.unlink(written, dir_fd=self._folder)
        descriptor = self._open(written, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NEVER_A_LINK)
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(descriptor)
        if point is not None:
            hit(f"{point}.before_replace")
        os.rename(written, name, src_dir_fd=self._folder, dst_dir_fd=self._folder)
        os.fsync(self._folder)
        if point is not None:
            hit(f"{point}.after_replace")

    def append(self, name: str, content: bytes) -> int:
        """Add bytes at a file's end and wait until they rest there; answer the file's size then."""
        descriptor = self._open(name, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NONBLOCK | _NEVER_A_LINK)
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(descriptor)
            size = os.fstat(descriptor).st_size
        os.fsync(self._folder)
        return size

    def cut(self, name: str, size: int) -> None:
        """Take away everything of a file beyond `size` bytes."""
        descriptor = self._open(name, os.O_WRONLY | os.O_NONBLOCK | _NEVER_A_LINK)
        try:
            os.ftruncate(descriptor, size)
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

    def _open(self, name: str, flags: int) -> int:
        try:
            descriptor = os.open(name, flags, _PRIVATE_FILE, dir_fd=self._folder)
        except FileNotFoundError:
            raise
        except OSError as failure:
            raise _unfit(name, failure) from None
        found = os.fstat(descriptor)
        # A second name of a file may stand outside: writing here would write there.
        if not stat.S_ISREG(found.st_mode) or found.st_nlink > 1:
            os.close(descriptor)
            raise FolderUnfit(f"{name} is no plain file of this folder.")
        return descriptor


def _unfit(name: str, failure: OSError) -> Exception:
    if failure.errno in (errno.ELOOP, errno.EISDIR, errno.ENXIO, errno.EMLINK):
        return FolderUnfit(f"{name} is no plain file of this folder.")
    return failure
