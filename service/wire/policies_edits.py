"""Shapes of editing a policy bundle."""

from typing import Annotated, Any, Self

from pydantic import Field, model_validator

from service.wire.policies import FilePath, FindingAnswer
from service.wire.scalars import Answer, Request, Text


class EditShape(Request):
    """One change: the value at `path` becomes `value`, or is taken out. `file` is a key of `files`."""

    path: Annotated[Text, Field(min_length=1, max_length=500)]
    value: Any = None
    remove: bool = False
    file: FilePath | None = None

    @model_validator(mode="after")
    def _one_of_both(self) -> Self:
        if self.remove == ("value" in self.model_fields_set):
            raise ValueError("needs either a value or remove")
        return self


class EditBundle(Request):
    """A bundle, and what is to change in it, one after another."""

    files: Annotated[dict[FilePath, Text], Field(max_length=1_000)]
    edits: Annotated[list[EditShape], Field(min_length=1, max_length=50)]


class FileChangeAnswer(Answer):
    """What changes in one file: the lines that go and come, as `diff -u` tells them."""

    file: str
    diff: str


class EditsAnswer(Answer):
    """What the edits came to. `files` is the whole bundle; `null` where it would not load."""

    valid: bool
    version: str | None
    files: dict[str, str] | None
    changes: list[FileChangeAnswer]
    findings: list[FindingAnswer]
