"""The small shapes that the parts of a bundle are made of."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Annotated, Any, Final, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, PlainSerializer

Key = TypeVar("Key")
Value = TypeVar("Value")

EVERYTHING: Final = "*"


class Part(BaseModel):
    """A piece of a bundle: frozen, and every key that it does not know is a fault."""

    model_config = ConfigDict(
        extra="forbid", frozen=True, use_attribute_docstrings=True, validate_default=True
    )


FrozenMap = Annotated[Mapping[Key, Value], AfterValidator(MappingProxyType), PlainSerializer(dict)]
"""A mapping that cannot be changed after loading."""

Name = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,63}$")]
"""A name that an author gives: lower-case letters, digits and underscores, beginning with a letter."""

Sentence = Annotated[str, Field(min_length=1, max_length=1_000)]
"""A sentence for people."""

Pattern = Annotated[str, Field(pattern=r"^(\*|[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*(\.\*)?)$", max_length=200)]
"""A dotted name (`orders.create`), a family (`orders.*`), or everything (`*`)."""

Days = Annotated[int, Field(ge=1, le=36_500)]

InstructionPath = Annotated[str, Field(pattern=r"^instructions/[a-z0-9][a-z0-9_-]*\.md$", max_length=100)]
"""Where an instruction file stands in the bundle."""


def leave_out_name(schema: dict[str, Any]) -> None:
    """Drop `name` from a JSON Schema: in a file, an entry's name is the key that it stands under."""
    schema["properties"].pop("name")
    schema["required"].remove("name")


def match_pattern(name: str, patterns: Mapping[str, Value]) -> Value | None:
    """Answer what stands under the most specific pattern that covers `name`.

    The exact name comes first, then the longest family (`a.b.*` before `a.*`), then `*`. Cost: one look-up
    for each dot in `name`.
    """
    if name in patterns:
        return patterns[name]
    head = name
    while "." in head:
        head = head.rpartition(".")[0]
        if (family := f"{head}.*") in patterns:
            return patterns[family]
    return patterns.get(EVERYTHING)
