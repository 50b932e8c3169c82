"""Months, years and days that a question names, held against the date of a conversation. Pure."""

import math
import re
from collections.abc import Sequence
from datetime import date, datetime
from typing import Final

_MONTHS: Final = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip
_MONTH: Final = re.compile(rf"\b(?:{'|'.join(_MONTHS)})\b")
_YEAR: Final = re.compile(r"\b(?:19|20)\d\d\b")
_DAY: Final = re.compile(r"\b(\d{1,2})(?:st|nd|rd|th)?\b")
_ISO: Final = re.compile(r"\b(\d{4})-(\d\d)-(\d\d)\b")
_DAYS_APART: Final = 3.0
"""A day named counts less by a factor e for each so many days that lie between."""
_SAME_MONTH: Final = 0.4
"""What is left for another day of the right month."""


def date_of(title: str, observed_at: datetime) -> date:
    """Answer the day that a title names (`8 May, 2023`, `2023-05-08`), else that of the observation."""
    written = _ISO.search(title)
    month, year = _MONTH.search(title), _YEAR.search(title)
    try:
        if written:
            return date(*(int(part) for part in written.groups()))
        if month and year:
            days = [int(day) for day in _DAY.findall(f"{title[: year.start()]} {title[year.end() :]}")]
            # A time of day may stand before it: the day is the number closest to the month.
            near = [int(day) for day in _DAY.findall(title[max(0, month.start() - 6) : month.end() + 5])]
            return date(int(year.group()), _MONTHS.index(month.group()) + 1, (near or days or [1])[0])
    except ValueError:
        pass
    return observed_at.date()


def match_dates(query: str, dates: Sequence[date]) -> list[float]:
    """Answer from 0 to 1 how well each date is one that the query names; zeros where it names none."""
    months = {_MONTHS.index(name) + 1 for name in _MONTH.findall(query)}
    years = {int(year) for year in _YEAR.findall(query)}
    days = {int(day) for day in _DAY.findall(query)} - {0} if months else set()
    if not months:
        return [0.0] * len(dates)
    return [_match(one, months, years, days) for one in dates]


def _match(one: date, months: set[int], years: set[int], days: set[int]) -> float:
    if one.month not in months or (years and one.year not in years):
        return 0.0
    if not days:
        return 1.0
    apart = min(abs(one.day - day) for day in days)
    return _SAME_MONTH + (1 - _SAME_MONTH) * math.exp(-apart / _DAYS_APART)
