"""The enumerations of a bundle. Their values are what an author writes; each list is append-only."""

from enum import StrEnum
from typing import Final


class Trust(StrEnum):
    """How far a source is believed, best first. What is derived takes the lowest trust in its lineage."""

    FIRST_PARTY = "first_party"
    INTERNAL_TOOL = "internal_tool"
    EXTERNAL_TOOL = "external_tool"
    THIRD_PARTY = "third_party"

    @property
    def rank(self) -> int:
        """Position in the order, 0 for the most trusted."""
        return _TRUST_RANKS[self]


class Authority(StrEnum):
    """How much a statement counts against another one, highest first."""

    SYSTEM_OF_RECORD = "system_of_record"
    APPROVED_RECORD = "approved_record"
    TOOL_RESULT = "tool_result"
    DOCUMENT = "document"
    CONVERSATION = "conversation"
    MODEL_SUMMARY = "model_summary"

    @property
    def rank(self) -> int:
        """Position in the order, 0 for the highest."""
        return _AUTHORITY_RANKS[self]


# Asked for each passage of a package, so counted once.
_TRUST_RANKS: Final = {trust: rank for rank, trust in enumerate(Trust)}
_AUTHORITY_RANKS: Final = {authority: rank for rank, authority in enumerate(Authority)}


class ClassScope(StrEnum):
    """Whose a memory is: one person's, or a project's."""

    USER = "user"
    PROJECT = "project"


class LawfulBasis(StrEnum):
    """Why personal data may be processed (GDPR, article 6)."""

    CONSENT = "consent"
    CONTRACT = "contract"
    LEGAL_OBLIGATION = "legal_obligation"
    VITAL_INTERESTS = "vital_interests"
    PUBLIC_TASK = "public_task"
    LEGITIMATE_INTEREST = "legitimate_interest"


class Stake(StrEnum):
    """What a memory must never decide by itself: it is checked anew before it counts for one of these."""

    AUTHORITY = "authority"
    MONEY = "money"
    SAFETY = "safety"
    ACCESS = "access"


class ProvenanceKind(StrEnum):
    """What a proposal cites."""

    TURN = "turn"
    EVIDENCE = "evidence"
    OBSERVATION = "observation"


class OwnWords(StrEnum):
    """How far a class insists that the subject said it."""

    NOT_NEEDED = "not_needed"
    TURN = "turn"
    """At least one source is a turn of the subject."""
    QUOTE = "quote"
    """At least one source is a quote out of such a turn."""
    SIGNED_IN_QUOTE = "signed_in_quote"
    """As `quote`, and the subject sent that turn itself: no agent relayed it."""


class Approver(StrEnum):
    """Who decides a proposal that policy alone does not."""

    AUTO = "auto"
    """Nobody: policy alone."""
    SUBJECT = "subject"
    REVIEWER = "reviewer"
    BOTH = "both"
    """The subject and a reviewer, each once, in any order."""


class RuleEffect(StrEnum):
    """What a rule of a class does with a proposal for which its condition holds."""

    DENY = "deny"
    REVIEW = "review"
    """A person decides, whatever else would have approved it."""
    PERMIT = "permit"
    """Policy alone approves what nothing denies and nothing else sends to a person."""


class ConflictRule(StrEnum):
    """What happens when another value of the same subject, class and key is active."""

    SUPERSEDE = "supersede"
    REVIEW = "review"
    KEEP_NEWEST = "keep_newest"


class ExpiryStart(StrEnum):
    """The moment from which a memory's days are counted."""

    CONFIRMATION = "confirmation"
    CREATION = "creation"


class Sensitivity(StrEnum):
    """How much harm a memory does in the wrong hands."""

    ORDINARY = "ordinary"
    PERSONAL = "personal"
    SENSITIVE = "sensitive"


class Detection(StrEnum):
    """Kinds of personal data that a class may be allowed to hold, as detectors name it. Secrets are none."""

    EMAIL = "email"
    PHONE = "phone"
    POSTAL_ADDRESS = "postal_address"
    PAYMENT_CARD = "payment_card"
    IBAN = "iban"
    NATIONAL_ID = "national_id"
    HEALTH = "health"
    RELIGION = "religion"
    POLITICS = "politics"
    UNION = "union"
    SEX_LIFE = "sex_life"
    ETHNICITY = "ethnicity"
    BIOMETRIC = "biometric"
    CRIMINAL = "criminal"

    @property
    def is_special(self) -> bool:
        """Whether the law wants more than a basis for it (GDPR, articles 9 and 10)."""
        return self in _SPECIAL


_SPECIAL: Final = frozenset(
    {
        Detection.HEALTH,
        Detection.RELIGION,
        Detection.POLITICS,
        Detection.UNION,
        Detection.SEX_LIFE,
        Detection.ETHNICITY,
        Detection.BIOMETRIC,
        Detection.CRIMINAL,
    }
)


class Destination(StrEnum):
    """Where a memory's text may go."""

    PACKAGE = "package"
    SEARCH = "search"
    EXPORT = "export"


class ValueType(StrEnum):
    """What a memory's structured value may be, beside or instead of its text."""

    TEXT = "text"
    NUMBER = "number"
    BOOLEAN = "boolean"
    OBJECT = "object"
    """Named fields, each of a type of its own."""


class FieldType(StrEnum):
    """What a field of a structured value may be."""

    TEXT = "text"
    NUMBER = "number"
    INTEGER = "integer"
    BOOLEAN = "boolean"
    TEXTS = "texts"
    """A list of texts."""


class SectionName(StrEnum):
    """The sections of a package, in the order in which they are rendered."""

    INSTRUCTIONS = "instructions"
    TOOLS = "tools"
    SCOPE = "scope"
    GOAL = "goal"
    HISTORY = "history"
    MEMORIES = "memories"
    EVIDENCE = "evidence"
    OBSERVATIONS = "observations"
    STATE = "state"
    LIMITS = "limits"


class Overflow(StrEnum):
    """What a section does with content that does not fit."""

    DROP = "drop"
    TRUNCATE = "truncate"
    SUMMARY = "summary"
    CARDS = "cards"
    ERROR = "error"


class Submission(StrEnum):
    """Who may submit evidence of a source."""

    ANYONE = "anyone"
    GRANTED = "granted"
    """Only a credential that was created with this source's name."""


class ToolEffect(StrEnum):
    """Whether a tool only reads."""

    READ = "read"
    WRITE = "write"


class ApprovalNeed(StrEnum):
    """Whether a command waits for a person."""

    NOT_NEEDED = "not_needed"
    NEEDED = "needed"


class RetainedText(StrEnum):
    """How much of what is said in an execution is kept."""

    FULL = "full"
    NONE = "none"


class ContractConfirmation(StrEnum):
    """Which task contracts a person confirms before anything can be completed."""

    NEVER = "never"
    AGENT_WRITTEN = "agent_written"
    ALWAYS = "always"


class Revalidation(StrEnum):
    """What a new candidate leaves of the checks on earlier ones."""

    AFFECTED = "affected"
    """A passing check stands while every input that its requirement declares is unchanged."""
    FULL = "full"
    """Nothing: each candidate is checked anew."""
