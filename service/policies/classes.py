"""Memory classes: what may be remembered, why, by whose word and for how long."""

from datetime import UTC, date, datetime, time, timedelta
from typing import Annotated, Final, Literal, Self

from pydantic import ConfigDict, Field, model_validator

from service.identity.model import Role
from service.policies.conditions import ConditionText
from service.policies.parts import Days, FrozenMap, Name, Part, Sentence, leave_out_name
from service.policies.values import ValueRule
from service.policies.words import (
    Approver,
    ClassScope,
    ConflictRule,
    Destination,
    Detection,
    ExpiryStart,
    LawfulBasis,
    OwnWords,
    ProvenanceKind,
    RuleEffect,
    Sensitivity,
    Stake,
    Trust,
)

KEEP_ENDED_DAYS: Final = 30
"""What a class that says nothing gives its person to look back, and what one that is gone gave."""

WAITS_DAYS: Final = 30
"""How long a proposal waits where its class says nothing, or is gone."""

Confidence = Annotated[float, Field(ge=0, le=1)]

Label = Annotated[str, Field(min_length=1, max_length=40, pattern=r"^[^\n\r]+$")]
"""A few words that stand in a heading of a package."""

Note = Annotated[str, Field(min_length=1, max_length=200, pattern=r"^[^\n\r]+$")]
"""A sentence that stands in a heading of a package."""

ModelPattern = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._:/-]{0,99}\*?$")]
"""The name of a model, or the beginning of names followed by `*`."""


AgentName = Annotated[str, Field(min_length=1, max_length=200, pattern=r"^[^\s]+$")]
"""The subject of an agent's credential."""


_SAID_BESIDE_A_REFUSAL: Final = frozenset({"name", "because", "scope", "refuses", "rules"})
"""What a class that refuses says at all."""


class AutomaticWhen(Part):
    """When policy alone approves: every source is the subject's own turn, and confidence suffices."""

    confidence_min: Confidence
    """The lowest confidence at which the subject's own word is enough, 0 to 1."""
    when: ConditionText | None = None
    """A condition (CEL) that must hold besides; where it does not, the subject decides."""


class ClassRule(Part):
    """A rule of a class for what its fields cannot say. The order of rules decides nothing."""

    effect: RuleEffect
    """`deny`, `review` (a person decides) or `permit` (nobody has to, unless something else asks)."""
    when: ConditionText
    """The condition (CEL) under which it does so."""
    because: Sentence
    """Why, as the proposer is told."""


class Approval(Part):
    """Who decides, and when nobody has to."""

    by: Approver
    """Who decides a proposal: `auto`, `subject`, `reviewer` or `both`."""
    automatic_when: AutomaticWhen | None = None
    """Approve without `by` when the source is the subject's own turn. Only beside `by: subject`."""
    waits_days: Annotated[int, Field(ge=1, le=365)] = WAITS_DAYS
    """Days that a proposal waits. What nobody has decided by then is denied and forgotten."""

    @model_validator(mode="after")
    def _shortcut_is_the_subjects(self) -> Self:
        # The shortcut stands on the subject's word; it must not replace anybody else's.
        if self.automatic_when is not None and self.by is not Approver.SUBJECT:
            raise ValueError("automatic_when goes with `by: subject` only")
        return self


class Expiry(Part):
    """When a memory ends. The earliest of the moments given counts."""

    days: Days
    """Days after `counted_from`."""
    counted_from: ExpiryStart = ExpiryStart.CONFIRMATION
    """`confirmation`: a person who confirms it again starts the days anew. `creation`: nothing does."""
    idle_days: Days | None = None
    """Days after it was last used in a package."""
    last_day: date | None = None
    """A date after which none is kept, as a quoted `"YYYY-MM-DD"`; it ends with that day in UTC."""
    keep_ended_days: Annotated[int, Field(ge=0, le=36_500)] = KEEP_ENDED_DAYS
    """Days for which one that has expired or was superseded is kept, then it is destroyed."""

    def expires_at(
        self, *, created_at: datetime, confirmed_at: datetime, used_at: datetime | None = None
    ) -> datetime:
        """Answer the moment from which the memory is no longer there. A day is 24 hours of UTC."""
        start = confirmed_at if self.counted_from is ExpiryStart.CONFIRMATION else created_at
        ends = [start + timedelta(days=self.days)]
        if self.idle_days is not None:
            ends.append((used_at or confirmed_at) + timedelta(days=self.idle_days))
        if self.last_day is not None:
            ends.append(datetime.combine(self.last_day, time.min, UTC) + timedelta(days=1))
        return min(ends)


