"""The execution log as JSON Lines: from any line on, in answers of bounded size."""

from dataclasses import dataclass
from typing import Final

from service.core.paging import CursorInvalid
from service.entry.http.executions_shapes import log_line
from service.executions.store import ExecutionStore

LOG_BYTES_MAX: Final = 8 * 1024 * 1024
"""An answer ends with the line that passes this. Most lines are a few hundred bytes, none is 400 KB."""
_LINES_READ_AT_ONCE: Final = 200


@dataclass(frozen=True, slots=True)
class LogLines:
    """Lines, each with its line break. `next_after` is the last one's id where more follow, else `None`."""

    text: str
    next_after: str | None


def read_lines(execution_id: str, *, after: str | None, limit: int, store: ExecutionStore) -> LogLines:
    """Answer up to `limit` lines that follow the one of the id `after`, without it from the first.

    Raises `NotFound`, and `CursorInvalid` when the run has no such line.
    """
    lines: list[str] = []
    last, size = after, 0
    while True:
        wanted = min(_LINES_READ_AT_ONCE, limit - len(lines)) + 1
        steps = store.steps_after(execution_id, last, count=wanted)
        if steps is None:
            raise CursorInvalid("The run's log has no line of that id.", pointer="/after")
        for step in steps[: wanted - 1]:
            line = f"{log_line(step).model_dump_json()}\n"
            lines.append(line)
            last, size = step.id, size + len(line.encode())
            if size > LOG_BYTES_MAX:
                break
        more = bool(steps) and steps[-1].id != last
        if not more or size > LOG_BYTES_MAX or len(lines) == limit:
            return LogLines("".join(lines), last if more else None)
