"""Candidates, requests for checks, checks, and how the requirements stand."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any


class FailureKind(StrEnum):
    """Why a check did not pass."""

    PERMISSION = "permission"
    MALFORMED = "malformed"
    WRONG_RESULT = "wrong_result"
    MISSING = "missing"
    ENVIRONMENT = "environment"
    FLAKY = "flaky"
    OTHER = "other"


class CheckStatus(StrEnum):
    """How a requirement stands on the present candidate."""

    PASSED = "passed"
    FAILED = "failed"
    MISSING = "missing"
    STALE = "stale"
    """Checked, but on another candidate or in another environment."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """An artifact that was submitted, by hash. `sequence` starts at 1; the highest is the present one.

    `inputs` has for each requirement whose every declared input was known then one hash over all of them.
    """

    id: str
    execution_id: str
    sequence: int
    artifact_hash: str
    inputs: Mapping[str, str]
    by: str
    at: datetime


@dataclass(frozen=True, slots=True)
class CheckRequest:
    """A requirement of the present candidate that waits for a grader. `sequence` is the order of asking.

    It goes with the check that answers it, with the next candidate and with the end of its run.
    """

    id: str
    execution_id: str
    sequence: int
    requirement: str
    artifact_hash: str
    contract_hash: str
    by: str
    at: datetime


@dataclass(frozen=True, slots=True)
class NewCheck:
    """A grader's verdict on one requirement of one candidate, as it was sent."""

    requirement: str
    passed: bool
    artifact_hash: str
    contract_hash: str
    grader_id: str
    grader_version: str
    environment: Mapping[str, Any]
    output_ref: str | None = None
    expected: str | None = None
    observed: str | None = None
    reproduce: str | None = None
    failure_kind: FailureKind | None = None


@dataclass(frozen=True, slots=True)
class Check:
    """A kept verdict. `sequence` starts at 1 in each run."""

    id: str
    execution_id: str
    sequence: int
    requirement: str
    passed: bool
    artifact_hash: str
    contract_hash: str
    grader_id: str
    grader_version: str
    environment: Mapping[str, Any]
    output_ref: str | None
    expected: str | None
    observed: str | None
    reproduce: str | None
    failure_kind: FailureKind | None
    by: str
    at: datetime


@dataclass(frozen=True, slots=True)
class FoundEnvironment:
    """What was found around the run when it was last resumed, and the highest check that stood then."""

    values: Mapping[str, Any]
    checks: int


@dataclass(frozen=True, slots=True)
class RequirementStanding:
    """How one requirement stands, with the check that says so and its output.

    `carried_from` is the earlier candidate that was checked, where its check counts for the present one.
    `failures` are the failed checks that use up revisions; `escalated` says that they are more than it may
    have and that it has not passed since.
    """

    requirement: str
    status: CheckStatus
    check_id: str | None
    evidence: str | None
    failure_kind: FailureKind | None
    carried_from: str | None
    failures: int
    escalated: bool
