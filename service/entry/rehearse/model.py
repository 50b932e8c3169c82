"""The values of a rehearsal: calls, kill points, what a trial left behind, what was found wrong with it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from enum import StrEnum


class Channel(StrEnum):
    """Where a call of the agent goes."""

    SERVICE = "service"
    DOWNSTREAM = "downstream"


class Fate(StrEnum):
    """What became of a call."""

    ANSWERED = "answered"
    CUT_BEFORE = "cut_before"
    """The agent died before the call was passed on."""
    CUT_AFTER = "cut_after"
    """It was passed on and done; the agent died before the answer reached it."""
    LOST = "lost"
    """It was passed on and brought no answer."""


class ActKind(StrEnum):
    """What a call does, as far as it matters for redone and skipped work."""

    PACKAGE = "package"
    OBSERVATION = "observation"
    TURN = "turn"
    STARTED = "started"
    COMPLETED = "completed"
    FAILED = "failed"
    CHECKPOINT = "checkpoint"
    CANDIDATE = "candidate"
    INTENT = "intent"
    SETTLEMENT = "settlement"
    TOOL = "tool"
    """A read of the downstream's documents."""
    ORDER = "order"
    """Something that the downstream carries out."""


@dataclass(frozen=True, slots=True, order=True)
class Act:
    """One piece of work, known by what it was about: the same work again has the same `key`."""

    kind: ActKind
    key: str

    def __str__(self) -> str:
        return f"{self.kind} {self.key}"


@dataclass(frozen=True, slots=True)
class Call:
    """One call of the agent. `session` counts its processes from 1; times are seconds since its first start.

    `pattern` is the route with `*` for what differs from run to run, such as `POST /executions/*/steps`;
    `status` is what the service or the downstream answered, `None` where it was not asked; `operation_id` is
    what an effect's intent names it.
    """

    number: int
    session: int
    channel: Channel
    pattern: str
    path: str
    started_seconds: float
    ended_seconds: float
    fate: Fate
    status: int | None = None
    act: Act | None = None
    operation_id: str | None = None

    @property
    def was_accepted(self) -> bool:
        """Whether it took effect, answered or not."""
        return self.status is not None and self.status < 400  # noqa: PLR2004 - HTTP's own boundary


class Moment(StrEnum):
    """When the agent is killed."""

    BEFORE = "before"
    AFTER = "after"
    THINKING = "thinking"


@dataclass(frozen=True, slots=True)
class KillPoint:
    """A place in the agent's calls: the `occurrence`-th call of `pattern` since its last start.

    `delay_seconds` counts from that call's answer, for `thinking`.
    """

    moment: Moment
    pattern: str
    occurrence: int = 1
    delay_seconds: float = 0.0

    def __str__(self) -> str:
        place = self.pattern if self.occurrence == 1 else f"{self.pattern} #{self.occurrence}"
        if self.moment is Moment.THINKING:
            return f"{self.delay_seconds:.2f} s into thinking after {place}"
        return f"{self.moment} {place}"


@dataclass(frozen=True, slots=True)
class Interruption:
    """Kill points in the order in which they are armed: each after the one before has struck."""

    kills: tuple[KillPoint, ...]

    def __str__(self) -> str:
        return ", then ".join(map(str, self.kills)) or "uninterrupted"


class Ending(StrEnum):
    """How a trial's last process ended."""

    SAID_DONE = "said_done"
    """With exit code 0."""
    STOPPED_AT_END = "stopped_at_end"
    """The run had ended and the process had not: it was stopped."""
    GAVE_UP = "gave_up"
    """It was started as often as the manifest allows."""
    OUT_OF_TIME = "out_of_time"


@dataclass(frozen=True, slots=True)
class LedgerEntry:
    """An effect as the service knows it. `content` is what it was to do, by kind and hash of its request."""

    operation_id: str
    status: str
    content: str


@dataclass(frozen=True, slots=True)
class Order:
    """An operation that the downstream carried out. `content` is what was asked for, without its id."""

    operation_id: str | None
    content: str


