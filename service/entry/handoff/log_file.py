"""The log of a folder: whole lines only, read and added to under its lock."""

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Final, Self

from service.core.failpoints import hit
from service.entry.handoff.folder import LOG, LOG_LOCK, TORN, Folder
from service.entry.handoff.lines import LINE_BYTES_MAX, is_whole

_WAITS_MAX: Final = 10
_WAIT_SECONDS: Final = 0.1
"""Somebody who appends without the lock gets so long to end a line before its rest counts as torn."""


class LogFile:
    """The log while its lock is held, mended: it ends with a whole line, or is empty."""

    def __init__(self, folder: Folder) -> None:
        self._folder = folder

    @classmethod
    @contextmanager
    def held(cls, folder: Folder) -> Iterator[Self]:
        """Hold the log and mend it. Raises `FolderBusy`."""
        with folder.locked(LOG_LOCK):
            log = cls(folder)
            log._mend()
            yield log

    @property
    def size(self) -> int:
        """The log's size in bytes."""
        return self._folder.size(LOG)

    def read(self, *, start: int = 0) -> bytes:
        """Answer the log's bytes from the beginning of a line on."""
        return self._folder.read(LOG, start=start) or b""

    def add(self, lines: Sequence[bytes]) -> None:
        """Add whole lines, given without their line breaks."""
        hit("handoff.before_append")
        self._folder.append(LOG, b"".join(line + b"\n" for line in lines))
        hit("handoff.after_append")

    def _mend(self) -> None:
        """Give a last line its line break, or take it away and keep it apart when it is only part of one."""
        waits = 0
        while True:
            size = self.size
            end = self._folder.read(LOG, start=max(0, size - LINE_BYTES_MAX)) or b""
            if not end or end.endswith(b"\n"):
                return
            rest = end.rpartition(b"\n")[2]
            if is_whole(rest):
                self._folder.append(LOG, b"\n")
            elif waits < _WAITS_MAX and self._grows(size, waits):
                waits += 1
            else:
                self._folder.append(TORN, rest + b"\n")
                self._folder.cut(LOG, size - len(rest))

    def _grows(self, size: int, waits: int) -> bool:
        # The first look is always worth a wait; after it only a log that grows has a writer.
        time.sleep(_WAIT_SECONDS)
        return waits == 0 or self.size != size
