"""Following a run until told to stop: pulls again and again, more rarely while nothing changes."""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Final

import httpx

from service.client import Problem
from service.entry.handoff.folder import FolderBusy
from service.entry.handoff.pull import Pulled

WAIT_SECONDS_MIN: Final = 1.0
WAIT_SECONDS_MAX: Final = 30.0
_GROWTH: Final = 1.5
_PASSING: Final = frozenset({429, 500, 502, 503, 504})


class _Told(BaseException):
    """The signal to stop came while nothing was being written."""


class Stop:
    """Whether a signal to stop has come. It breaks off waits and calls, and never a file that is written."""

    def __init__(self) -> None:
        self._told = threading.Event()
        self._breakable = False

    def listen(self) -> None:
        """Take SIGINT and SIGTERM as the word to stop."""
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self._hear)

    def tell(self) -> None:
        """Ask for the end."""
        self._told.set()

    @property
    def is_told(self) -> bool:
        """Whether it is to end."""
        return self._told.is_set()

    @contextmanager
    def breakable(self) -> Iterator[None]:
        """Open a stretch in which the signal ends the work at once."""
        self._breakable = True
        try:
            if self.is_told:
                raise _Told
            yield
        finally:
            self._breakable = False

    def wait(self, seconds: float) -> None:
        """Wait, or less when it is to end."""
        self._told.wait(seconds)

    def _hear(self, _signal: int, _frame: FrameType | None) -> None:
        self._told.set()
        if self._breakable:
            raise _Told


def follow(
    pull: Callable[[], Pulled], stop: Stop, *, tell: Callable[[Pulled], None], warn: Callable[[str], None]
) -> None:
    """Pull until told to stop, and tell of each change.

    While the service or the folder is busy or away, it is tried again, more and more rarely; that is said
    once. Raises what no waiting helps against.
    """
    wait, is_away = WAIT_SECONDS_MIN, False
    with suppress(_Told):
        while not stop.is_told:
            try:
                pulled = pull()
            except (Problem, httpx.TransportError, FolderBusy) as failure:
                if isinstance(failure, Problem) and failure.status not in _PASSING:
                    raise
                if not is_away:
                    warn(f"Trying again until it works: {_words(failure)}")
                is_away = True
                wait = _longer(wait, getattr(failure, "retry_after_seconds", None))
            else:
                is_away = False
                wait = WAIT_SECONDS_MIN if pulled.is_news else _longer(wait)
                if pulled.is_news:
                    tell(pulled)
            stop.wait(wait)


def _longer(wait: float, asked: int | None = None) -> float:
    return min(WAIT_SECONDS_MAX, max(wait * _GROWTH, float(asked or 0)))


def _words(failure: Exception) -> str:
    if isinstance(failure, httpx.TransportError):
        return f"the service does not answer ({type(failure).__name__})"
    return str(failure)
