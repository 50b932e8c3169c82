"""What somebody who takes over found, what the record holds against it, and the decision."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import Any, Final

from service.executions.acceptance.model import Check, RequirementStanding
from service.executions.approvals.model import Lapsed
from service.executions.leases.model import LeaseMode
from service.executions.ledger.model import Effect
from service.executions.model import Execution
from service.executions.sources import Drifted
from service.executions.work.model import Task

REASONS_MAX: Final = 100
"""A decision names so many reasons at most: the first are what has to be looked at first."""


class Verb(StrEnum):
    """What to do first. Append only."""

    ENDED = "ended"
    REVALIDATE = "revalidate"
    RECONCILE = "reconcile"
    ESCALATED = "escalated"
    REAPPROVE = "reapprove"
    REFRESH = "refresh"
    CONTINUE = "continue"
    VERIFY = "verify"
    ESCALATE = "escalate"
    COMPLETED = "completed"


class ReasonCode(StrEnum):
    """Why a decision was taken. Append only; `sources.Drift` and, after `approval_`, `Moved` go with it."""

    EXECUTION_ENDED = "execution_ended"
    SCHEMA_DIFFERS = "schema_differs"
    CONTRACT_HASH_NOT_GIVEN = "contract_hash_not_given"
    CONTRACT_DIFFERS = "contract_differs"
    ARTIFACT_HASH_NOT_GIVEN = "artifact_hash_not_given"
    ARTIFACT_NOT_SUBMITTED = "artifact_not_submitted"
    ARTIFACT_DIFFERS = "artifact_differs"
    ENVIRONMENT_NOT_GIVEN = "environment_not_given"
    ENVIRONMENT_DIFFERS = "environment_differs"
    CHECK_NO_LONGER_COUNTS = "check_no_longer_counts"
    OBSERVATION_NO_LONGER_COUNTS = "observation_no_longer_counts"
    EFFECT_UNKNOWN = "effect_unknown"
    EFFECT_ESCALATED = "effect_escalated"
    EFFECT_UNDELIVERED = "effect_undelivered"
    TASK_STARTED = "task_started"
    TASK_REOPENED = "task_reopened"
    TASK_FAILED = "task_failed"
    TASK_PENDING = "task_pending"
    CHECK_FAILED = "check_failed"
    CHECK_STALE = "check_stale"
    CHECK_MISSING = "check_missing"
    RUN_FAILED = "run_failed"
    CONTRACT_EMPTY = "contract_empty"
    CONTRACT_UNCONFIRMED = "contract_unconfirmed"


MODES: Final[Mapping[Verb, LeaseMode | None]] = MappingProxyType(
    {
        Verb.ENDED: None,
        Verb.REVALIDATE: LeaseMode.RECOVERY,
        Verb.RECONCILE: LeaseMode.RECOVERY,
        Verb.ESCALATED: LeaseMode.RECOVERY,
        Verb.REAPPROVE: LeaseMode.RECOVERY,
        Verb.REFRESH: LeaseMode.RECOVERY,
        Verb.CONTINUE: LeaseMode.FULL,
        Verb.VERIFY: LeaseMode.FULL,
        Verb.ESCALATE: None,
        Verb.COMPLETED: None,
    }
)
"""The lease that goes with each decision. Who escalates waits for a person, so there is none."""
assert MODES.keys() == set(Verb)


@dataclass(frozen=True, slots=True)
class Found:
    """What the caller found where it works: `None` for what it did not say."""

    artifact_hash: str | None = None
    contract_hash: str | None = None
    environment: Mapping[str, Any] | None = None
    schema_version: int | None = None


@dataclass(frozen=True, slots=True)
class Reason:
    """Why: a stable code, a sentence, and what it is about (`check:<id>`, `effect:<operation_id>`)."""

    code: str
    message: str
    ref: str | None = None


@dataclass(frozen=True, slots=True)
class Decision:
    """What to do first, and why. `about` is the id that the verb is about, `None` where there is none."""

    verb: Verb
    about: str | None = None
    reasons: Sequence[Reason] = ()

    def __str__(self) -> str:
        """The decision as callers read it: `reconcile:seed-order-8`."""
        return self.verb.value if self.about is None else f"{self.verb}:{self.about}"

    @property
    def mode(self) -> LeaseMode | None:
        """The lease that goes with it."""
        return MODES[self.verb]


@dataclass(frozen=True, slots=True)
class MovedSummary:
    """The newest summary, where something that it was written from has moved since."""

    summary_id: str
    sources: Sequence[Drifted]


@dataclass(frozen=True, slots=True)
class Standing:
    """All that the decision rests on, read anew for it.

    `counted` are the checks that would count if nothing were known of the environment. `effects` are those
    without a known outcome or escalated, in the order of intent, `undelivered` those that a connector still
    has to send.
    """

    execution: Execution
    found: Found
    artifact_hash: str | None
    counted: Sequence[Check]
    derived_from: Sequence[str]
    effects: Sequence[Effect]
    undelivered: Sequence[Effect]
    approvals: Sequence[Lapsed]
    sources: Sequence[Drifted]
    summary: MovedSummary | None
    tasks: Sequence[Task]
    standings: Sequence[RequirementStanding]
    confirmation_missing: bool
