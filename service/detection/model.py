"""What a detector may find, and where it found it."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import Final


class Family(StrEnum):
    """What a finding means to whoever decides. Append-only."""

    CREDENTIAL = "credential"
    HEALTH = "health"
    IDENTIFIER = "identifier"
    CATEGORY = "category"
    """The other special categories of GDPR article 9, and the criminal record of article 10."""
    INSTRUCTION = "instruction"
    SPECULATIVE = "speculative"
    TRANSIENT = "transient"


class Kind(StrEnum):
    """What was found. Append-only: proposals keep these words."""

    PROVIDER_KEY = "provider_key"
    TOKEN = "token"  # noqa: S105 - the name of a kind
    PRIVATE_KEY = "private_key"
    PASSWORD = "password"  # noqa: S105 - the name of a kind
    CONNECTION_STRING = "connection_string"
    HEALTH = "health"
    EMAIL = "email"
    PHONE = "phone"
    POSTAL_ADDRESS = "postal_address"
    PAYMENT_CARD = "payment_card"
    IBAN = "iban"
    NATIONAL_ID = "national_id"
    RELIGION = "religion"
    POLITICS = "politics"
    UNION = "union"
    SEX_LIFE = "sex_life"
    ETHNICITY = "ethnicity"
    BIOMETRIC = "biometric"
    CRIMINAL = "criminal"
    INSTRUCTION = "instruction"
    ROLE_PLAY = "role_play"
    MARKUP = "markup"
    HIDDEN_TEXT = "hidden_text"
    SPECULATIVE = "speculative"
    TRANSIENT = "transient"


FAMILY_OF: Final[Mapping[Kind, Family]] = MappingProxyType(
    {
        Kind.PROVIDER_KEY: Family.CREDENTIAL,
        Kind.TOKEN: Family.CREDENTIAL,
        Kind.PRIVATE_KEY: Family.CREDENTIAL,
        Kind.PASSWORD: Family.CREDENTIAL,
        Kind.CONNECTION_STRING: Family.CREDENTIAL,
        Kind.HEALTH: Family.HEALTH,
        Kind.EMAIL: Family.IDENTIFIER,
        Kind.PHONE: Family.IDENTIFIER,
        Kind.POSTAL_ADDRESS: Family.IDENTIFIER,
        Kind.PAYMENT_CARD: Family.IDENTIFIER,
        Kind.IBAN: Family.IDENTIFIER,
        Kind.NATIONAL_ID: Family.IDENTIFIER,
        Kind.RELIGION: Family.CATEGORY,
        Kind.POLITICS: Family.CATEGORY,
        Kind.UNION: Family.CATEGORY,
        Kind.SEX_LIFE: Family.CATEGORY,
        Kind.ETHNICITY: Family.CATEGORY,
        Kind.BIOMETRIC: Family.CATEGORY,
        Kind.CRIMINAL: Family.CATEGORY,
        Kind.INSTRUCTION: Family.INSTRUCTION,
        Kind.ROLE_PLAY: Family.INSTRUCTION,
        Kind.MARKUP: Family.INSTRUCTION,
        Kind.HIDDEN_TEXT: Family.INSTRUCTION,
        Kind.SPECULATIVE: Family.SPECULATIVE,
        Kind.TRANSIENT: Family.TRANSIENT,
    }
)
assert FAMILY_OF.keys() == set(Kind)


@dataclass(frozen=True, slots=True, order=True)
class Found:
    """One finding: characters `start` to `end` (exclusive) of the text as it was handed in. No words."""

    start: int
    end: int
    kind: Kind

    @property
    def family(self) -> Family:
        """What the finding means to whoever decides."""
        return FAMILY_OF[self.kind]
