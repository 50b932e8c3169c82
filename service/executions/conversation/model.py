"""Turns, pins and summaries."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from service.executions.model import PinnedSource


class TurnRole(StrEnum):
    """Who speaks, as the chat formats name it."""

    SYSTEM = "system"
    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"


class PinKind(StrEnum):
    """What a pin holds on to."""

    CONSTRAINT = "constraint"
    DECISION = "decision"
    QUESTION = "question"
    HYPOTHESIS = "hypothesis"
    BLOCKER = "blocker"


@dataclass(frozen=True, slots=True)
class NewTurn:
    """One message as it was sent. `pin` takes the whole text out as a pin of that kind."""

    role: TurnRole
    text: str = ""
    tool_call_id: str | None = None
    tool_calls: tuple[Mapping[str, Any], ...] = ()
    pin: PinKind | None = None


@dataclass(frozen=True, slots=True)
class Turn:
    """One message of a run's conversation: a record that it was said, and no more than that.

    `sequence` starts at 1 in each run. `said_by` is the acting user; `relayed` says that an agent sent it.
    `text` is `None` where the retention class keeps none, it was erased, or the caller may not read it.
    `tokens` counts the text (o200k_base). `text_hash` is keyed, of text and tool calls: within the
    tenant it is equal where both are.
    """

    id: str
    execution_id: str
    sequence: int
    role: TurnRole
    text: str | None
    tool_calls: Sequence[Mapping[str, Any]]
    tool_call_id: str | None
    tokens: int
    relayed: bool
    said_by: str
    agent: str | None
    text_hash: str
    at: datetime

    @property
    def is_claim(self) -> bool:
        """Whether a model said it: such a statement is never a fact by itself."""
        return self.role is TurnRole.ASSISTANT


@dataclass(frozen=True, slots=True)
class Pin:
    """A constraint, decision, question, hypothesis or blocker with the turns that it comes from."""

    id: str
    execution_id: str
    kind: PinKind
    text: str | None
    turn_ids: Sequence[str]
    relayed: bool
    resolved: bool
    resolution: str | None
    by: str
    at: datetime
    resolved_at: datetime | None


@dataclass(frozen=True, slots=True)
class NewSummary:
    """A summary as it was sent."""

    from_sequence: int
    to_sequence: int
    text: str
    model: str
    supersedes: str | None = None
    derived_from: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Summary:
    """A summary of the turns `from_sequence` to `to_sequence`, both included, and the model that wrote it.

    It never outranks the turns under it. `version` counts the summaries of the run, `sources` are what it
    rests on beside the turns, as they stood then.
    """

    id: str
    execution_id: str
    version: int
    from_sequence: int
    to_sequence: int
    text: str | None
    model: str
    tokens: int
    supersedes: str | None
    sources: Sequence[PinnedSource]
    at: datetime
    quarantined: bool = False
    """Whether a quarantine keeps it out of histories and later summaries."""

    @property
    def derived_from(self) -> tuple[str, ...]:
        """The references to what it rests on."""
        return tuple(source.ref for source in self.sources)
