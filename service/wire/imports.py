"""Shapes of imports."""

from typing import Annotated

from pydantic import Field

from service.wire.memories import Key, Value
from service.wire.scalars import Id, Name, Text
from service.wire.validity import WithValidity


class ImportMemory(WithValidity):
    """A memory out of an own export. `imported_from` is the id that it had there."""

    imported_from: Id
    project: Name
    class_: Annotated[str, Field(alias="class", min_length=1, max_length=64, pattern=r"^[a-z][a-z0-9_]*$")]
    subject: Name
    key: Key
    text: Annotated[Text, Field(max_length=10_000)] | None = None
    value: Value | None = None
    confidence: Annotated[float, Field(ge=0, le=1)]
    purpose: Annotated[str, Field(min_length=1, max_length=64)]
