"""Shapes of exports."""

from typing import Any

from service.wire.scalars import Answer, When


class SectionAnswer(Answer):
    """How many items a section holds, and the hash of its JSON as it stands in the answer."""

    count: int
    sha256: str


class ManifestAnswer(Answer):
    """Whose export it is, of when, and what it holds."""

    subject: str
    generated_at: When
    policy_version: str
    sections: dict[str, SectionAnswer]


class ExportAnswer(Answer):
    """All that is kept of a person, section by section."""

    format: str
    manifest: ManifestAnswer
    contents: dict[str, list[dict[str, Any]]]
