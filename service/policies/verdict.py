"""What a proposal is judged by, and what the judgement says. Facts in, verdict out; nothing is read here."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Literal

from service.detection.proposed import Detected
from service.identity.model import Role
from service.policies.words import Approver, Authority, ProvenanceKind, Trust

Speaker = Literal["system", "user", "assistant", "tool"]
"""The role of a turn."""


class ReasonCode(StrEnum):
    """Why something was not simply approved. Stable and append-only; reported in this order."""

    CLASS_UNKNOWN = "class_unknown"
    BUSINESS_FACT = "business_fact"
    WRITER_NOT_ALLOWED = "writer_not_allowed"
    CONSENT_MISSING = "consent_missing"
    REFUSED = "refused"
    PROVENANCE_MISSING = "provenance_missing"
    PROVENANCE_INVALID = "provenance_invalid"
    LOOP = "loop"
    SOURCE_NOT_ALLOWED = "source_not_allowed"
    TRUST_TOO_LOW = "trust_too_low"
    CONFIDENCE_TOO_LOW = "confidence_too_low"
    VALUE_INVALID = "value_invalid"
    RULE_DENIED = "rule_denied"
    SENSITIVE_CREDENTIAL = "sensitive_credential"
    SENSITIVE_HEALTH = "sensitive_health"
    SENSITIVE_IDENTIFIER = "sensitive_identifier"
    SENSITIVE_CATEGORY = "sensitive_category"
    INSTRUCTION_LIKE = "instruction_like"
    SPECULATIVE = "speculative"
    TRANSIENT = "transient"
    INFERRED = "inferred"
    DUPLICATE = "duplicate"
    CONFLICT = "conflict"
    QUOTA_EXCEEDED = "quota_exceeded"
    RULE_REVIEW = "rule_review"
    REVIEW_REQUIRED = "review_required"
    REVIEW_LAPSED = "review_lapsed"


class Outcome(StrEnum):
    """What becomes of a proposal."""

    APPROVED = "approved"
    DENIED = "denied"
    PENDING_REVIEW = "pending_review"


class Quote(StrEnum):
    """Whether a cited source was quoted, and whether the quote stands in it."""

    ABSENT = "absent"
    FOUND = "found"
    NOT_FOUND = "not_found"


class Existing(StrEnum):
    """What the active memory of the same subject, class and key says."""

    NONE = "none"
    SAME = "same"
    DIFFERENT = "different"
    DIFFERENT_NEWER = "different_newer"
    """Different, and observed after all that the proposal cites."""


class MemoryMode(StrEnum):
    """What the execution that a proposal comes from may do with memory."""

    OFF = "off"
    READ = "read"
    READ_WRITE = "read_write"


@dataclass(frozen=True, slots=True)
class SourceFacts:
    """One cited source, as the record knows it; of what was not found only `kind` counts.

    `uri` and `source_kind` are those of the evidence or observation; a turn needs neither. `speaker` is the
    turn's role. `subjects_own` says that it is a user's turn whose credential's `sub` was the subject,
    `relayed` that an agent sent it. `from_package` says that the text came out of a context package.
    `is_act` says that it is no turn but what the subject does at this moment by their own sign-in, as in a
    correction: that needs no other source, and every class takes it.
    """

    kind: ProvenanceKind
    found: bool
    quote: Quote = Quote.ABSENT
    trust: Trust = Trust.THIRD_PARTY
    authority: Authority = Authority.MODEL_SUMMARY
    uri: str = ""
    source_kind: str = ""
    speaker: Speaker | None = None
    subjects_own: bool = False
    relayed: bool = False
    from_package: bool = False
    is_act: bool = False

    @property
    def is_own_words(self) -> bool:
        """Whether this is found and something that the subject said, not repeated out of a package."""
        is_turn = self.kind is ProvenanceKind.TURN and self.speaker == "user"
        return self.found and is_turn and self.subjects_own and not self.from_package

    @property
    def is_model_text(self) -> bool:
        """Whether a model wrote this: an assistant's turn, a summary, or what came out of a package."""
        if self.kind is ProvenanceKind.TURN:
            return self.from_package or self.speaker == "assistant"
        return self.from_package or self.authority is Authority.MODEL_SUMMARY


@dataclass(frozen=True, slots=True)
class ProposalFacts:
    """Everything that a decision about a proposed memory may depend on.

    `acts_for_subject`: the credential's person is the subject. `consent_given`: the subject's consent to
    `purpose` stands now. `refused`: the subject said that such things are never to be remembered.
    `detections`: what detectors found in key, text, value and quotes.
    `quota_used`: active memories of this class and subject (or project).
    `execution_memory_mode` is `None` for a proposal that comes from no execution. `corrects`: it changes a
    memory rather than adding one. `outranked`: the subject wrote what is remembered, and nothing that they
    said since is the newest source of this. `project` is its name, `agent` the agent's that proposes, empty
    where a person does by themselves.
    """

    class_name: str
    proposer_role: Role
    subject: str | None
    acts_for_subject: bool
    text: str | None
    value: object
    purpose: str
    confidence: float
    provenance: tuple[SourceFacts, ...]
    consent_given: bool
    existing: Existing = Existing.NONE
    quota_used: int = 0
    execution_memory_mode: MemoryMode | None = None
    refused: bool = False
    detections: tuple[Detected, ...] = ()
    corrects: bool = False
    outranked: bool = False
    project: str = ""
    agent: str = ""


@dataclass(frozen=True, slots=True)
class Reason:
    """One reason: a stable code, a sentence without user text, and the place in the bundle that says so."""

    code: ReasonCode
    message: str
    rule: str


@dataclass(frozen=True, slots=True)
class Verdict:
    """A decision with all of its reasons, and what an approval would mean.

    `approver` is who decides a pending proposal, else `None`. `rule` is the path in the bundle that decided.
    `expires_at` is set unless denied; it counts from the moment judged, so a later approval computes its own.
    `trust` is the lowest of the cited sources'.
    """

    outcome: Outcome
    reasons: tuple[Reason, ...]
    approver: Approver | None
    policy_version: str
    rule: str
    trust: Trust
    expires_at: datetime | None
    supersedes: bool
    """Whether an approval replaces the active value of the same key."""
    detections: tuple[Detected, ...] = ()
    """What detectors found, for whoever decides and for the record: no words."""

    @property
    def rules(self) -> tuple[str, ...]:
        """The places in the bundle that decided, each once: those of the reasons, else what approved."""
        return tuple(dict.fromkeys(reason.rule for reason in self.reasons)) or (self.rule,)

    @property
    def codes(self) -> tuple[ReasonCode, ...]:
        """The reasons' codes, in order."""
        return tuple(reason.code for reason in self.reasons)


@dataclass(frozen=True, slots=True)
class Placement:
    """How far a submitted piece of evidence is believed.

    `source` names the rule that placed it (`None`: no rule covers it). `limited` says that the caller claimed
    more than it may.
    """

    trust: Trust
    authority: Authority
    limited: bool
    source: str | None
