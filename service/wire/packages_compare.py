"""Answers of replaying a package and of comparing two."""

from typing import Any, Literal

from pydantic import Field

from service.wire.scalars import Answer


class ReplayDifference(Answer):
    """One thing that is not as it was: an item as `kind:id`, a `section:name`, or a setting by its name."""

    ref: str
    cause: Literal["policy", "data", "expiry", "erasure", "code"]
    change: str = Field(description="added, removed, changed, moved, omitted, or what became of a setting")


class ReplayAnswer(Answer):
    """Whether the package came out byte for byte again, else what differs and why."""

    identical: bool
    digest: str | None = Field(description="Of what came out now; null where nothing could be built.")
    differences: list[ReplayDifference]


class SettingDifference(Answer):
    """One setting that differs between two packages."""

    name: str
    before: Any
    after: Any


class ItemDifference(Answer):
    """One item that differs: its version and tokens in each, null where it is not there."""

    section: str
    kind: str
    id: str
    change: Literal["added", "removed", "changed", "moved", "omitted"]
    before: dict[str, Any] | None
    after: dict[str, Any] | None


class SectionTokens(Answer):
    """A section's tokens in each package."""

    name: str
    before: int
    after: int


class PackageDiff(Answer):
    """How the second package differs from the first, told without any text."""

    before: str
    after: str
    identical: bool
    same_stable_prefix: bool
    same_session_prefix: bool
    settings: list[SettingDifference]
    sections: list[SectionTokens]
    items: list[ItemDifference]
