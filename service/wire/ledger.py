"""Shapes of what a run saw, did and was checked for: observations, effects, candidates, checks."""

from typing import Annotated, Any, Literal

from pydantic import Field

from service.wire.evidence import Kind, MediaType
from service.wire.executions import Reference, Status
from service.wire.scalars import Answer, Hash, Name, Request, Text, When

OperationId = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._:@+-]{0,199}$")]
"""The client's name of one external operation; it stands in addresses, so it has no slash."""

EffectStatus = Literal["intended", "dispatched", "committed", "failed", "unknown", "absent", "escalated"]
"""How far an external operation got."""

FailureKind = Literal["permission", "malformed", "wrong_result", "missing", "environment", "flaky", "other"]
"""Why a check did not pass."""

Explanation = Annotated[Text, Field(min_length=1, max_length=16_000)]
"""What a grader expected, saw, or did to see it."""


class ObservedSourceShape(Request):
    """Where a tool result comes from and when it was true."""

    uri: Annotated[Text, Field(max_length=2_000, pattern=r"^[A-Za-z][A-Za-z0-9+.-]*:[^\s\p{C}]+$")]
    kind: Kind
    source_version: Annotated[Text, Field(min_length=1, max_length=200)] | None = None
    observed_at: When


class AddObservation(Request):
    """A tool result. `summary` is safe to show in place of the content."""

    source: ObservedSourceShape
    media_type: MediaType = "text/plain"
    content: Text
    summary: Annotated[Text, Field(min_length=1, max_length=8_000)] | None = None
    tool_call_id: Annotated[Reference, Field(max_length=200)] | None = None


class ObservationAnswer(Answer):
    """A kept tool result; a large one stands in evidence under `evidence_id`."""

    id: str
    sequence: int
    evidence_id: str | None
    sha256: str
    tokens: int
    trust: str
    authority: str
    limited: bool
    at: When


class IntendEffect(Request):
    """The intent to do one operation outside."""

    operation_id: OperationId
    kind: Name
    request: dict[str, Any] = Field(default_factory=dict)
    approval_id: Annotated[str, Field(min_length=1, max_length=100)] | None = None


class SettleEffect(Request):
    """How far the operation got."""

    status: Literal["dispatched", "committed", "failed", "unknown"]
    downstream_ref: Reference | None = None


class EffectAnswer(Answer):
    """An external operation as it stands."""

    operation_id: str
    kind: str
    status: EffectStatus
    downstream_ref: str | None
    created_at: When
    updated_at: When


class SubmitCandidate(Request):
    """An artifact to be checked, by its hash."""

    artifact_hash: Hash


class CandidateAnswer(Answer):
    """A kept candidate. The one with the highest `sequence` is the present one."""

    id: str
    sequence: int
    artifact_hash: str
    at: When


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