class MemorySources(Part):
    """What a proposal of the class may cite."""

    provenance: Annotated[tuple[ProvenanceKind, ...], Field(min_length=1)]
    """Kinds of thing that may be cited: `turn`, `evidence`, `observation`."""
    from_sources: Annotated[tuple[Name, ...], Field(min_length=1)]
    """Names of the bundle's sources that it may come from."""
    lowest_trust: Trust
    """The lowest trust that any cited source may have."""
    own_words: OwnWords = OwnWords.NOT_NEEDED
    """Whether the subject must have said it, and how."""


class MemoryClass(Part):
    """One class of long-term memory. A class that `refuses` takes nothing and needs nothing else."""

    model_config = ConfigDict(json_schema_extra=leave_out_name)

    name: Name
    because: Sentence
    """The rest of the sentence "we need to remember this because ..."; for a refusing class, why not."""
    scope: ClassScope
    """`user`: one person's. `project`: a project's, about nobody in particular."""
    refuses: Literal["business_fact"] | None = None
    """The reason code under which every proposal is denied."""
    purposes: tuple[Name, ...] = ()
    """What it may be used for; each is declared under `purposes`."""
    lawful_basis: LawfulBasis | None = None
    """Why it may be kept (GDPR, article 6)."""
    consent_needed: bool = True
    """Whether the subject's consent to the purpose must stand, when it is written and whenever it is read."""
    agents: Annotated[tuple[AgentName, ...], Field(max_length=100)] = ()
    """The only agents that propose it and are shown it. Empty: any whom `writers` and `readers` allow."""
    writers: tuple[Role, ...] = ()
    """Roles that may propose it."""
    readers: tuple[Role, ...] = ()
    """Roles that may read it; a person's own is always theirs to read."""
    correctors: tuple[Role, ...] = ()
    """Roles that may correct it."""
    history_readers: tuple[Role, ...] = ()
    """Roles that may read what earlier versions said. A person's own are always theirs to read."""
    may_inform: tuple[Name, ...] = ()
    """What may rely on it, in words of your own (`tone`, `delivery`)."""
    revalidate_for: tuple[Stake, ...] = tuple(Stake)
    """What it must be checked anew for before it counts."""
    revalidation_note: Note | None = None
    """How that is done, shown with it in packages."""
    sources: MemorySources | None = None
    """What a proposal may cite."""
    confidence_min: Confidence = 1.0
    """Below this a proposal is denied."""
    value: ValueRule = Field(default_factory=lambda: ValueRule(text_characters_max=500))
    """What its text and value may be."""
    rules: Annotated[FrozenMap[Name, ClassRule], Field(max_length=50)] = Field(default_factory=dict)
    """Rules for what the other keys cannot say, by a name of yours."""
    approval: Approval = Approval(by=Approver.BOTH)
    """Who decides."""
    expiry: Expiry | None = None
    """When it ends."""
    grace_days: Annotated[int, Field(ge=0, le=90)] = 0
    """Days in which its subject may take a deletion back. 0: what is deleted is destroyed at once."""
    quota: Annotated[int, Field(ge=0, le=100_000)] = 0
    """How many may be active for one subject (scope user) or one project (scope project)."""
    conflict: ConflictRule = ConflictRule.REVIEW
    """What happens when another value of the same key is active."""
    sensitivity: Sensitivity = Sensitivity.PERSONAL
    """How much harm it does in the wrong hands."""
    allowed_detections: tuple[Detection, ...] = ()
    """Personal data that detectors find and that this class is for."""
    destinations: tuple[Destination, ...] = ()
    """Where its text may go."""
    models: tuple[ModelPattern, ...] = ()
    """The only models whose packages may hold it (`gpt-4o`, `gpt-*`). Empty: any, named or not."""
    advisory: Literal[True] = True
    """Always true: a memory is never a fact."""
    advisory_label: Label = "advisory"
    """The word that says so in a package."""

    @model_validator(mode="after")
    def _is_whole(self) -> Self:
        if self.refuses is not None:
            self._take_nothing()
            return self
        needed = (
            "purposes", "lawful_basis", "writers", "readers", "sources", "approval", "expiry", "quota",
        )  # fmt: skip
        missing = [name for name in needed if name not in self.model_fields_set]
        if missing:
            raise ValueError(f"a class that takes memories also needs: {', '.join(missing)}")
        if self.lawful_basis is None or self.sources is None or self.expiry is None or not self.purposes:
            raise ValueError("purposes, lawful_basis, sources and expiry may not be empty")
        if self.lawful_basis is LawfulBasis.CONSENT and not self.consent_needed:
            raise ValueError("the lawful basis is consent: consent_needed must be true")
        if self.scope is ClassScope.PROJECT and self.consent_needed:
            raise ValueError("a project's memory has no subject who could consent: consent_needed: false")
        if self.scope is ClassScope.PROJECT and self.approval.by in (Approver.SUBJECT, Approver.BOTH):
            raise ValueError("a project's memory has no subject who could approve it")
        if any(kind.is_special for kind in self.allowed_detections) and not self._guards_the_special():
            raise ValueError(
                "a class that may hold a special category (GDPR, article 9) needs sensitivity: sensitive,"
                " consent_needed: true, and approval by subject or both without automatic_when"
            )
        if (fault := self._permit_fault()) is not None:
            raise ValueError(f"a rule with `effect: permit` {fault}")
        return self

    def _take_nothing(self) -> None:
        # What stands beside a refusal counts for nothing, so it must not move what was kept before it: an
        # end or a corrector would come in under a change that is called stricter. Rules stay for lint.
        for name in type(self).model_fields.keys() - _SAID_BESIDE_A_REFUSAL:
            self.__dict__[name] = type(self).model_fields[name].get_default(call_default_factory=True)

    def _permit_fault(self) -> str | None:
        """Say why no rule here may approve in a person's place, or `None`."""
        if all(rule.effect is not RuleEffect.PERMIT for rule in self.rules.values()):
            return None
        if self.sensitivity is Sensitivity.SENSITIVE:
            return "would keep sensitive things without asking anybody: leave it out, or lower sensitivity"
        if self.approval.by is Approver.BOTH:
            return "would stand in for two people: leave it out, or let one decide"
        if self.approval.automatic_when is not None:
            return "never counts beside automatic_when, whose own reasons stand: keep one of them"
        return None

    def admits(self, agent: str | None) -> bool:
        """Say whether an agent, if one asks (`None` or empty: a person by themselves), may deal with it."""
        return not self.agents or not agent or agent in self.agents

    def _guards_the_special(self) -> bool:
        asks = self.approval.by in (Approver.SUBJECT, Approver.BOTH) and self.approval.automatic_when is None
        return self.sensitivity is Sensitivity.SENSITIVE and self.consent_needed and asks

    def may_be_sent_to(self, model: str | None) -> bool:
        """Say whether a package for `model` may hold it; `None` is a request that names no model."""
        if not self.models:
            return True
        return model is not None and any(
            model.startswith(name[:-1]) if name.endswith("*") else model == name for name in self.models
        )

    def takes_purpose(self, purpose: str) -> bool:
        """Say whether a proposal may name `purpose`; a refusing class takes any, to answer its refusal."""
        return self.refuses is not None or purpose in self.purposes
