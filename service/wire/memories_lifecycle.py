"""Shapes of what happens to a memory after it was kept: corrections, history, pauses, refusals."""

from typing import Annotated, Any, Literal

from pydantic import Field

from service.wire.memories import ProvenanceShape, ReasonAnswer, Value
from service.wire.scalars import Answer, Name, Request, ShortText, Text, When
from service.wire.validity import WithValidity


class CorrectMemory(WithValidity):
    """What a memory is to say from now on.

    Text and value replace the old ones together, and so do both ends of the time in which it is true. What
    is left out stays as it is.
    """

    text: Annotated[Text, Field(max_length=10_000)] | None = None
    value: Value | None = None
    confidence: Annotated[float, Field(ge=0, le=1)] | None = None
    provenance: Annotated[tuple[ProvenanceShape, ...], Field(max_length=20)] = ()
    reason: ShortText | None = None


class CorrectionAnswer(Answer):
    """The decision on a correction. `version` is the memory's current one: a new one if it was approved.

    `proposal_id` names the kept decision of one that was not.
    """

    id: str
    version: int
    decision: Literal["approved", "denied", "pending_review"]
    reasons: list[ReasonAnswer]
    policy_version: str
    proposal_id: str | None


class VersionAnswer(Answer):
    """One version of a memory. Its words are null where the caller may not read old values."""

    version: int
    at: When
    by: str
    act: str
    text: str | None
    value: Any
    reason: str | None
    valid_from: When | None
    valid_until: When | None


class HistoryAnswer(Answer):
    """All versions of a memory, the oldest first."""

    items: list[VersionAnswer]


class SetRefusal(Request):
    """What is never to be remembered about a person: memories of a class, or with null of any."""

    subject: Name
    class_: Annotated[str | None, Field(alias="class", max_length=64, pattern=r"^[a-z][a-z0-9_]*$")]
    refused: bool


class RefusalAnswer(Answer):
    """One refusal, and since when it stands."""

    class_: str | None = Field(serialization_alias="class")
    since: When


class RefusalsAnswer(Answer):
    """Everything that a person refuses."""

    subject: str
    items: list[RefusalAnswer]
