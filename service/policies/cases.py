"""The tests that an author writes beside a bundle: given facts, an expected decision."""

from collections.abc import Mapping
from typing import Annotated, Final, Self

from pydantic import AwareDatetime, Field, model_validator

from service.identity.model import Role
from service.policies.foreseen import Hindrance
from service.policies.given import (
    GivenCommand,
    GivenEvidence,
    GivenExecution,
    GivenMemory,
    GivenPackage,
    GivenProposal,
    Tokens,
)
from service.policies.parts import FrozenMap, Part, Sentence
from service.policies.verdict import Outcome, ReasonCode
from service.policies.words import Approver, Authority, RetainedText, SectionName, Trust

CASES_IN_FILE_MAX: Final = 500

ANSWERED: Final[Mapping[str, tuple[str, ...]]] = {
    "proposal": ("decision", "reasons", "rules", "approver", "trust", "expires_at"),
    "evidence": ("trust", "authority", "limited", "rules"),
    "memory": ("expires_at", "listed", "readable", "shown_in_package", "kept", "why_not", "rules"),
    "package": ("allowed", "refused", "minima", "maxima", "classes", "rules"),
    "command": (
        "allowed", "refused", "capability_held", "approval_needed", "approver", "evidence_needed", "rules",
    ),
    "execution": ("allowed", "refused", "text", "destroyed_at", "rules"),
}  # fmt: skip
"""What may be expected of each thing that may be given."""


class Given(Part):
    """What a case is about: one of these."""

    proposal: GivenProposal | None = None
    """A proposed memory."""
    evidence: GivenEvidence | None = None
    """A submitted piece of evidence."""
    memory: GivenMemory | None = None
    """A memory that was kept, and who asks for it."""
    package: GivenPackage | None = None
    """A request for a context package."""
    command: GivenCommand | None = None
    """An effect that somebody wants to have."""
    execution: GivenExecution | None = None
    """A run that is over."""

    @model_validator(mode="after")
    def _is_one(self) -> Self:
        if sum(getattr(self, name) is not None for name in ANSWERED) != 1:
            raise ValueError(f"give one of {', '.join(ANSWERED)}")
        return self

    @property
    def kind(self) -> str:
        """Which of them it is."""
        return next(name for name in ANSWERED if getattr(self, name) is not None)


class Expected(Part):
    """What must come out. What is left out is not compared."""

    decision: Outcome | None = None
    """Of a proposal: `approved`, `denied` or `pending_review`."""
    reasons: tuple[ReasonCode, ...] | None = None
    """Of a proposal: all reason codes, in the order of reporting."""
    rules: tuple[str, ...] | None = None
    """The places in the bundle that decided, as `classes.preference.consent_needed`."""
    approver: Approver | Role | None = None
    """Of a pending proposal or a command: who decides."""
    trust: Trust | None = None
    """How far it is believed."""
    expires_at: AwareDatetime | None = None
    """Of an approved proposal or a memory: when it ends."""
    authority: Authority | None = None
    """Of evidence: how much it counts."""
    limited: bool | None = None
    """Of evidence: whether more was claimed than is allowed."""
    listed: bool | None = None
    """Of a memory: whether a list of what is kept shows it."""
    readable: bool | None = None
    """Of a memory: whether a search for the purpose finds it."""
    shown_in_package: bool | None = None
    """Of a memory: whether a package may hold it."""
    kept: bool | None = None
    """Of a memory: whether its words still exist."""
    why_not: tuple[Hindrance, ...] | None = None
    """Of a memory: all that keeps it out of a search or a package."""
    allowed: bool | None = None
    """Of a package, a command or an execution: whether it is taken up at all."""
    refused: str | None = None
    """The code of the refusal, as `capability_missing`."""
    minima: FrozenMap[SectionName, Tokens] | None = None
    """Of a package: tokens kept free for sections; only those that are named are compared."""
    maxima: FrozenMap[SectionName, Tokens] | None = None
    """Of a package: the most tokens of sections; only those that are named are compared."""
    classes: tuple[str, ...] | None = None
    """Of a package: all classes whose memories may appear, in the order of the alphabet."""
    capability_held: bool | None = None
    """Of a command: whether the credential has the capability."""
    approval_needed: bool | None = None
    """Of a command: whether a person must approve it first."""
    evidence_needed: int | None = None
    """Of a command: how many pieces of evidence a request for approval names."""
    text: RetainedText | None = None
    """Of an execution: `full` or `none`."""
    destroyed_at: AwareDatetime | None = None
    """Of an execution: when its content is destroyed."""

    @model_validator(mode="after")
    def _says_something(self) -> Self:
        if not self.model_fields_set:
            raise ValueError("an expectation that expects nothing always holds")
        return self

    def differences(self, found: Mapping[str, object]) -> tuple[str, ...]:
        """Answer a line for each expectation that `found`, what came out by its name, does not meet."""
        lines: list[str] = []
        for name in type(self).model_fields:
            wanted, actual = getattr(self, name), found.get(name)
            if wanted is None:
                continue
            if isinstance(wanted, Mapping) and isinstance(actual, Mapping):
                lines.extend(
                    _line(f"{name} of {key}", item, actual.get(key))
                    for key, item in wanted.items()
                    if actual.get(key) != item
                )
            elif actual != wanted:
                lines.append(_line(name, wanted, actual))
        return tuple(lines)


def _line(name: str, wanted: object, actual: object) -> str:
    line = f"{name}: expected {_words(wanted)}, found {_words(actual)}"
    if not (isinstance(wanted, tuple) and isinstance(actual, tuple)):
        return line
    more = [str(item) for item in actual if item not in wanted]
    less = [str(item) for item in wanted if item not in actual]
    told = [f"missing {', '.join(less)}"] * bool(less) + [f"not expected {', '.join(more)}"] * bool(more)
    return f"{line} ({'; '.join(told) or 'in another order'})"


def _words(value: object) -> str:
    if isinstance(value, tuple):
        return f"[{', '.join(str(item) for item in value)}]"
    if isinstance(value, bool):
        return "true" if value else "false"
    return "nothing" if value is None else str(value)


class Case(Part):
    """One test."""

    name: Sentence
    """The sentence that it proves."""
    now: AwareDatetime | None = None
    """The moment at which it happens, where it is another than the file's."""
    given: Given
    """The facts."""
    expect: Expected
    """The decision."""

    @model_validator(mode="after")
    def _expects_what_there_is(self) -> Self:
        known = ANSWERED[self.given.kind]
        for name in sorted(self.expect.model_fields_set):
            if name not in known:
                raise ValueError(
                    f"`{name}` is not what comes out of a given {self.given.kind}: expect {', '.join(known)}"
                )
        return self


class CaseFile(Part):
    """A file of tests of a bundle."""

    now: AwareDatetime
    """The moment at which everything in this file happens, quoted, with an offset."""
    cases: Annotated[tuple[Case, ...], Field(min_length=1, max_length=CASES_IN_FILE_MAX)]
    """The tests."""
