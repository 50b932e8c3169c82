"""The service as a folder sees it: three calls that may be broken off, and what their failures mean."""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field

from service.client import LogPage, Muniment
from service.wire.work import LogStep, StepAnswer


@dataclass(frozen=True, slots=True)
class Calls:
    """Makes the calls of one run. `breakable` opens the only stretches in which a signal may end the work."""

    client: Muniment
    execution_id: str
    fencing_token: int | None = None
    breakable: Callable[[], AbstractContextManager[None]] = field(default=nullcontext)

    def read_log(self, after: str | None) -> LogPage:
        """Read the lines that follow one, from the beginning without it."""
        with self.breakable():
            return self.client.read_log(self.execution_id, after=after)

    def read_next_steps(self) -> str:
        """Read the handoff in words."""
        with self.breakable():
            return self.client.read_next_steps(self.execution_id)

    def log_step(self, step: LogStep, key: str) -> StepAnswer:
        """Write one line, once under its key."""
        with self.breakable():
            return self.client.log_step(
                self.execution_id, step, idempotency_key=key, fencing_token=self.fencing_token
            )
