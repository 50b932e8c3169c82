"""The outbox relay: hands staged messages to their handlers, one drain of a tenant at a time."""

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from itertools import groupby
from typing import Final, Protocol
from weakref import WeakValueDictionary

import structlog

from service.core.clock import Clock
from service.core.database import Database
from service.core.errors import Unavailable
from service.core.failpoints import hit
from service.core.outbox import Message, Outbox

BATCH_MESSAGES: Final = 256
SWEEP_SECONDS: Final = 1.0
"""How long a message that no request delivered waits for the sweep, at most."""
_OTHERS_SECONDS_MAX: Final = 0.5
_OTHERS_POLL_SECONDS: Final = 0.01

_log = structlog.get_logger(__name__)


class Handler(Protocol):
    """Brings something in line with the record, for all of a run of messages at once.

    Called outside any transaction, at least once for each message, perhaps twice at once and out of order.
    Raises `core.errors.Unavailable` when what it needs does not answer: that postpones and never kills.
    """

    def __call__(self, tenant_id: str, messages: Sequence[Message]) -> None:
        """Handle messages of one topic, in the order of staging."""
        ...


class Chore(Protocol):
    """Something to be done for each tenant from time to time. It knows itself when it was done last."""

    def __call__(self, tenant_id: str) -> None:
        """Do it if it is due. Called by each sweep, so it says quickly that it is not."""
        ...


