"""Workers that take long messages apart from requests, so that no client waits: commands, and erasures.

Each takes one message of one tenant at a time and goes on to the next tenant. No two work for one tenant at
once: its commands go out in order, and however slow its downstream is, it holds up one worker and no more.
"""

import threading
from collections.abc import Callable, Sequence
from typing import Final

import structlog

from service.jobs.relay import SWEEP_SECONDS, Relay

WORKERS: Final = 8
"""So many tenants' downstreams may be slow before the others wait for them."""
_REST_SECONDS: Final = SWEEP_SECONDS * WORKERS
"""How long all but the first worker rest when nobody wakes them: one looks often enough for all."""

_log = structlog.get_logger(__name__)


class DeliveryWorkers:
    """Threads over one relay. `tenant_ids` answers the tenants that may have something to deliver."""

    def __init__(
        self,
        relay: Relay,
        tenant_ids: Callable[[], Sequence[str]],
        *,
        workers: int = WORKERS,
        name: str = "effect-delivery",
    ) -> None:
        self._relay = relay
        self._workers = workers
        self._name = name
        self._tenant_ids = tenant_ids
        self._guard = threading.Lock()
        self._busy: set[str] = set()
        self._stopping = threading.Event()
        self._woken = threading.Event()
        self._threads: list[threading.Thread] = []

    def start(self) -> None:
        """Deliver in threads until `stop` is called. Starting twice does nothing."""
        if self._threads:
            return
        self._stopping.clear()
        self._threads = [
            threading.Thread(
                target=self._work,
                args=[_REST_SECONDS if number else SWEEP_SECONDS],
                name=f"{self._name}-{number}",
                daemon=True,
            )
            for number in range(self._workers)
        ]
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """End the threads and wait until each has ended the call that it is in."""
        self._stopping.set()
        self._woken.set()
        for thread in self._threads:
            thread.join()
        self._threads = []

    def wake(self) -> None:
        """Say that something may have been staged: a worker looks at once rather than at the next sweep."""
        self._woken.set()

    def sweep(self) -> int:
        """Try what is due, a message of each tenant in turn, until nothing is; answer how many those were."""
        tried = 0
        while not self._stopping.is_set():
            found = sum(self._deliver_next(tenant_id) for tenant_id in self._tenant_ids())
            if not found:
                break
            tried += found
            # There may be more than one worker can do.
            self.wake()
        return tried

    def _work(self, rest_seconds: float) -> None:
        while not self._stopping.is_set():
            try:
                self.sweep()
            except Exception as failure:  # noqa: BLE001 - a worker outlives whatever the record suffers
                _log.warning("sweep_failed", failure=type(failure).__name__)
            self._woken.wait(rest_seconds)
            if not self._stopping.is_set():
                self._woken.clear()

    def _deliver_next(self, tenant_id: str) -> bool:
        with self._guard:
            if tenant_id in self._busy:
                return False
            self._busy.add(tenant_id)
        try:
            return self._relay.deliver_next(tenant_id)
        finally:
            with self._guard:
                self._busy.discard(tenant_id)
