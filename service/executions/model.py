"""The run itself: its states, transitions, contract, budgets and checkpoints."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from enum import StrEnum
from typing import Any, Final

STATE_SCHEMA_VERSION: Final = 2
"""The form of checkpoints that this release writes; see `schemas`."""
SCHEMA_VERSION_OLDEST: Final = 1
"""The oldest form that this release can still read."""
NEWER_RELEASE_WAIT: Final = timedelta(seconds=30)
"""When a job comes back to a run that a newer release has written, unless a process of that one took it."""
STATE_BYTES_MAX: Final = 64 * 1024
REQUIREMENTS_MAX: Final = 100
REFERENCES_MAX: Final = 500
REFERENCE_LENGTH_MAX: Final = 500
TASKS_MAX: Final = 1_000
STEPS_MAX: Final = 5_000
"""Lines that one run's log takes; a task's standing is derived from all of them."""
TURNS_MAX: Final = 100_000
PINS_MAX: Final = 1_000
SUMMARIES_MAX: Final = 10_000
OBSERVATIONS_MAX: Final = 50_000
EFFECTS_MAX: Final = 2_000
CANDIDATES_MAX: Final = 1_000
CHECKS_MAX: Final = 5_000
"""Entries of each kind that one run takes; what is read whole is kept small."""


class Status(StrEnum):
    """Where a run stands."""

    OPEN = "open"
    RUNNING = "running"
    WAITING_APPROVAL = "waiting_approval"
    WAITING_RECONCILIATION = "waiting_reconciliation"
    REVIEW_REQUIRED = "review_required"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"
    EXPIRED = "expired"
    UNSUPPORTED_SCHEMA = "unsupported_schema"


class EndedReason(StrEnum):
    """Why a run ended before its contract was met. Append only."""

    OPERATOR = "operator"
    ACTING_USER = "acting_user"
    DEADLINE = "deadline"
    ERASED = "erased"
    SCHEMA = "schema"


class Transition(StrEnum):
    """What a checkpoint may ask for. There is no "set status"."""

    START = "start"
    ADVANCE = "advance"
    WAIT = "wait"
    FAIL = "fail"
    RETRY = "retry"
    FINISH = "finish"


class MemoryMode(StrEnum):
    """Whether the run may read and propose long-term memory."""

    OFF = "off"
    READ = "read"
    READ_WRITE = "read_write"


class ContractOrigin(StrEnum):
    """Who wrote the contract."""

    AGENT = "agent"
    PERSON = "person"
    TEMPLATE = "template"


@dataclass(frozen=True, slots=True)
class Requirement:
    """One thing that must hold of the result. `grader` names who must check it, where that matters."""

    id: str
    text: str
    grader: str | None = None
    depends_on: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Budgets:
    """What a run may use; `None` is no limit. `revisions` counts for each requirement."""

    cost: Decimal | None = None
    steps: int | None = None
    revisions: int | None = None


@dataclass(frozen=True, slots=True)
class NewExecution:
    """What is asked when a run is opened. `project` is a name."""

    project: str
    objective: str
    requirements: tuple[Requirement, ...] = ()
    external_ref: str | None = None
    budgets: Budgets = Budgets()
    deadline: datetime | None = None
    retention_class: str = "operational"
    memory_mode: MemoryMode = MemoryMode.READ_WRITE
    acting_user: str | None = None


@dataclass(frozen=True, slots=True)
class Execution:
    """One run.

    `objective` is `None` and `requirements` are empty where the caller may not read them or they were erased;
    `requirement_ids` stay. `ended_reason` says why a run that was not completed has ended.
    `person` is the person whose key seals the run's text, `None` when an agent acts for nobody.
    `content_erased_at` says since when there is no word of it left: it was erased, or its retention ended.
    `version` counts checkpoints and manifests; appends leave it alone. Money is exact to a millionth.
    """

    id: str
    project_id: str
    external_ref: str | None
    version: int
    status: Status
    step: int
    cost_used: Decimal
    budgets: Budgets
    deadline: datetime | None
    retention_class: str
    memory_mode: MemoryMode
    schema_version: int
    acting_user: str
    agent: str | None
    person: str | None
    opened_by: str
    contract_hash: str
    contract_origin: ContractOrigin
    contract_confirmed_by: str | None
    finish_asked: bool
    ended_reason: EndedReason | None
    objective: str | None
    requirements: Sequence[Requirement]
    requirement_ids: Sequence[str]
    created_at: datetime
    updated_at: datetime
    content_erased_at: datetime | None = None

    @property
    def contract_confirmed(self) -> bool:
        """Whether a person confirmed the contract; who writes one confirms it by that."""
        return self.contract_confirmed_by is not None


@dataclass(frozen=True, slots=True)
class PinnedSource:
    """A reference with the version and hash that it had. Both are `None` for an opaque or an older one."""

    ref: str
    version: int | None = None
    sha256: str | None = None

    @property
    def kind(self) -> str:
        """What stands before the colon."""
        return self.ref.partition(":")[0]

    @property
    def id(self) -> str:
        """What stands behind the colon."""
        return self.ref.partition(":")[2]

    @property
    def is_pinned(self) -> bool:
        """Whether it is known how it stood."""
        return self.version is not None or self.sha256 is not None


@dataclass(frozen=True, slots=True)
class NewCheckpoint:
    """What is asked when a run moves. `state` and `step` of `None` keep the last ones.

    `cost` is what this step added.
    """

    transition: Transition
    state: Mapping[str, Any] | None = None
    step: int | None = None
    cost: Decimal = Decimal(0)


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """One move of a run, under the version that it made.

    `derived_from` are the state's references, `sources` the same with the versions that they had.
    """

    execution_id: str
    version: int
    transition: Transition
    status: Status
    step: int
    cost: Decimal
    schema_version: int
    state: Mapping[str, Any] | None
    derived_from: Sequence[str]
    sources: Sequence[PinnedSource]
    by: str
    at: datetime