@dataclass(frozen=True, slots=True)
class Fault:
    """A failure of the rehearsal itself, not of the agent."""

    code: str
    message: str


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a trial left behind.

    `files` are the compared ones by path with their hash, `missing` the required patterns that match none.
    `outputs` are the run's by `task/name`, `tasks` the standings, `checks` the service's word on each
    requirement, `inspections` what the graders say of what lies there at the end. `constraints` says of each
    whether it is kept; `None` where there is nothing to judge.
    """

    status: str
    ending: Ending
    sessions: int
    calls: tuple[Call, ...]
    files: Mapping[str, str] = field(default_factory=dict)
    missing: tuple[str, ...] = ()
    outputs: Mapping[str, str] = field(default_factory=dict)
    artifact_hash: str | None = None
    tasks: Mapping[str, str] = field(default_factory=dict)
    checks: Mapping[str, str] = field(default_factory=dict)
    inspections: Mapping[str, bool] = field(default_factory=dict)
    constraints: Mapping[str, bool | None] = field(default_factory=dict)
    ledger: tuple[LedgerEntry, ...] = ()
    orders: tuple[Order, ...] = ()
    cost: Decimal = Decimal(0)
    seconds: float = 0.0
    unreached: tuple[KillPoint, ...] = ()
    faults: tuple[Fault, ...] = ()
    said: str = ""
    """The end of what the agent printed, without tokens."""


class Code(StrEnum):
    """What can be wrong with what an agent left behind. Stable, append-only."""

    NOT_RECOVERED = "not_recovered"
    REDONE_WORK = "redone_work"
    REPEATED_CALL = "repeated_call"
    SKIPPED_WORK = "skipped_work"
    OUTPUT_DIFFERS = "output_differs"
    OUTPUT_MISSING = "output_missing"
    DUPLICATE_EFFECT = "duplicate_effect"
    EFFECT_DIFFERS = "effect_differs"
    LEDGER_DIFFERS = "ledger_differs"
    FALSE_COMPLETION = "false_completion"
    LOST_CONSTRAINT = "lost_constraint"
    UNSTABLE_BASELINE = "unstable_baseline"


@dataclass(frozen=True, slots=True, order=True)
class Finding:
    """One thing that is wrong, and a sentence that says what exactly."""

    code: Code
    message: str


class Verdict(StrEnum):
    """What a trial says about the agent."""

    PASSED = "passed"
    FAILED = "failed"
    NOT_REACHED = "not_reached"
    """The agent ended before the place where it was to be killed: nothing was tested."""
    INFRASTRUCTURE = "infrastructure"
    """The rehearsal itself failed: nothing is said about the agent."""


@dataclass(frozen=True, slots=True)
class Added:
    """What an interruption cost beside the uninterrupted runs' middle one; it may be less than nothing."""

    seconds: float
    calls: int
    cost: Decimal


@dataclass(frozen=True, slots=True)
class Trial:
    """One trial and what it says. `number` counts the trials of the same interruption from 1."""

    profile: str | None
    scenario: str
    interruption: Interruption
    number: int
    verdict: Verdict
    findings: tuple[Finding, ...]
    faults: tuple[Fault, ...]
    added: Added | None = None
    sessions: int = 0
    seconds: float = 0.0
    said: str = ""
    calls: tuple[Call, ...] = ()
    """Of trials that did not pass."""


@dataclass(frozen=True, slots=True)
class Baseline:
    """A scenario's uninterrupted runs under one profile. With findings or faults nothing was interrupted."""

    profile: str | None
    scenario: str
    runs: tuple[Outcome, ...]
    findings: tuple[Finding, ...]
    faults: tuple[Fault, ...]

    @property
    def is_fit(self) -> bool:
        """Whether interrupted runs can be held against it."""
        return bool(self.runs) and not self.findings and not self.faults


@dataclass(frozen=True, slots=True)
class Rehearsed:
    """Everything that came of a rehearsal, in the order in which it was planned."""

    seed: int
    trials_each: int
    baselines: tuple[Baseline, ...]
    trials: tuple[Trial, ...]
