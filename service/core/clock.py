"""Time, handed in: capabilities take a `Clock` and never ask the machine."""

from collections.abc import Callable
from datetime import UTC, datetime

Clock = Callable[[], datetime]
"""Answers the present moment as an aware UTC time."""


def system_clock() -> datetime:
    """Answer the machine's time in UTC."""
    return datetime.now(UTC)  # noqa: TID251 - the one place that asks the machine


def to_utc(moment: datetime) -> datetime:
    """Answer the same moment in UTC. Raises `ValueError` for a naive time: its zone would be a guess."""
    if moment.tzinfo is None:
        raise ValueError("a time without an offset cannot be placed")
    return moment.astimezone(UTC)


def format_time(moment: datetime) -> str:
    """Answer RFC 3339 in UTC with `Z` and microseconds only where there are any."""
    return to_utc(moment).isoformat().replace("+00:00", "Z")
