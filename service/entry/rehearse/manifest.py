"""What a rehearsal's manifest may say: scenarios, what counts as their result, and where to interrupt."""

from pathlib import Path
from typing import Annotated, Final, Literal, Self

import regex
from pydantic import AfterValidator, Field, model_validator

from service.entry.rehearse.model import Moment
from service.policies.parts import FrozenMap, Name, Part, Sentence
from service.wire.conversation import AddTurn
from service.wire.evidence import Authority, Uri
from service.wire.executions import BudgetsShape, RequirementShape
from service.wire.scalars import Name as Label
from service.wire.scalars import Text
from service.wire.work import TaskShape

_ARGUMENTS_MAX: Final = 100


def _stays_below(path: str) -> str:
    if path.startswith(("/", "~")) or ".." in path.split("/") or "\\" in path:
        raise ValueError("a path below its folder, with `/` and without `..`")
    return path


def _compiles(pattern: str) -> str:
    try:
        regex.compile(pattern)
    except regex.error as fault:
        raise ValueError(f"not a regular expression: {fault}") from None
    return pattern


def _finds(pattern: str) -> str:
    try:
        next(Path().glob(pattern), None)
    except (ValueError, IndexError):
        raise ValueError("not a pattern of files: `**` stands alone between slashes") from None
    return pattern


Below = Annotated[Text, Field(min_length=1, max_length=500), AfterValidator(_stays_below)]
"""A path below a folder."""

Files = Annotated[Below, AfterValidator(_finds)]
"""A pattern of files below a folder, such as `out/**/*.md`."""

Expression = Annotated[Text, Field(min_length=1, max_length=2_000), AfterValidator(_compiles)]
"""A regular expression, searched for in several lines (`^` and `$` are ends of lines)."""

CallPattern = Annotated[str, Field(pattern=r"^(downstream )?[A-Z]+ /[^\s?]*$", max_length=300)]
"""`POST /executions/*/steps`, or `downstream POST /orders`: method and route, `*` for one part of a path."""

Arguments = Annotated[
    tuple[Annotated[Text, Field(max_length=4_000)], ...], Field(min_length=1, max_length=_ARGUMENTS_MAX)
]
"""A command and its arguments; no shell reads them."""

Address = Annotated[str, Field(pattern=r"^/[A-Za-z0-9._-]{1,200}$")]
"""A path of one part, such as `/stock`."""


class SeededEvidence(Part):
    """A text that the run can cite from its start."""

    title: Sentence
    text: Annotated[Text, Field(min_length=1, max_length=100_000)]
    uri: Uri
    authority: Authority = "document"
    source_version: Annotated[Text, Field(min_length=1, max_length=200)] = "1"


class RunToOpen(Part):
    """The run as the agent finds it at its first start."""

    objective: Annotated[Text, Field(min_length=1, max_length=16_000)]
    requirements: Annotated[tuple[RequirementShape, ...], Field(max_length=100)] = ()
    """What must hold of the result; graders check it."""
    budgets: BudgetsShape = BudgetsShape()
    tasks: Annotated[tuple[TaskShape, ...], Field(max_length=1_000)] = ()
    """Declared tasks. An input `evidence:NAME` stands for the evidence of that name below."""
    turns: Annotated[tuple[AddTurn, ...], Field(max_length=1_000)] = ()
    """What was said before, with pins."""
    evidence: Annotated[FrozenMap[Name, SeededEvidence], Field(max_length=100)] = Field(default_factory=dict)
    """Evidence by a name of its own."""

    @model_validator(mode="after")
    def _every_input_is_there(self) -> Self:
        for task in self.tasks:
            for reference in task.inputs:
                kind, _, name = reference.partition(":")
                if kind == "evidence" and name not in self.evidence:
                    raise ValueError(f"task `{task.id}` reads `{reference}`: no evidence has that name here")
        return self


class CountedOutputs(Part):
    """What is compared with the uninterrupted runs."""

    files: Annotated[tuple[Files, ...], Field(max_length=100)] = ()
    """Patterns of files in the work folder that must be there, with the same bytes."""
    present: Annotated[tuple[Files, ...], Field(max_length=100)] = ()
    """Patterns of files that must be there, whatever they hold."""
    run_outputs: bool = True
    """Whether the outputs in the run's log must have the same hashes."""
    candidate: bool = True
    """Whether the candidate must have the same hash."""


class Grader(Part):
    """A command that says with its exit code whether requirements hold: 0 yes, 1 no.

    It runs in the work folder; a program or file named with a slash (`./check.py`) is the one beside the
    manifest. It finds `GRADED_REQUIREMENT`, `GRADED_ARTIFACT_HASH` and
    `DOWNSTREAM_RECORD` (a JSON file of what the downstream carried out) in its environment.
    """

    requirements: Annotated[tuple[Label, ...], Field(min_length=1, max_length=100)]
    command: Arguments
    version: Annotated[Text, Field(min_length=1, max_length=200)] = "1"
    when: Literal["candidate", "check_request"] = "candidate"
    """What it answers to: every candidate, or checks that are asked for."""
    seconds_max: Annotated[int, Field(ge=1, le=600)] = 60


