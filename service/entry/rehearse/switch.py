"""The switch: sees each call of the agent, writes it down, and kills where the evaluator chose."""

import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from service.entry.rehearse.acts import read_act, read_operation
from service.entry.rehearse.model import Call, Channel, Fate, Fault, KillPoint, Moment
from service.entry.rehearse.routes import Routes

CALLS_MAX = 100_000
"""A trial that makes more calls than this goes on unseen no longer: it is stopped."""


class Cut(Exception):
    """The agent is dead, or was killed by this very call: nothing more is passed on or answered."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back for a call."""

    status: int
    body: bytes
    is_replay: bool = False
    """Whether the service had answered it before: nothing was done again."""


@dataclass(frozen=True, slots=True)
class Ticket:
    """A call that was let through: its place in the record, and what is needed to end it."""

    index: int
    occurrence: int
    session: int


Listener = Callable[[Call, bytes, Answer], None]
"""Told of each answer before the agent gets it: the call, its body, the answer."""


class Switch:
    """Shared by the proxy and the downstream of one trial; safe in many threads.

    One session (process of the agent) lives at a time. What comes from a dead one is refused: the kernel may
    still deliver what was sent before the kill.
    """

    def __init__(self, routes: Routes, kills: Sequence[KillPoint] = ()) -> None:
        self._routes = routes
        self._waiting = list(kills)
        self._listeners: list[Listener] = []
        self._lock = threading.Lock()
        self._calls: list[Call] = []
        self._faults: list[Fault] = []
        self._seen: Counter[str] = Counter()
        self._session = 0
        self._kill: Callable[[], None] | None = None
        self._timers: list[threading.Timer] = []
        self._origin = time.monotonic()

    def listen(self, listener: Listener) -> None:
        """Tell `listener` of every answer from now on, in the thread that brings it."""
        self._listeners.append(listener)

    def begin(self, kill: Callable[[], None]) -> int:
        """Let a new session in, which `kill` ends at once; answer its number."""
        with self._lock:
            if self._session == 0:
                self._origin = time.monotonic()
            self._session += 1
            self._kill = kill
            self._seen.clear()
            return self._session

    def end(self) -> None:
        """Refuse what may still come from the present session."""
        with self._lock:
            self._kill = None
            timers, self._timers = self._timers, []
        for timer in timers:
            timer.cancel()

    @property
    def seconds(self) -> float:
        """Seconds since the first session began."""
        return time.monotonic() - self._origin

    @property
    def calls(self) -> tuple[Call, ...]:
        """What was seen so far."""
        with self._lock:
            return tuple(self._calls)

    @property
    def faults(self) -> tuple[Fault, ...]:
        """What failed on the way, apart from the agent."""
        with self._lock:
            return tuple(self._faults)

    @property
    def unreached(self) -> tuple[KillPoint, ...]:
        """Kill points that have not struck."""
        with self._lock:
            return tuple(self._waiting)

    def blame(self, fault: Fault) -> None:
        """Note a failure that is not the agent's."""
        with self._lock:
            self._faults.append(fault)

    def arrive(self, channel: Channel, method: str, path: str, body: bytes) -> Ticket:
        """Write down a call that is about to be passed on. Raises `Cut` where the agent dies before that."""
        pattern = self._routes.pattern(channel, method, path)
        act, operation_id = read_act(channel, pattern, path, body), read_operation(pattern, body)
        with self._lock:
            if self._kill is None or len(self._calls) >= CALLS_MAX:
                raise Cut
            self._seen[pattern] += 1
            occurrence = self._seen[pattern]
            now = time.monotonic() - self._origin
            number = len(self._calls) + 1
            call = Call(
                number=number,
                session=self._session,
                channel=channel,
                pattern=pattern,
                path=path,
                started_seconds=now,
                ended_seconds=now,
                fate=Fate.LOST,
                act=act,
                operation_id=operation_id,
            )
            is_cut = self._strikes(Moment.BEFORE, pattern, occurrence)
            self._calls.append(replace(call, fate=Fate.CUT_BEFORE) if is_cut else call)
            if is_cut:
                self._strike()
                raise Cut
            return Ticket(number - 1, occurrence, self._session)

    def settle(self, ticket: Ticket, body: bytes, answer: Answer) -> None:
        """Write down what a call brought. Raises `Cut` where the agent dies without the answer."""
        with self._lock:
            now = time.monotonic() - self._origin
            call = replace(self._calls[ticket.index], status=answer.status, ended_seconds=now)
            if answer.is_replay:
                call = replace(call, act=None)
            is_dead = self._kill is None or self._session != ticket.session
            is_cut = not is_dead and self._strikes(Moment.AFTER, call.pattern, ticket.occurrence)
            fate = Fate.CUT_AFTER if is_dead or is_cut else Fate.ANSWERED
            self._calls[ticket.index] = call = replace(call, fate=fate)
            if is_cut:
                self._strike()
        for listener in self._listeners:
            listener(call, body, answer)
        if fate is Fate.CUT_AFTER:
            raise Cut

    def deliver(self, ticket: Ticket) -> None:
        """Say that the agent has the answer: from now on it thinks."""
        with self._lock:
            pattern = self._calls[ticket.index].pattern
            if self._kill is None or not self._strikes(
                Moment.THINKING, pattern, ticket.occurrence, keep=True
            ):
                return
            timer = threading.Timer(self._waiting[0].delay_seconds, self._strike_thinking, [ticket.session])
            timer.daemon = True
            self._timers.append(timer)
            timer.start()

    def _strikes(self, moment: Moment, pattern: str, occurrence: int, *, keep: bool = False) -> bool:
        """Say whether the next kill point is here, and take it off the list unless it is to `keep`."""
        if not self._waiting:
            return False
        point = self._waiting[0]
        found = (point.moment, point.pattern, point.occurrence) == (moment, pattern, occurrence)
        if found and not keep:
            self._waiting.pop(0)
        return found

    def _strike(self) -> None:
        kill, self._kill = self._kill, None
        if kill is not None:
            # A process that ended by itself in this very moment is as dead as it should be.
            with suppress(ProcessLookupError):
                kill()

    def _strike_thinking(self, session: int) -> None:
        with self._lock:
            if self._session == session and self._kill is not None:
                self._waiting.pop(0)
                self._strike()
