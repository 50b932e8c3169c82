"""Context profiles: how a token budget is shared out among the sections of a package."""

from types import MappingProxyType
from typing import Annotated, Final, Self

from pydantic import AfterValidator, ConfigDict, Field, model_validator

from service.policies.parts import Days, FrozenMap, InstructionPath, Name, Part, Sentence, leave_out_name
from service.policies.words import Overflow, SectionName

SMALLEST_BUDGET_TOKENS: Final = 1_000
"""The budget at which a profile's minima must still fit together."""

Weight = Annotated[float, Field(ge=0, le=1)]


class Amount(Part):
    """A number of tokens: a share of what the package may use, and a floor under it for small budgets."""

    tokens: Annotated[int, Field(ge=0, le=2_000_000)] = 0
    """At least so many tokens, however small the budget is."""
    percent: Annotated[int, Field(ge=0, le=100)] = 0
    """So many hundredths of what the package may use."""

    def of(self, available_tokens: int) -> int:
        """Answer the tokens out of `available_tokens` (budget less reply reserve), never more than those."""
        return min(available_tokens, max(self.tokens, available_tokens * self.percent // 100))


class SectionRule(Part):
    """What one section gets, and what happens to what does not fit."""

    min: Amount = Amount()
    """Kept free for this section while it has content to fill it."""
    max: Amount
    """The most it takes, what others leave over included."""
    priority: Annotated[int, Field(ge=0, le=100)]
    """Who gets first what others leave over: higher before lower, equal ones in the order of sections."""
    overflow: Overflow
    """`drop` whole items, `truncate` the last, use its `summary`, list `cards`, or refuse with `error`."""
    required: bool = False
    """Whether all of its content must be in the package: else the request is refused, naming the tokens."""

    @model_validator(mode="after")
    def _agrees_with_itself(self) -> Self:
        if self.min.tokens > self.max.tokens and self.min.tokens > 0 and self.max.percent == 0:
            raise ValueError("min is more than max")
        if self.min.percent > self.max.percent and self.max.percent > 0:
            raise ValueError("min is more than max")
        if self.required and self.overflow is not Overflow.ERROR:
            raise ValueError("a required section needs `overflow: error`: nothing of it may be left out")
        return self


class Weights(Part):
    """How candidates are ordered; only the proportions between the three count."""

    relevance: Weight
    """How well it answers the query."""
    authority: Weight
    """How much its source counts."""
    freshness: Weight
    """How lately it was observed."""
    freshness_half_life_days: Days
    """After so many days freshness counts half."""

    @model_validator(mode="after")
    def _something_counts(self) -> Self:
        if self.relevance + self.authority + self.freshness == 0:
            raise ValueError("at least one weight must be more than 0")
        return self


class RetrievalRule(Part):
    """How many candidates are looked at. Each that is not used appears among the omissions."""

    evidence_depth: Annotated[int, Field(ge=0, le=200)]
    """Pieces of evidence to consider."""
    memories_depth: Annotated[int, Field(ge=0, le=200)]
    """Memories to consider."""
    turns_depth: Annotated[int, Field(ge=0, le=200)]
    """Turns to consider for their relevance, beside the latest."""
    card_tokens: Annotated[int, Field(ge=8, le=512)] = 64
    """How much of a text a card shows."""


def _in_order(sections: "FrozenMap[SectionName, SectionRule]") -> "FrozenMap[SectionName, SectionRule]":
    missing = [name.value for name in SectionName if name not in sections]
    if missing:
        raise ValueError(f"every section must be stated; missing: {', '.join(missing)}")
    return MappingProxyType({name: sections[name] for name in SectionName})


class Profile(Part):
    """One way of building a package."""

    model_config = ConfigDict(json_schema_extra=leave_out_name)

    name: Name
    description: Sentence
    """What it is for."""
    instructions: Annotated[tuple[InstructionPath, ...], Field(max_length=20)] = ()
    """Instruction files, in the order in which they are rendered."""
    degraded_allowed: bool
    """Whether a package may be built while search is down. Governance never degrades."""
    retrieval: RetrievalRule
    """How many candidates are looked at."""
    weights: Weights
    """How candidates are ordered."""
    sections: Annotated[FrozenMap[SectionName, SectionRule], AfterValidator(_in_order)]
    """A rule for each of the ten sections."""

    @property
    def required_sections(self) -> tuple[SectionName, ...]:
        """The sections of which nothing may be left out."""
        return tuple(name for name, rule in self.sections.items() if rule.required)

    @model_validator(mode="after")
    def _minima_fit(self) -> Self:
        least = sum(rule.min.of(SMALLEST_BUDGET_TOKENS) for rule in self.sections.values())
        if least > SMALLEST_BUDGET_TOKENS:
            raise ValueError(
                f"the minima need {least} of the smallest budget, {SMALLEST_BUDGET_TOKENS} tokens"
            )
        shares = sum(rule.min.percent for rule in self.sections.values())
        if shares > 100:  # noqa: PLR2004 - percent
            raise ValueError(f"the minima add up to {shares} percent")
        return self
