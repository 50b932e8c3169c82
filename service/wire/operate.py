"""Shapes of what operators do to a run, and of what they see of it."""

from typing import Annotated

from pydantic import Field

from service.wire.scalars import Answer, Request, Text, When


class Intervene(Request):
    """Why a run is cancelled or retried. It is kept sealed, and is neither logged nor audited."""

    reason: Annotated[Text, Field(min_length=1, max_length=2_000, pattern=r"\S")]


class HappeningAnswer(Answer):
    """One thing that happened in a run. `details` are ids, codes and numbers."""

    at: When
    kind: str
    actor: str
    what: str
    ref: str
    details: dict[str, str | int | bool | list[str] | None]


class TimelinePage(Answer):
    """A page of what happened, oldest first."""

    items: list[HappeningAnswer]
    next_cursor: str | None
