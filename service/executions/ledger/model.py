"""Observations and effects."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from service.policies.words import Authority, Trust


class EffectStatus(StrEnum):
    """How far an external operation got, as far as anybody knows."""

    INTENDED = "intended"
    DISPATCHED = "dispatched"
    COMMITTED = "committed"
    FAILED = "failed"
    UNKNOWN = "unknown"
    ABSENT = "absent"
    ESCALATED = "escalated"


class SettledBasis(StrEnum):
    """On whose word an effect stands where it stands."""

    REPORT = "report"
    """Whoever did the operation said so."""
    CONNECTOR = "connector"
    """The downstream answered the service itself."""
    OPERATOR = "operator"
    EVIDENCE = "evidence"
    """Evidence that the run's agent or user showed."""


@dataclass(frozen=True, slots=True)
class ObservedSource:
    """Where a tool result comes from and when it was true."""

    uri: str
    kind: str
    observed_at: datetime
    source_version: str | None = None


@dataclass(frozen=True, slots=True)
class NewObservation:
    """A tool result as it was sent. `summary` is safe to show in place of the content."""

    source: ObservedSource
    content: str
    media_type: str = "text/plain"
    summary: str | None = None
    tool_call_id: str | None = None


@dataclass(frozen=True, slots=True)
class Observation:
    """A tool result. `content` is `None` when it is large: `evidence_id` then says where it is kept.

    `tokens` counts the content (o200k_base) wherever it is kept; `sha256` is of its UTF-8 bytes.
    `limited` says that the credential may not vouch for such a source, so trust and authority were lowered.
    """

    id: str
    execution_id: str
    sequence: int
    source: ObservedSource
    media_type: str
    content: str | None
    summary: str | None
    sha256: str
    tokens: int
    evidence_id: str | None
    tool_call_id: str | None
    trust: Trust
    authority: Authority
    limited: bool
    said_by: str
    at: datetime


@dataclass(frozen=True, slots=True)
class NewEffect:
    """The intent to do one operation outside, written down before it is done."""

    operation_id: str
    kind: str
    request: Mapping[str, Any]
    approval_id: str | None = None


@dataclass(frozen=True, slots=True)
class Effect:
    """One external operation. `operation_id` is unique in its run.

    `request_hash` is keyed, of kind and request: equal requests of the tenant have equal hashes.
    `command_hash` is `sha256:<hex>` of the RFC 8785 form of `{"kind": kind, **request}`, which approvals are
    bound to; `None` for a request that has no such form. `connector` names what delivers it, `None` when the
    agent does it itself. `attempts` counts dispatches and `dispatched_at` is the last one's time. `failure`
    is a code: why it failed, or why nobody knows. `settled_by` says who on that basis settled it, and
    `evidence_id` what they showed.
    """

    execution_id: str
    operation_id: str
    kind: str
    request: Mapping[str, Any]
    request_hash: str
    status: EffectStatus
    downstream_ref: str | None
    by: str
    created_at: datetime
    updated_at: datetime
    command_hash: str | None = None
    approval_id: str | None = None
    connector: str | None = None
    attempts: int = 0
    dispatched_at: datetime | None = None
    failure: str | None = None
    settled_basis: SettledBasis | None = None
    settled_by: str | None = None
    evidence_id: str | None = None
