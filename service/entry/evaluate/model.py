"""What is asked of the service, what came back, and what that says: plain values."""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum

from service.entry.evaluate.questions import ExpectedSource


class Missing(StrEnum):
    """Why an expected source does not count as found, beside the reasons for omissions."""

    CARD = "card"
    """Only its title and first tokens stand in the package."""
    OTHER_PASSAGE = "other_passage"
    """Something of it stands there, without the words that were expected."""
    NOT_FOUND = "not_found"
    """The search did not come up with it, or this credential may not read it."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A question with everything that a package needs. `number` is its place in the file, from 1."""

    number: int
    line: int
    id: str | None
    question: str
    project: str
    purpose: str
    execution_id: str | None
    expected: tuple[ExpectedSource, ...]

    @property
    def name(self) -> str:
        """How people refer to it."""
        return f"{self.number} ({self.id})" if self.id is not None else str(self.number)


@dataclass(frozen=True, slots=True)
class Budget:
    """What every package is asked for."""

    max_tokens: int
    reply_reserve: int
    encoding: str | None
    model: str | None


@dataclass(frozen=True, slots=True)
class Rates:
    """Prices for a million tokens: sent anew, and read from the provider's cache."""

    per_million: Decimal
    cached_per_million: Decimal
    currency: str


@dataclass(frozen=True, slots=True)
class Shown:
    """A piece as a package shows it."""

    id: str
    uri: str | None
    text: str
    is_card: bool


@dataclass(frozen=True, slots=True)
class Block:
    """A part of a package's text that is counted for itself, in the order in which it is sent."""

    text: str
    tokens: int


@dataclass(frozen=True, slots=True)
class Package:
    """What of a package is looked at. `omitted` gives the reason by the id of a piece of evidence."""

    id: str
    blocks: tuple[Block, ...]
    shown: tuple[Shown, ...]
    omitted: Mapping[str, str]
    holds_memories: bool
    degraded: tuple[str, ...]
    policy_version: str
    profile_version: str

    @property
    def tokens(self) -> int:
        """The tokens of the whole."""
        return sum(block.tokens for block in self.blocks)


@dataclass(frozen=True, slots=True)
class Answer:
    """What one question got under one profile.

    `missing` gives for each expected source that does not count as found, by its place, why. `reused_tokens`
    is `None` for the first call of a profile: nothing stood before it.
    """

    package_id: str
    recall: float
    missing: Mapping[int, str]
    tokens: int
    reused_tokens: int | None
    cost: Decimal | None
    seconds: float
    degraded: tuple[str, ...] = ()
    holds_memories: bool = False


@dataclass(frozen=True, slots=True)
class Refused:
    """The service built no package for this question under this profile: the code and the words of why."""

    code: str
    detail: str


@dataclass(frozen=True, slots=True)
class Tried:
    """All answers under one profile, in the order of the questions."""

    profile: str
    profile_version: str
    policy_version: str
    answers: tuple[Answer | Refused, ...]


@dataclass(frozen=True, slots=True)
class Evaluation:
    """Everything that a report needs."""

    file: str
    budget: Budget
    rates: Rates | None
    seed: int
    asked: tuple[Asked, ...]
    tried: tuple[Tried, ...]
