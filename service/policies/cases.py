"""The tests that an author writes beside a bundle: given facts, an expected decision."""

from typing import Annotated, Final, Self

from pydantic import AwareDatetime, Field, model_validator

from service.detection.proposed import detect
from service.detection.scan import OwnRules
from service.identity.model import Role
from service.policies.parts import Part, Sentence
from service.policies.verdict import (
    Existing,
    MemoryMode,
    Outcome,
    Placement,
    ProposalFacts,
    Quote,
    ReasonCode,
    SourceFacts,
    Speaker,
    Verdict,
)
from service.policies.words import Approver, Authority, ProvenanceKind, Trust

CASES_IN_FILE_MAX: Final = 500


class GivenSource(Part):
    """One cited source."""

    kind: ProvenanceKind
    """`turn`, `evidence` or `observation`."""
    found: bool = True
    """Whether it exists in this tenant."""
    quote: Quote = Quote.ABSENT
    """Whether it is quoted, and the quote stands in it."""
    trust: Trust = Trust.THIRD_PARTY
    """How far it is believed."""
    authority: Authority = Authority.DOCUMENT
    """How much it counts."""
    uri: str = ""
    """Address of the evidence or observation."""
    source_kind: str = ""
    """Kind of the evidence or observation."""
    speaker: Speaker | None = None
    """Role of the turn."""
    subjects_own: bool = False
    """Whether the subject said it."""
    relayed: bool = False
    """Whether an agent sent it."""
    from_package: bool = False
    """Whether the text came out of a context package."""

    def facts(self) -> SourceFacts:
        """Answer what a judgement is made of."""
        return SourceFacts(**{name: getattr(self, name) for name in type(self).model_fields})


class GivenProposal(Part):
    """A proposal. What is left out is an agent that acts for user-1, without consent and without source."""

    memory_class: Annotated[str, Field(alias="class")]
    """Name of the class."""
    proposer: Role = Role.AGENT
    """Role of the credential."""
    agent: str = "agent-1"
    """The agent that proposes; of no meaning for another role."""
    project: str = "alpha"
    """Name of the project."""
    corrects: bool = False
    """Whether it changes a memory instead of adding one."""
    subject: str | None = "user-1"
    """Whom it is about."""
    acts_for_subject: bool = True
    """Whether the credential's person is the subject."""
    text: str | None = "Prefers concise explanations"
    """The text to keep."""
    key: str = "reply_style"
    """What it says something about."""
    value: bool | int | float | str | dict[str, bool | int | float | str | list[str]] | None = None
    """The value to keep."""
    purpose: str
    """What it is to be used for."""
    confidence: float = 0.9
    """The proposer's confidence, 0 to 1."""
    consent_given: bool = False
    """Whether the subject's consent to the purpose stands."""
    refused: bool = False
    """Whether the subject refuses to have such things remembered."""
    existing: Existing = Existing.NONE
    """What is remembered under the same key."""
    quota_used: int = 0
    """How many are remembered already."""
    memory_mode: MemoryMode | None = None
    """Memory mode of the execution that it comes from."""
    provenance: tuple[GivenSource, ...] = ()
    """What it cites."""

    def facts(self) -> ProposalFacts:
        """Answer what a judgement is made of; the built-in detectors read what is to be kept."""
        return ProposalFacts(
            class_name=self.memory_class,
            proposer_role=self.proposer,
            subject=self.subject,
            acts_for_subject=self.acts_for_subject,
            text=self.text,
            value=self.value,
            purpose=self.purpose,
            confidence=self.confidence,
            provenance=tuple(source.facts() for source in self.provenance),
            consent_given=self.consent_given,
            refused=self.refused,
            detections=detect(OwnRules(), key=self.key, text=self.text, value=self.value),
            existing=self.existing,
            quota_used=self.quota_used,
            execution_memory_mode=self.memory_mode,
            corrects=self.corrects,
            project=self.project,
            agent=self.agent if self.proposer is Role.AGENT else "",
        )


class GivenEvidence(Part):
    """A piece of evidence that is being submitted."""

    uri: str
    """Its address."""
    kind: str = "document"
    """Its kind."""
    authority: Authority | None = None
    """The authority that is claimed for it."""
    grants: tuple[str, ...] = ()
    """Sources that the credential may submit."""


class Given(Part):
    """What a case is about: one of these."""

    proposal: GivenProposal | None = None
    """A proposed memory."""
    evidence: GivenEvidence | None = None
    """A submitted piece of evidence."""

    @model_validator(mode="after")
    def _is_one(self) -> Self:
        if (self.proposal is None) == (self.evidence is None):
            raise ValueError("give either a proposal or evidence")
        return self


class Expected(Part):
    """What must come out. What is left out is not compared."""

    decision: Outcome | None = None
    """Of a proposal: `approved`, `denied` or `pending_review`."""
    reasons: tuple[ReasonCode, ...] | None = None
    """Of a proposal: all reason codes, in the order of reporting."""
    rules: tuple[str, ...] | None = None
    """Of a proposal: the places in the bundle that decided, as `classes.preference.consent_needed`."""
    approver: Approver | None = None
    """Of a pending proposal: who decides."""
    trust: Trust | None = None
    """How far it is believed."""
    expires_at: AwareDatetime | None = None
    """Of an approved proposal: when it ends."""
    authority: Authority | None = None
    """Of evidence: how much it counts."""
    limited: bool | None = None
    """Of evidence: whether more was claimed than is allowed."""

    @model_validator(mode="after")
    def _says_something(self) -> Self:
        if not self.model_fields_set:
            raise ValueError("an expectation that expects nothing always holds")
        return self

    def differences(self, found: Verdict | Placement) -> tuple[str, ...]:
        """Answer a line for each expectation that `found` does not meet."""
        lines: list[str] = []
        for name in type(self).model_fields:
            wanted = getattr(self, name)
            if wanted is None:
                continue
            actual = getattr(found, _FOUND_UNDER.get(name, name), None)
            if actual != wanted:
                lines.append(f"{name}: expected {_words(wanted)}, found {_words(actual)}")
        return tuple(lines)


_FOUND_UNDER: Final = {"decision": "outcome", "reasons": "codes"}


def _words(value: object) -> str:
    if isinstance(value, tuple):
        return f"[{', '.join(str(item) for item in value)}]"
    return "nothing" if value is None else str(value)


class Case(Part):
    """One test."""

    name: Sentence
    """The sentence that it proves."""
    given: Given
    """The facts."""
    expect: Expected
    """The decision."""


class CaseFile(Part):
    """A file of tests of a bundle."""

    now: AwareDatetime
    """The moment at which everything in this file happens, quoted, with an offset."""
    cases: Annotated[tuple[Case, ...], Field(min_length=1, max_length=CASES_IN_FILE_MAX)]
    """The tests."""
