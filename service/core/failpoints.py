"""Named points where a test may stop the process exactly where it hurts.

Nothing is armed unless the `failpoints` setting says so, and then `hit` costs one dictionary look-up.
"""

import os
import signal
from collections.abc import Mapping
from enum import StrEnum


class Action(StrEnum):
    """What happens when an armed point is reached."""

    KILL = "kill"
    RAISE = "raise"


class FailpointReached(RuntimeError):
    """Raised at a point that is armed to raise."""


_armed: dict[str, Action] = {}


def arm(points: Mapping[str, Action]) -> None:
    """Replace what is armed. Called once by the wiring, and by tests."""
    _armed.clear()
    _armed.update(points)


def hit(name: str) -> None:
    """Do nothing, unless `name` is armed: then die by SIGKILL or raise `FailpointReached`."""
    action = _armed.get(name)
    if action is Action.KILL:
        os.kill(os.getpid(), signal.SIGKILL)
    elif action is Action.RAISE:
        raise FailpointReached(name)