class Constraint(Part):
    """Something that was said early and must hold of the result to the end."""

    files: Files
    """Pattern of files in the work folder."""
    must_match: Expression | None = None
    must_not_match: Expression | None = None

    @model_validator(mode="after")
    def _says_one_thing(self) -> Self:
        if (self.must_match is None) == (self.must_not_match is None):
            raise ValueError("a constraint has either must_match or must_not_match")
        return self


class DownstreamRule(Part):
    """How the downstream behaves that the rehearsal offers the agent."""

    repeats: Literal["kept", "carried_out"] = "carried_out"
    """An operation id that comes again: answered with the first, or carried out again."""
    documents: Annotated[
        FrozenMap[Address, Annotated[Text, Field(max_length=100_000)]], Field(max_length=100)
    ] = Field(default_factory=dict)
    """Texts that a GET of these paths answers: results of tools that only read."""


class Limits(Part):
    """How long a trial may take, and how often the agent is started again."""

    trial_seconds: Annotated[int, Field(ge=1, le=86_400)] = 120
    """Wall clock of one trial, without the start of the service."""
    restarts: Annotated[int, Field(ge=0, le=100)] = 5
    """How often a process that ended early is started again, kills included."""
    linger_seconds: Annotated[int, Field(ge=0, le=600)] = 5
    """How long a process may stay once the run has ended."""
    lease_seconds: Annotated[int, Field(ge=5, le=3_600)] = 5
    """How long a worker's lease lives; so long a fresh one waits for it."""
    repeated_calls: Annotated[int, Field(ge=0, le=10_000)] = 0
    """How many calls may be repeated beyond those whose result was lost with a process."""


class KillRule(Part):
    """One place to kill the agent."""

    moment: Moment
    call: CallPattern
    occurrence: Annotated[int, Field(ge=1, le=100_000)] = 1
    """Which of the calls of this pattern, counted from the agent's last start."""
    delay_seconds: Annotated[float, Field(ge=0, le=3_600)] = 0.0
    """For `thinking`: how long after the call's answer."""


class ChosenInterruption(Part):
    """A place, or several after each other."""

    kills: Annotated[tuple[KillRule, ...], Field(min_length=1, max_length=10)]


class Interruptions(Part):
    """Where to interrupt. All of it is fixed by the seed before the first interrupted trial."""

    calls: Literal["none", "routes", "all"] = "routes"
    """Of the uninterrupted run's calls: none, the first and last of each route, or every one."""
    moments: Annotated[tuple[Literal[Moment.BEFORE, Moment.AFTER], ...], Field(max_length=2)] = (
        Moment.BEFORE,
        Moment.AFTER,
    )
    calls_max: Annotated[int, Field(ge=1, le=10_000)] = 60
    """More of them are drawn by seed; calls that act outside come first."""
    thinking: Annotated[int, Field(ge=0, le=100)] = 2
    """How many of the longest pauses between calls."""
    random: Annotated[int, Field(ge=0, le=1_000)] = 2
    """How many drawn by seed among all calls."""
    random_kills: Annotated[int, Field(ge=1, le=10)] = 2
    """How often each of those kills, at most."""
    chosen: Annotated[tuple[ChosenInterruption, ...], Field(max_length=1_000)] = ()


class Scenario(Part):
    """One task for the agent, from the opening of its run to what must be there in the end."""

    run: RunToOpen
    work: Below | None = None
    """A folder beside the manifest whose files the work folder begins with."""
    outputs: CountedOutputs = CountedOutputs()
    graders: Annotated[FrozenMap[Name, Grader], Field(max_length=100)] = Field(default_factory=dict)
    constraints: Annotated[FrozenMap[Name, Constraint], Field(max_length=100)] = Field(default_factory=dict)
    downstream: DownstreamRule = Field(default_factory=DownstreamRule)
    approvals: Literal["approve", "reject", "leave"] = "leave"
    """What a reviewer decides who answers every approval that is asked for."""
    reaches: Literal["completed", "waiting_approval", "waiting_reconciliation", "failed", "running"] = (
        "completed"
    )
    """Where the run must stand in the end."""
    limits: Limits | None = None
    """In place of the manifest's."""
    interruptions: Interruptions | None = None
    """In place of the manifest's."""

    @model_validator(mode="after")
    def _every_check_has_a_requirement(self) -> Self:
        known = {requirement.id for requirement in self.run.requirements}
        for name, grader in self.graders.items():
            for requirement in grader.requirements:
                if requirement not in known:
                    raise ValueError(
                        f"the grader `{name}` checks `{requirement}`, which the run does not require"
                    )
        return self


class Manifest(Part):
    """A rehearsal."""

    project: Label = "alpha"
    policies: Annotated[Text, Field(min_length=1, max_length=500)] | None = None
    """The policy bundle's folder, from the manifest's place; without it the one in the settings."""
    trials: Annotated[int, Field(ge=1, le=100)] = 1
    """How often each interruption is tried."""
    uninterrupted: Annotated[int, Field(ge=1, le=100)] = 2
    """How often each scenario is played without interruption; two show whether its result is the same."""
    limits: Limits = Limits()
    interruptions: Interruptions = Interruptions()
    scenarios: Annotated[FrozenMap[Name, Scenario], Field(min_length=1, max_length=50)]
