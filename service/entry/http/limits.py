"""How often one credential may call, counted in this process."""

import math
import time
from threading import Lock
from typing import Final

from starlette.types import ASGIApp, Receive, Scope, Send

from service.core.errors import TooMany
from service.entry.http.state import state_of

WINDOW_SECONDS: Final = 60
COUNTED_MAX: Final = 10_000
"""Names that are counted before those that have been silent for a whole window are forgotten."""


class RateLimit:
    """ASGI layer, within authentication: 429 once a credential has used up its minute.

    Each process counts for itself; the documented limit is one process's.
    """

    def __init__(self, app: ASGIApp, requests_per_minute: int) -> None:
        self._app = app
        self._window = SlidingWindow(requests_per_minute)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Count the request of a known caller; public paths have none."""
        if scope["type"] == "http":
            caller = state_of(scope).known_caller
            if caller is not None:
                wait = self._window.hit((caller.tenant_id, caller.credential_id), time.time())
                if wait:
                    raise TooMany(
                        "This credential's requests for this minute are used up.",
                        retry_after_seconds=max(1, math.ceil(wait)),
                    )
        await self._app(scope, receive, send)


class SlidingWindow:
    """Lets about `calls_max` calls a minute through for each name, in constant memory for each.

    Two counters: this minute's, and the last one's, which counts less the longer ago it was: no
    burst of twice the limit at the turn of a minute. (The library that counts so starts a thread to clear up
    behind almost every call, which takes longer than all else here.)
    """

    def __init__(self, calls_max: int) -> None:
        self._calls_max = calls_max
        self._counts: dict[tuple[str, ...], tuple[int, int, int]] = {}
        self._lock = Lock()

    def hit(self, name: tuple[str, ...], now: float) -> float:
        """Count a call at `now` seconds and answer 0; or do not, and answer how many seconds to wait."""
        minute = int(now // WINDOW_SECONDS)
        left = 1 - now % WINDOW_SECONDS / WINDOW_SECONDS
        with self._lock:
            last, current = self._counted(name, minute)
            if last * left + current + 1 > self._calls_max:
                return self._wait(last, current, left)
            if name not in self._counts and len(self._counts) >= COUNTED_MAX:
                self._counts = {kept: count for kept, count in self._counts.items() if count[0] >= minute - 1}
            self._counts[name] = (minute, last, current + 1)
        return 0

    def __len__(self) -> int:
        """How many names are counted."""
        return len(self._counts)

    def _counted(self, name: tuple[str, ...], minute: int) -> tuple[int, int]:
        known, last, current = self._counts.get(name, (minute, 0, 0))
        if known == minute:
            return last, current
        return (current, 0) if known == minute - 1 else (0, 0)

    def _wait(self, last: int, current: int, left: float) -> float:
        """Answer the seconds until the last minute counts so little that one more fits, at most a window."""
        room = self._calls_max - current - 1
        share = left - room / last if room >= 0 else left
        return share * WINDOW_SECONDS
