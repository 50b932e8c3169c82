"""Shapes of what a run saw and did: observations and effects."""

from typing import Annotated, Any, Literal

from pydantic import Field

from service.wire.evidence import Kind, MediaType
from service.wire.executions import Reference
from service.wire.scalars import Answer, Id, Name, Request, Text, When

OperationId = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._:@+-]{0,199}$")]
"""The client's name of one external operation; it stands in addresses, so it has no slash."""

EffectStatus = Literal["intended", "dispatched", "committed", "failed", "unknown", "absent", "escalated"]
"""How far an external operation got."""


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


class ReconcileEffect(Request):
    """What became of an operation whose outcome is unknown, and what shows it."""

    outcome: Literal["committed", "absent", "undetermined"]
    downstream_ref: Reference | None = None
    evidence_id: Id | None = None
    reason: Annotated[Text, Field(min_length=1, max_length=2_000)] | None = None


class EffectAnswer(Answer):
    """An external operation as it stands.

    `command_hash` is what approvals are bound to; `null` for a request without an exact canonical form.
    `connector` names what delivers it. `settled_basis` says on whose word it stands.
    """

    operation_id: str
    kind: str
    status: EffectStatus
    downstream_ref: str | None
    command_hash: str | None
    approval_id: str | None
    connector: str | None
    attempts: int
    failure: str | None
    settled_basis: Literal["report", "connector", "operator", "evidence"] | None
    created_at: When
    updated_at: When
