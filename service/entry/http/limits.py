"""How often one credential may call, counted in this process."""

import math
import time
from typing import Final

from limits import RateLimitItemPerMinute
from limits.storage import MemoryStorage
from limits.strategies import SlidingWindowCounterRateLimiter
from starlette.types import ASGIApp, Receive, Scope, Send

from service.core.errors import TooMany
from service.entry.http.state import state_of

_RETRY_SECONDS_MAX: Final = 60


class RateLimit:
    """ASGI layer, within authentication: 429 once a credential has used up its minute.

    A sliding window of two counters: constant memory for each credential, and no burst of twice the limit at
    the turn of a minute. Each process counts for itself; the documented limit is one process's.
    """

    def __init__(self, app: ASGIApp, requests_per_minute: int) -> None:
        self._app = app
        self._limit = RateLimitItemPerMinute(requests_per_minute)
        self._limiter = SlidingWindowCounterRateLimiter(MemoryStorage())

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Count the request of a known caller; public paths have none."""
        if scope["type"] == "http":
            caller = state_of(scope).known_caller
            if caller is not None:
                self._count(caller.tenant_id, caller.credential_id)
        await self._app(scope, receive, send)

    def _count(self, *names: str) -> None:
        if self._limiter.hit(self._limit, *names):
            return
        reset_at = self._limiter.get_window_stats(self._limit, *names).reset_time
        wait = min(_RETRY_SECONDS_MAX, max(1, math.ceil(reset_at - time.time())))
        raise TooMany("This credential's requests for this minute are used up.", retry_after_seconds=wait)
