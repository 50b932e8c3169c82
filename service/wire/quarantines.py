"""Shapes of quarantines: putting a source aside, looking at what that reached, releasing it."""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from service.wire.scalars import Answer, Id, Request, ShortText, When

QuarantineStatus = Literal["standing", "released"]
"""Whether it holds."""

ItemKind = Literal["memory", "summary", "package", "execution", "evidence", "observation", "turn"]
"""What can be put aside."""


class NewQuarantine(Request):
    """What is to be put aside with all that was made from it; `preview` only counts."""

    source: Annotated[Id, Field(examples=["evidence:01936d7e-5d5c-7c3e-9d0a-6c1f0f3f7a11"])]
    reason: ShortText | None = None
    preview: bool = False

    @model_validator(mode="after")
    def _needs_reason(self) -> Self:
        if not self.preview and self.reason is None:
            raise ValueError("a quarantine needs a reason")
        return self


class Affected(Answer):
    """How much was put aside when it began, the source among it, in all projects."""

    memories: int
    summaries: int
    packages: int
    executions: int
    evidence: int
    observations: int
    turns: int


class QuarantineListed(Answer):
    """A quarantine as lists show it."""

    id: str
    source: str
    reason: str
    status: QuarantineStatus
    affected: Affected
    by: str
    created_at: When
    released_at: When | None
    released_by: str | None


class QuarantineBegun(Answer):
    """A quarantine, or what it would put aside (`preview`: it has no id then, and nothing was changed)."""

    id: str | None
    source: str
    reason: str | None
    status: Literal["standing", "preview"]
    affected: Affected
    executions: list[str]
    by: str | None = None
    created_at: When | None = None


class QuarantineItem(Answer):
    """One thing that a quarantine holds."""

    kind: ItemKind
    id: str


class QuarantineDetail(QuarantineListed):
    """A quarantine with the first runs and a page of all that it holds, in the caller's projects."""

    executions: list[str]
    items: list[QuarantineItem]
    next_cursor: str | None


class QuarantinePage(Answer):
    """Quarantines, newest first."""

    items: list[QuarantineListed]
    next_cursor: str | None


class QuarantineReleasedAnswer(QuarantineListed):
    """A quarantine that was just released; `restored` counts what no other one holds."""

    restored: Affected
