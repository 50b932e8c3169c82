"""The facts that a test of a bundle states, about one of six things that a bundle decides."""

from typing import Annotated, Self

from pydantic import AwareDatetime, Field, model_validator

from service.detection.proposed import detect
from service.detection.scan import OwnRules
from service.identity.model import Role
from service.policies.parts import FrozenMap, Part
from service.policies.verdict import Existing, MemoryMode, ProposalFacts, Quote, SourceFacts, Speaker
from service.policies.words import Authority, ProvenanceKind, SectionName, Trust

Tokens = Annotated[int, Field(ge=0, le=2_000_000)]


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


class GivenMemory(Part):
    """A memory that was kept, and who asks for it at `now`. What is left out is the subject's own agent-1."""

    memory_class: Annotated[str, Field(alias="class")]
    """Name of the class."""
    created_at: AwareDatetime
    """When it was kept."""
    confirmed_at: AwareDatetime | None = None
    """When a person last confirmed it; left out: when it was kept."""
    used_at: AwareDatetime | None = None
    """When a package last showed it."""
    held: bool = False
    """Whether a legal hold restricts it."""
    reader: Role = Role.AGENT
    """Role of the credential that asks."""
    agent: str = "agent-1"
    """The agent that asks; of no meaning for another role."""
    own: bool = True
    """Whether the credential's person is the one whom it is about."""
    purpose: str
    """What it is asked for."""
    consent_given: bool = False
    """Whether the subject's consent to the purpose stands."""
    model: str | None = None
    """The model that a package is for; left out: the request names none."""

    @model_validator(mode="after")
    def _is_in_order(self) -> Self:
        for name in ("confirmed_at", "used_at"):
            if (moment := getattr(self, name)) is not None and moment < self.created_at:
                raise ValueError(f"{name} is before created_at")
        return self


class GivenShare(Part):
    """What a request changes in one section's share."""

    min: Tokens | None = None
    """Tokens kept free for it."""
    max: Tokens | None = None
    """The most tokens that it takes."""


class GivenPackage(Part):
    """A request for a package. What is left out is an agent that acts for a person and names no model."""

    profile: str = "default"
    """Name of the context profile."""
    purpose: str
    """What it is for."""
    max_tokens: Tokens
    """The budget, the reply included."""
    reply_reserve: Tokens = 0
    """Tokens kept free for the reply."""
    sections: FrozenMap[SectionName, GivenShare] = Field(default_factory=dict)
    """What the request changes in the shares of sections."""
    reader: Role = Role.AGENT
    """Role of the credential that asks."""
    agent: str = "agent-1"
    """The agent that asks; of no meaning for another role."""
    for_person: bool = True
    """Whether it acts for a person, or is one."""
    model: str | None = None
    """The model that the package is for."""


class GivenCommand(Part):
    """An effect that somebody wants to have."""

    kind: str
    """Its kind, as `payments.pay`."""
    role: Role = Role.AGENT
    """Role of the credential."""
    delegated: bool = True
    """Whether the credential acts for a user: then it may do what both may."""

    @model_validator(mode="after")
    def _delegates(self) -> Self:
        if self.delegated and self.role is not Role.AGENT and "delegated" in self.model_fields_set:
            raise ValueError("only an agent's credential acts for a user: leave `delegated` out")
        return self

    @property
    def is_delegated(self) -> bool:
        """Whether what agent and user share counts."""
        return self.delegated and self.role is Role.AGENT


class GivenExecution(Part):
    """A run that is over."""

    retention: str
    """Name of its retention class."""
    ended_at: AwareDatetime
    """When it ended."""
