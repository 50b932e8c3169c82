"""Shapes of a run's work: tasks, the execution log and the handoff."""

from typing import Annotated, Any, Literal

from pydantic import Field

from service.wire.acceptance import FailureKind
from service.wire.approvals import ApprovalStatus
from service.wire.executions import Reference
from service.wire.scalars import Answer, Hash, Name, Request, ShortText, Text, When


class TaskShape(Request):
    """One task: what it reads and what it must produce."""

    id: Name
    title: ShortText | None = None
    inputs: Annotated[tuple[Reference, ...], Field(max_length=100)] = ()
    outputs: Annotated[tuple[Name, ...], Field(max_length=100)] = ()


class SetManifest(Request):
    """All tasks of a run, in order."""

    tasks: Annotated[list[TaskShape], Field(max_length=1_000)]


class TaskOutput(Answer):
    """A declared or produced output; without `ref` it is still to be produced."""

    name: str
    ref: str | None
    sha256: str | None


class TaskAnswer(Answer):
    """A task with its standing, derived from the log."""

    id: str
    title: str | None
    standing: Literal["pending", "started", "completed", "failed", "reopened"]
    inputs: list[str]
    outputs: list[TaskOutput]


class TaskList(Answer):
    """All tasks in the manifest's order."""

    items: list[TaskAnswer]


class ManifestAnswer(Answer):
    """The run's new version and its tasks."""

    version: int
    tasks: list[TaskAnswer]


class InputShape(Request):
    """What a step read."""

    ref: Reference
    sha256: Hash


class OutputShape(Request):
    """What a step produced."""

    name: Name
    ref: Reference
    sha256: Hash


class LogStep(Request):
    """One line for the execution log."""

    task_id: Name
    exit_status: Literal["started", "completed", "failed"]
    inputs: Annotated[tuple[InputShape, ...], Field(max_length=100)] = ()
    outputs: Annotated[tuple[OutputShape, ...], Field(max_length=100)] = ()
    summary: Annotated[Text, Field(max_length=4_000)] | None = None


class InputAnswer(Answer):
    """What a step read."""

    ref: str
    sha256: str


class OutputAnswer(Answer):
    """What a step produced."""

    name: str
    ref: str
    sha256: str


class LogLine(Answer):
    """One line of the execution log."""

    id: str
    at: When
    task_id: str
    exit_status: Literal["started", "completed", "failed"]
    inputs: list[InputAnswer]
    outputs: list[OutputAnswer]
    summary: str | None


class StepAnswer(LogLine):
    """A kept line. `status` is its `exit_status`."""

    status: Literal["started", "completed", "failed"]


class HandedOutput(OutputAnswer):
    """An output with the task that produced it."""

    task_id: str


class BlockerAnswer(Answer):
    """One thing that stands in the way."""

    kind: Literal["effect", "approval", "pin", "check", "task"]
    ref: str
    text: str | None


class RequirementStandingAnswer(Answer):
    """How a requirement stands on the present candidate.

    `carried_from` is the earlier candidate whose check counts for this one. `failures` are the failed checks
    that use up revisions; an `escalated` requirement has had more of them than it may, and needs a person.
    """

    requirement: str
    status: Literal["passed", "failed", "missing", "stale"]
    check_id: str | None
    evidence: str | None
    failure_kind: FailureKind | None
    carried_from: str | None
    failures: int
    escalated: bool


class EffectStanding(Answer):
    """How far one external operation got."""

    operation_id: str
    status: Literal["intended", "dispatched", "committed", "failed", "unknown", "absent", "escalated"]


class ApprovalStanding(Answer):
    """How an approval stands."""

    id: str
    status: ApprovalStatus


class HandoffAnswer(Answer):
    """The ledger of a run, for a session that knows nothing but its id.

    `environment` is what the checks that stand were made in: whoever resumes says what is found of each name.
    """

    schema_version: int
    execution_id: str
    external_ref: str | None
    revision: int
    contract_hash: str
    artifact_hash: str | None
    completed: list[str]
    next_action: str | None
    outputs: list[HandedOutput]
    blockers: list[BlockerAnswer]
    checks: list[RequirementStandingAnswer]
    effects: list[EffectStanding]
    environment: dict[str, Any]
    approvals: list[ApprovalStanding]
