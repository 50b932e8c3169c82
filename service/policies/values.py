"""What the text and the structured value of a memory may be: the value schema of a class."""

from typing import Annotated, Self

from pydantic import Field, model_validator

from service.policies.parts import FrozenMap, Name, Part
from service.policies.words import FieldType, ValueType

Choices = Annotated[tuple[str, ...], Field(max_length=200)]
Bound = Annotated[float, Field(allow_inf_nan=False)]


class FieldRule(Part):
    """What one field of a structured value may be."""

    type: FieldType
    """`text`, `number`, `integer`, `boolean` or `texts` (a list of texts)."""
    required: bool = False
    """Whether a value without it is refused."""
    characters_max: Annotated[int, Field(ge=1, le=2_000)] = 200
    """Longest text, or longest of the texts, in characters."""
    items_max: Annotated[int, Field(ge=1, le=100)] = 20
    """Most texts in a list."""
    minimum: Bound | None = None
    """Lowest number."""
    maximum: Bound | None = None
    """Highest number."""
    choices: Choices = ()
    """The only texts that it may be. Empty: any."""

    @model_validator(mode="after")
    def _fits_its_type(self) -> Self:
        is_number = self.type in (FieldType.NUMBER, FieldType.INTEGER)
        if not is_number and (self.minimum is not None or self.maximum is not None):
            raise ValueError("minimum and maximum are for numbers")
        if self.choices and self.type not in (FieldType.TEXT, FieldType.TEXTS):
            raise ValueError("choices are for texts")
        _refuse_disorder(self)
        return self


class ValueRule(Part):
    """What the text and the value of a memory may be."""

    text_characters_max: Annotated[int, Field(ge=1, le=10_000)]
    """Longest text, in characters."""
    value_types: tuple[ValueType, ...] = ()
    """What a structured value may be: `text`, `number`, `boolean`, `object`. Empty: nothing but text."""
    choices: Choices = ()
    """The only texts that a value may be. Empty: any."""
    minimum: Bound | None = None
    """Lowest value that is a number."""
    maximum: Bound | None = None
    """Highest value that is a number."""
    fields: Annotated[FrozenMap[Name, FieldRule], Field(max_length=32)] = Field(default_factory=dict)
    """The fields of a value that is an object, and no others. Beside `object` among `value_types` only."""

    @model_validator(mode="after")
    def _names_the_fields_of_objects(self) -> Self:
        if (ValueType.OBJECT in self.value_types) != bool(self.fields):
            raise ValueError("`fields` and `object` among value_types go together")
        _refuse_disorder(self)
        return self


def _refuse_disorder(rule: FieldRule | ValueRule) -> None:
    if rule.minimum is not None and rule.maximum is not None and rule.minimum > rule.maximum:
        raise ValueError("minimum is above maximum")
