"""Shapes of how a run's result is checked: candidates, requests for checks, checks."""

from typing import Annotated, Any, Literal

from pydantic import Field

from service.wire.executions import Reference, Status
from service.wire.scalars import Answer, Hash, Name, Request, Text, When

FailureKind = Literal["permission", "malformed", "wrong_result", "missing", "environment", "flaky", "other"]
"""Why a check did not pass."""

Explanation = Annotated[Text, Field(min_length=1, max_length=16_000)]
"""What a grader expected, saw, or did to see it."""


class MadeOf(Request):
    """Something that the artifact was made of, and the hash that it had."""

    ref: Reference
    sha256: Hash


class SubmitCandidate(Request):
    """An artifact to be checked, by its hash; `inputs` adds to what the log says it was made of."""

    artifact_hash: Hash
    inputs: Annotated[tuple[MadeOf, ...], Field(max_length=1_000)] = ()


class CandidateAnswer(Answer):
    """A kept candidate. The one with the highest `sequence` is the present one.

    `inputs_known` are the requirements whose every declared input has a known hash: their checks may count
    for a later candidate too.
    """

    id: str
    sequence: int
    artifact_hash: str
    inputs_known: list[str]
    at: When


class RequestChecks(Request):
    """The requirements to be checked; none: all that have not passed on the present candidate."""

    requirements: Annotated[tuple[Name, ...], Field(max_length=100)] = ()


class CheckRequestAnswer(Answer):
    """A requirement of a candidate that waits for a check. `grader` is the only one who may write it, if any.

    `text` is `null` once it has been erased.
    """

    id: str
    execution_id: str
    requirement: str
    text: str | None
    grader: str | None
    artifact_hash: str
    contract_hash: str
    at: When


class CheckRequestList(Answer):
    """The requests that were made or stood already, in the order of asking."""

    items: list[CheckRequestAnswer]


class CheckRequestPage(Answer):
    """A page of open requests, oldest first."""

    items: list[CheckRequestAnswer]
    next_cursor: str | None


class GraderShape(Request):
    """Who checked, in which version."""

    id: Name
    version: Annotated[Text, Field(min_length=1, max_length=200)]


class WriteCheck(Request):
    """A verdict on one requirement of one candidate. A failed one explains itself."""

    requirement: Name
    passed: bool
    artifact_hash: Hash
    contract_hash: Hash
    grader: GraderShape
    environment: dict[str, Any] = Field(default_factory=dict)
    output_ref: Reference | None = None
    expected: Explanation | None = None
    observed: Explanation | None = None
    reproduce: Explanation | None = None
    failure_kind: FailureKind | None = None


class CheckAnswer(Answer):
    """A kept verdict, and where it leaves the run."""

    id: str
    sequence: int
    requirement: str
    passed: bool
    artifact_hash: str
    contract_hash: str
    failure_kind: FailureKind | None
    execution_status: Status
    at: When
