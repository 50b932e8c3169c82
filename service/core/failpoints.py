"""Named points where a test may stop the process exactly where it hurts.

Nothing is armed unless the `failpoints` setting says so, and then `hit` costs one dictionary look-up.
"""

import os
import re
import signal
import threading
from collections.abc import Mapping
from enum import StrEnum
from typing import Final

_WRITTEN: Final = re.compile(r"(kill|raise)(?:@([1-9][0-9]{0,5}))?")


class Action(StrEnum):
    """What happens when an armed point is reached."""

    KILL = "kill"
    RAISE = "raise"


class FailpointReached(RuntimeError):
    """Raised at a point that is armed to raise."""


_armed: dict[str, tuple[Action, int]] = {}
_lock: Final = threading.Lock()


def arm(points: Mapping[str, str]) -> None:
    """Replace what is armed. Called once by the wiring, and by tests.

    Each value is `kill` or `raise`, at the first time that the point is reached, or `kill@3`, at the third.
    Raises `ValueError` for anything else.
    """
    armed = {name: _read(text) for name, text in points.items()}
    with _lock:
        _armed.clear()
        _armed.update(armed)


def hit(name: str) -> None:
    """Do nothing, unless `name` is armed: then die by SIGKILL or raise `FailpointReached`."""
    if name not in _armed:
        return
    with _lock:
        action, remaining = _armed[name]
        # A point that raises goes on raising: what it stands for is down.
        _armed[name] = (action, max(1, remaining - 1))
    if remaining > 1:
        return
    if action is Action.KILL:
        os.kill(os.getpid(), signal.SIGKILL)
    raise FailpointReached(name)


def _read(text: str) -> tuple[Action, int]:
    found = _WRITTEN.fullmatch(text)
    if found is None:
        raise ValueError("a fail point is kill or raise, perhaps with @ and the number of the hit")
    return Action(found[1]), int(found[2] or 1)
