"""Shapes of what was said in a run: turns, pins, summaries."""

from typing import Annotated, Any, Literal

from pydantic import Field

from service.wire.executions import Reference
from service.wire.scalars import Answer, Id, Name, Request, Text, When

PinKind = Literal["constraint", "decision", "question", "hypothesis", "blocker"]
"""What a pin holds on to."""

PinText = Annotated[Text, Field(min_length=1, max_length=8_000)]
"""The text of a pin or of its resolution."""

Sequence = Annotated[int, Field(ge=1, le=1_000_000_000)]
"""A turn's number in its run."""


class PinOfTurn(Request):
    """Takes the turn's whole text out as a pin."""

    kind: PinKind


class AddTurn(Request):
    """One message of the conversation."""

    role: Literal["system", "user", "assistant", "tool"]
    text: Annotated[Text, Field(max_length=500_000)] = ""
    tool_call_id: Annotated[Reference, Field(max_length=200)] | None = None
    tool_calls: Annotated[list[dict[str, Any]], Field(max_length=64)] | None = None
    pin: PinOfTurn | None = None


class TurnAnswer(Answer):
    """A kept turn. `relayed` says that an agent sent it in its user's name."""

    id: str
    sequence: int
    role: Literal["system", "user", "assistant", "tool"]
    tokens: int
    relayed: bool
    pin_id: str | None
    at: When


class SetPin(Request):
    """A pin with the turns that it comes from."""

    kind: PinKind
    text: PinText
    turns: Annotated[tuple[Id, ...], Field(max_length=100)] = ()


class ResolvePin(Request):
    """Whether a pin is settled, and how."""

    resolved: bool
    resolution: PinText | None = None


class PinAnswer(Answer):
    """A pin."""

    id: str
    kind: PinKind
    text: str | None
    turns: list[str]
    relayed: bool
    resolved: bool
    resolution: str | None
    at: When
    resolved_at: When | None


class AddSummary(Request):
    """A summary of a range of turns, both ends included, and the model that wrote it.

    Without `text` the service writes it: over the range or, without one, over all that was said, in place of
    the newest summary. `max_tokens` then bounds the sentences; what must survive comes on top. `model` may
    name who is to write them.
    """

    from_sequence: Sequence | None = None
    to_sequence: Sequence | None = None
    text: Annotated[Text, Field(min_length=1, max_length=200_000)] | None = None
    model: Name | None = None
    supersedes: Id | None = None
    derived_from: Annotated[tuple[Reference, ...], Field(max_length=500)] = ()
    max_tokens: Annotated[int, Field(ge=50, le=4_000)] | None = None


class SummaryAnswer(Answer):
    """A kept summary. `text` is `null` where the run's retention class keeps none."""

    id: str
    version: int
    from_sequence: int
    to_sequence: int
    model: str
    tokens: int
    supersedes: str | None
    derived_from: list[str]
    text: str | None
    at: When
