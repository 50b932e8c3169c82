"""When a memory is true, and which moments a question asks about. Pure."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final


@dataclass(frozen=True, slots=True)
class Validity:
    """When something is true: `since` that moment and `until` before that one. `None`: without that bound."""

    since: datetime | None = None
    until: datetime | None = None


ALWAYS: Final = Validity()


@dataclass(frozen=True, slots=True)
class Moment:
    """What a question is about: what is true at `as_of`, as far as it was known at `known_at`.

    `known_at=None` asks what is known now. `as_of=None` leaves open when it is true, which a search or a
    package reads as now.
    """

    as_of: datetime | None = None
    known_at: datetime | None = None


PRESENT: Final = Moment()
