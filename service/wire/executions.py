"""Shapes of runs: contract, budgets and checkpoints."""

from decimal import Decimal
from typing import Annotated, Any, Literal

from pydantic import Field

from service.wire.scalars import Answer, Money, Name, Request, Text, When

Status = Literal[
    "open",
    "running",
    "waiting_approval",
    "waiting_reconciliation",
    "review_required",
    "completed",
    "failed",
    "cancelled",
    "expired",
    "unsupported_schema",
]
"""Where a run stands."""

Reference = Annotated[Text, Field(min_length=1, max_length=500, pattern=r"^[^\s\p{C}]+$")]
"""A pointer such as `evidence:<id>` or a path: printable, without white space."""

Count = Annotated[int, Field(ge=0, le=1_000_000_000)]
"""A number of steps, revisions, turns."""


class RequirementShape(Request):
    """One thing that must hold of the result."""

    id: Name
    text: Annotated[Text, Field(min_length=1, max_length=4_000)]
    grader: Name | None = None
    depends_on: Annotated[tuple[Reference, ...], Field(max_length=100)] = ()


class BudgetsShape(Request):
    """What a run may use; `null` is no limit."""

    cost: Money | None = None
    steps: Count | None = None
    revisions: Count | None = None


class OpenExecution(Request):
    """A run to be opened."""

    project: Name
    external_ref: Name | None = None
    objective: Annotated[Text, Field(min_length=1, max_length=16_000)]
    requirements: Annotated[tuple[RequirementShape, ...], Field(max_length=100)] = ()
    budgets: BudgetsShape = BudgetsShape()
    deadline: When | None = None
    retention_class: Name = "operational"
    memory_mode: Literal["off", "read", "read_write"] = "read_write"
    acting_user: Name | None = None


class RequirementAnswer(Answer):
    """One requirement of a contract; `text` is `null` where the objective is."""

    id: str
    text: str | None
    grader: str | None
    depends_on: list[str]


class BudgetsAnswer(Answer):
    """What a run may use."""

    cost: Money | None
    steps: int | None
    revisions: int | None


class ExecutionListed(Answer):
    """A run in a list. `objective` is `null` for those who may not read it and after its erasure.

    `content_erased_at` says since when there is no text of it: it was erased, or its retention ended.
    `ended_reason` says why a run that was not completed has ended: `operator`, `acting_user`, `deadline`,
    `erased` or `schema`.
    """

    id: str
    project: str
    external_ref: str | None
    version: int
    status: Status
    ended_reason: str | None
    objective: str | None
    step: int
    cost_used: Money
    budgets: BudgetsAnswer
    deadline: When | None
    retention_class: str
    memory_mode: str
    schema_version: int
    acting_user: str
    agent: str | None
    contract_hash: str
    contract_origin: Literal["agent", "person", "template"]
    contract_confirmed: bool
    created_at: When
    updated_at: When
    content_erased_at: When | None


class TaskCountsAnswer(Answer):
    """How many tasks are done, can be worked on, and wait for another's output."""

    done: int
    open: int
    blocked: int


class LeaseUntil(Answer):
    """Some worker holds the run until then, unless it renews or gives back its lease."""

    until: When


class ExecutionAnswer(ExecutionListed):
    """The display model of a run."""

    requirements: list[RequirementAnswer]
    tasks: TaskCountsAnswer
    pending_action: str | None
    next_action: str | None
    lease: LeaseUntil | None


class ExecutionPage(Answer):
    """A page of runs, newest first."""

    items: list[ExecutionListed]
    next_cursor: str | None


class MakeCheckpoint(Request):
    """One transition. What is left out stays as it was; `cost` is what this step added."""

    transition: Literal["start", "advance", "wait", "fail", "retry", "finish"]
    step: Count | None = None
    state: dict[str, Any] | None = None
    cost: Money = Decimal(0)


class CheckpointAnswer(Answer):
    """What the transition made of the run."""

    version: int
    status: Status
    step: int
    cost_used: Money
