"""Shapes of the policy calls."""

from typing import Annotated

from pydantic import Field

from service.wire.scalars import Answer, Request, Text, When

FilePath = Annotated[Text, Field(min_length=1, max_length=200)]


class ValidateBundle(Request):
    """A bundle to look at: the text of each file by its path in the folder."""

    files: Annotated[dict[FilePath, Text], Field(max_length=1_000)]


class FindingAnswer(Answer):
    """One fault: where, what is wrong, and what would be right. `file` is empty for the bundle itself.

    `path` is where it stands in the rules (`classes.preference.rules.strange.when`); empty for a whole file.
    """

    file: str
    line: int
    column: int
    path: str
    severity: str
    code: str
    message: str


class ValidationAnswer(Answer):
    """What was found. `version` is what the bundle's version would be; `null` when it has errors."""

    valid: bool
    version: str | None
    findings: list[FindingAnswer]


class PolicyVersionAnswer(Answer):
    """One version that the tenant has or had."""

    version: str
    created_at: When
    active: bool


class PolicyVersionPage(Answer):
    """Versions, the newest first."""

    items: list[PolicyVersionAnswer]
    next_cursor: str | None


class ExpiryAnswer(Answer):
    """When memories of a class end."""

    days: int
    counted_from: str
    idle_days: int | None
    last_day: str | None


class ClassAnswer(Answer):
    """What may be remembered, why, by whose word and for how long; nothing under a class that `refuses`."""

    name: str
    because: str
    scope: str
    refuses: str | None
    purposes: list[str]
    lawful_basis: str | None
    consent_needed: bool
    writers: list[str]
    readers: list[str]
    correctors: list[str]
    may_inform: list[str]
    revalidate_for: list[str]
    provenance: list[str]
    from_sources: list[str]
    lowest_trust: str | None
    confidence_min: float
    approval: str
    automatic_confidence_min: float | None
    expiry: ExpiryAnswer | None
    quota: int
    conflict: str
    sensitivity: str
    destinations: list[str]


class PolicyAnswer(Answer):
    """The active version: what it says in short, and its files. Without one, nothing is allowed."""

    version: str | None
    revision: int
    activated_at: When | None
    purposes: dict[str, str]
    classes: list[ClassAnswer]
    profiles: dict[str, str]
    retention_classes: dict[str, str]
    files: dict[str, str]