class Relay:
    """Delivers messages: a request's own right after its commit, and by a sweep what is left over.

    `tenant_ids` answers all tenants, for the sweep, which also does the `chores`. `fails_apart` says that
    what does not answer for one tenant says nothing about the others; otherwise nobody's messages are tried
    until it may answer again.
    """

    def __init__(
        self,
        database: Database,
        handlers: Mapping[str, Handler],
        clock: Clock,
        *,
        tenant_ids: Callable[[], Sequence[str]] = tuple,
        chores: Sequence[Chore] = (),
        fails_apart: bool = False,
    ) -> None:
        self._database = database
        self._handlers = dict(handlers)
        self._topics = tuple(sorted(handlers))
        self._clock = clock
        self._tenant_ids = tenant_ids
        self._chores = tuple(chores)
        self._fails_apart = fails_apart
        self._guard = threading.Lock()
        self._locks: WeakValueDictionary[str, threading.Lock] = WeakValueDictionary()
        self._paused: dict[tuple[str, str], tuple[datetime, str]] = {}
        self._stopping = threading.Event()
        self._thread: threading.Thread | None = None

    def drain(self, tenant_id: str) -> int:
        """Deliver all messages of the tenant that are due now; answer how many were delivered.

        Returns when everything that was staged before the call has been tried, by this call or by another
        that ran at the same time: so a caller reads its own writes. What fails stays for later; nothing
        is ever raised.
        """
        return self._drain_safely(tenant_id, wait_for_others=True)

    def deliver_next(self, tenant_id: str) -> bool:
        """Try the tenant's oldest message that is due, and say whether there was one. Nothing is raised.

        For handlers that take long: one message is all that is held meanwhile.
        """
        try:
            messages = self._claim(tenant_id, self._clock(), limit=1)
            for message in messages:
                self._deliver(tenant_id, message.topic, [message])
        except Exception as failure:  # noqa: BLE001 - the message stays, and is tried again
            _log.warning("drain_failed", failure=type(failure).__name__)
            return False
        return bool(messages)

    def sweep(self) -> int:
        """Drain every tenant once; answer how many messages were delivered."""
        delivered = 0
        for tenant_id in self._tenant_ids():
            if self._stopping.is_set():
                break
            delivered += self._drain_safely(tenant_id, wait_for_others=False)
            self._do_chores(tenant_id)
        return delivered

    def run_forever(self) -> None:
        """Sweep now and then every `SWEEP_SECONDS`, until `stop` is called."""
        while True:
            try:
                self.sweep()
            except Exception as failure:  # noqa: BLE001 - the sweep outlives whatever the record suffers
                _log.warning("sweep_failed", failure=type(failure).__name__)
            if self._stopping.wait(SWEEP_SECONDS):
                return

    def start(self) -> None:
        """Run `run_forever` in a thread of its own. Starting twice does nothing."""
        with self._guard:
            if self._thread is None:
                self._stopping.clear()
                self._thread = threading.Thread(target=self.run_forever, name="outbox-relay", daemon=True)
                self._thread.start()

    def stop(self) -> None:
        """End the sweep and wait for it. Stopping what does not run does nothing."""
        with self._guard:
            thread, self._thread = self._thread, None
        self._stopping.set()
        if thread is not None:
            thread.join()

    def _do_chores(self, tenant_id: str) -> None:
        for chore in self._chores:
            try:
                chore(tenant_id)
            except Exception as failure:  # noqa: BLE001 - one chore that fails holds up neither others nor messages
                _log.warning("chore_failed", chore=type(chore).__name__, failure=type(failure).__name__)

    def _drain_safely(self, tenant_id: str, *, wait_for_others: bool) -> int:
        try:
            with self._lock_of(tenant_id):
                started = self._clock()
                delivered = self._drain(tenant_id, started)
            if wait_for_others:
                self._wait_for_others(tenant_id, started)
        except Exception as failure:  # noqa: BLE001 - the messages stay; the caller's own work is committed
            _log.warning("drain_failed", failure=type(failure).__name__)
            return 0
        return delivered

    def _drain(self, tenant_id: str, started: datetime) -> int:
        delivered = 0
        while True:
            # Only what was due at the start: a busy tenant cannot keep one request for ever.
            messages = self._claim(tenant_id, started, limit=BATCH_MESSAGES)
            for topic, run in groupby(messages, key=lambda message: message.topic):
                delivered += self._deliver(tenant_id, topic, list(run))
            if len(messages) < BATCH_MESSAGES:
                return delivered

    def _claim(self, tenant_id: str, due_at: datetime, *, limit: int) -> Sequence[Message]:
        with self._database.read(tenant_id) as session:
            # Most often there is nothing, and that is seen without holding up a writer.
            if not Outbox(session, tenant_id).has_due(topics=self._topics, now=due_at):
                return ()
        with self._database.write(tenant_id) as session:
            return Outbox(session, tenant_id).claim(
                topics=self._topics, now=self._clock(), due_at=due_at, limit=limit
            )

    def _deliver(self, tenant_id: str, topic: str, run: Sequence[Message]) -> int:
        now = self._clock()
        scope = (tenant_id if self._fails_apart else "", topic)
        until, cause = self._paused.get(scope, (now, ""))
        if now < until:
            # Asking again what did not answer a moment ago would make each request wait for its time-out.
            self._postpone(tenant_id, run, cause, (until - now).total_seconds())
            return 0
        try:
            hit("outbox.before_delivery")
            self._handlers[topic](tenant_id, run)
            hit("outbox.after_delivery")
        except Unavailable as failure:
            seconds = failure.retry_after_seconds
            self._paused[scope] = (self._clock() + timedelta(seconds=seconds), type(failure).__name__)
            self._postpone(tenant_id, run, type(failure).__name__, seconds)
            return 0
        except (KeyboardInterrupt, SystemExit):
            raise
        except BaseException as failure:  # noqa: BLE001 - panics of native libraries are no Exception
            if len(run) > 1:
                # One of them is at fault, and the others need not wait with it.
                return sum(self._deliver(tenant_id, topic, [message]) for message in run)
            self._fail(tenant_id, run[0], type(failure).__name__)
            return 0
        self._paused.pop(scope, None)
        with self._database.write(tenant_id) as session:
            Outbox(session, tenant_id).done([message.id for message in run])
        return len(run)

    def _postpone(self, tenant_id: str, run: Sequence[Message], failure: str, seconds: float) -> None:
        _log.warning("delivery_postponed", topic=run[0].topic, messages=len(run), failure=failure)
        with self._database.write(tenant_id) as session:
            outbox = Outbox(session, tenant_id)
            for message in run:
                outbox.postponed(message, failure=failure, now=self._clock(), seconds=seconds)

    def _fail(self, tenant_id: str, message: Message, failure: str) -> None:
        _log.warning(
            "delivery_failed",
            topic=message.topic,
            message_id=message.id,
            attempts=message.attempts,
            failure=failure,
        )
        with self._database.write(tenant_id) as session:
            Outbox(session, tenant_id).failed(message, failure=failure, now=self._clock())

    def _wait_for_others(self, tenant_id: str, started: datetime) -> None:
        """Wait, but not for long, for messages that another process took before this one could."""
        if self._database.is_sqlite:
            # One process, and its other threads were waited for by the lock.
            return
        give_up = time.monotonic() + _OTHERS_SECONDS_MAX
        while time.monotonic() < give_up:
            with self._database.read(tenant_id) as session:
                if not Outbox(session, tenant_id).is_held(now=self._clock(), due_at=started):
                    return
            self._stopping.wait(_OTHERS_POLL_SECONDS)

    def _lock_of(self, tenant_id: str) -> threading.Lock:
        with self._guard:
            lock = self._locks.get(tenant_id)
            if lock is None:
                lock = self._locks[tenant_id] = threading.Lock()
            return lock
