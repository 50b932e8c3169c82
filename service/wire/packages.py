"""Requests and answers of context packages."""

from typing import Annotated, Any, Final, Literal, Self

from pydantic import Field, model_validator

from service.wire.scalars import Answer, Id, Name, Request, Text, When

TOKENS_MAX: Final = 2_000_000
TOOLS_MAX: Final = 128
QUERY_CHARACTERS_MAX: Final = 8_192

Tokens = Annotated[int, Field(ge=0, le=TOKENS_MAX)]
"""A number of tokens, from 0 to 2,000,000."""

SectionName = Literal[
    "instructions",
    "tools",
    "scope",
    "goal",
    "history",
    "memories",
    "evidence",
    "observations",
    "state",
    "limits",
]
Render = Literal["markdown", "openai", "anthropic"]

_Word = Annotated[Text, Field(min_length=1, max_length=100)]


class SectionOverride(Request):
    """What a request changes in a section's share; what is left out stays the profile's."""

    min: Tokens | None = None
    max: Tokens | None = None

    @model_validator(mode="after")
    def _agrees(self) -> Self:
        if self.min is not None and self.max is not None and self.min > self.max:
            raise ValueError("min is more than max")
        return self


class ToolDefinition(Request):
    """A tool that the caller could offer its model. `effect` says whether it changes anything."""

    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9_.:/-]{1,128}$")]
    description: Annotated[Text, Field(max_length=20_000)] = ""
    parameters: dict[str, Any] = Field(default_factory=dict, alias="schema")
    effect: Literal["read", "write"]


class BuildPackage(Request):
    """What a package is asked for. Without `query` one is made of objective, next action, last user turn.

    `as_of` and `known_at` ask for the memories that were true, and were known, at those moments.
    """

    project: Name
    execution_id: Id | None = None
    task_id: Name | None = None
    purpose: _Word
    query: Annotated[Text, Field(max_length=QUERY_CHARACTERS_MAX)] | None = None
    encoding: _Word | None = None
    model: _Word | None = None
    max_tokens: Tokens
    reply_reserve: Tokens = 0
    profile: _Word = "default"
    sections: dict[SectionName, SectionOverride] = Field(default_factory=dict)
    tools: Annotated[tuple[ToolDefinition, ...], Field(max_length=TOOLS_MAX)] = ()
    render: Render = "markdown"
    as_of: When | None = None
    known_at: When | None = None

    @model_validator(mode="after")
    def _names_each_tool_once(self) -> Self:
        if len({tool.name for tool in self.tools}) != len(self.tools):
            raise ValueError("two tools have the same name")
        return self


class ItemSource(Answer):
    """Where an item came from."""

    uri: str
    kind: str
    source_version: str | None
    observed_at: When | None


class SpanOfItem(Answer):
    """Where the text stands in its original: characters, of a summary the sequences of its turns."""

    start: int
    end: int


class Truncated(Answer):
    """Tokens kept of how many."""

    kept: int
    of: int


class MergedItem(Answer):
    """A near duplicate that is left out for the item that names it."""

    kind: str
    id: str
    version: int
    source: ItemSource | None
    span: SpanOfItem | None
    sha256: str


class PackageItem(Answer):
    """One thing in a section. `tokens` is the exact count of `text`."""

    citation: str | None
    kind: str
    id: str
    version: int
    tokens: int
    text: str
    truncated: Truncated | None
    card: bool
    authority: str | None
    trust: str | None
    advisory: bool
    source: ItemSource | None
    span: SpanOfItem | None
    sha256: str
    flags: list[str] = Field(
        default_factory=list,
        description="`hidden_text`: its source holds what only models read; not shown."
        " `contested`: evidence of higher standing says otherwise.",
    )
    merged: list[MergedItem] = Field(
        default_factory=list,
        description="What says the same and is left out for it, each with its own source.",
    )
    scores: dict[str, float]


class PackageSection(Answer):
    """One section. `used_tokens` is the exact count of `text`.

    `value` is the sum of the items' scores; no other choice that fits is worth more than `lost_value_at_most`
    on top of it. Both are null where nothing is ranked by scores.
    """

    name: SectionName
    segment: Literal["stable", "session", "volatile"]
    used_tokens: int
    max_tokens: int
    value: float | None
    lost_value_at_most: float | None
    text: str
    items: list[PackageItem]


class PackageOmission(Answer):
    """A candidate that is not in the package. `would_fit_with` is a `max_tokens` that would hold it."""

    kind: str
    id: str
    version: int
    section: SectionName
    reason: str
    tokens: int
    would_fit_with: int | None
    scores: dict[str, float]


class PrefixHashes(Answer):
    """Hashes of the text that stays the same for all calls, and for those of a session."""

    stable: str
    session: str


class TokenEstimateAnswer(Answer):
    """How counts that are not exact were made, and by how many hundredths they were raised on purpose."""

    method: str
    margin_percent: int | None


class PackageAnswer(Answer):
    """A finished package. `rendered` is what to send to the model."""

    id: str
    digest: str
    encoding: str
    max_tokens: int
    used_tokens: int
    overhead_tokens: int
    stable_prefix_tokens: int
    prefix_hashes: PrefixHashes
    fence_marker: str
    degraded: list[str]
    policy_version: str
    profile_version: str
    tokens_are: Literal["exact", "estimate"] = "exact"
    token_estimate: TokenEstimateAnswer | None = None
    sections: list[PackageSection]
    omissions: list[PackageOmission]
    rendered: dict[str, Any]
    warnings: list[str]


class ExplainedItem(Answer):
    """One item of a kept package, without its text. `why` says in words how it came to be there."""

    citation: str | None
    kind: str
    id: str
    version: int
    tokens: int
    truncated: Truncated | None
    card: bool
    authority: str | None
    trust: str | None
    advisory: bool
    span: SpanOfItem | None
    sha256: str | None
    keyed_hash: str | None
    flags: list[str] = Field(
        default_factory=list, description="`hidden_text`: its source holds what only models read; not shown."
    )
    scores: dict[str, float]
    erased: bool = Field(default=False, description="It was erased since: id and hash are all that is left.")
    why: str


class ExplainedSection(Answer):
    """One section of a kept package."""

    name: SectionName
    segment: Literal["stable", "session", "volatile"]
    used_tokens: int
    max_tokens: int
    value: float | None = None
    lost_value_at_most: float | None = None
    items: list[ExplainedItem]


class ExplainedOmission(PackageOmission):
    """An omission with its reason in words."""

    erased: bool = Field(default=False, description="It was erased since: its id is all that is left.")
    why: str


class PackageExplained(Answer):
    """The manifest of a package: everything about it but its texts."""

    id: str
    digest: str
    created_at: When
    project: str
    execution_id: str | None
    task_id: str | None
    acting_user: str
    built_by: str
    purpose: str
    profile: str
    render: Render
    encoding: str
    tokens_are: Literal["exact", "estimate"] = "exact"
    token_estimate: TokenEstimateAnswer | None = None
    max_tokens: int
    reply_reserve: int
    used_tokens: int
    overhead_tokens: int
    stable_prefix_tokens: int
    prefix_hashes: PrefixHashes
    fence_marker: str
    degraded: list[str]
    policy_version: str
    profile_version: str
    versions: dict[str, str]
    sections: list[ExplainedSection]
    omissions: list[ExplainedOmission]
    warnings: list[str]
    as_of: When | None = None
    known_at: When | None = None
    summary: list[str]
    quarantined: bool = Field(default=False, description="Something that it showed is under quarantine now.")
