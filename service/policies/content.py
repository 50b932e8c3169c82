"""Whether a proposed text and value are what their class is for."""

import math
from collections.abc import Mapping
from typing import Final

from service.policies.values import FieldRule, ValueRule
from service.policies.words import FieldType, ValueType

_WORDS: Final = {
    ValueType.TEXT: "text",
    ValueType.NUMBER: "a number",
    ValueType.BOOLEAN: "true or false",
    ValueType.OBJECT: "an object",
}


def content_fault(text: str | None, value: object, rule: ValueRule) -> str | None:
    """Answer why text and value cannot be kept under `rule`, or `None`. The answer repeats neither."""
    has_text = text is not None and bool(text.strip())
    if not has_text and (value is None or value in ("", {})):
        return "neither text nor value says anything"
    if text is not None and len(text) > rule.text_characters_max:
        return f"the text is longer than {rule.text_characters_max} characters"
    return None if value is None else _value_fault(value, rule)


def value_type_name(value: object) -> str:
    """Answer the name under which conditions and kept facts know the type of a value; `none` for no value."""
    match value:
        case None:
            return "none"
        case bool():
            return "boolean"
        case int() | float():
            return "number"
        case str():
            return "text"
    return "object"


def _value_fault(value: object, rule: ValueRule) -> str | None:
    if not rule.value_types:
        return "the class takes text only, no value"
    found = _type_of(value)
    if found not in rule.value_types:
        return f"the value is not {' or '.join(_WORDS[kind] for kind in rule.value_types)}"
    if isinstance(value, Mapping):
        return _object_fault(value, rule.fields)
    return _scalar_fault(value, rule)


def _scalar_fault(value: object, rule: ValueRule) -> str | None:
    if isinstance(value, str) and len(value) > rule.text_characters_max:
        return f"the value is longer than {rule.text_characters_max} characters"
    if _type_of(value) is ValueType.NUMBER and not _is_within(value, rule):
        return "the value is outside the class's bounds"
    if rule.choices and value not in rule.choices:
        return "the value is none of the class's choices"
    return None


def _object_fault(value: Mapping[object, object], fields: Mapping[str, FieldRule]) -> str | None:
    """Answer what is wrong with an object; only fields that the class names are named."""
    if any(name not in fields for name in value):
        return "the value has a field that the class does not name"
    for name, rule in fields.items():
        if name not in value:
            if rule.required:
                return f"the value lacks its field {name}"
        elif not _is_field(value[name], rule):
            return f"the field {name} is not what the class takes"
    return None


def _is_field(value: object, rule: FieldRule) -> bool:
    match rule.type:
        case FieldType.TEXT:
            return _is_text(value, rule)
        case FieldType.TEXTS:
            is_short = isinstance(value, list | tuple) and len(value) <= rule.items_max
            return is_short and all(_is_text(one, rule) for one in value)  # type: ignore[attr-defined]  # a list by now
        case FieldType.BOOLEAN:
            return isinstance(value, bool)
        case FieldType.INTEGER:
            return isinstance(value, int) and not isinstance(value, bool) and _is_within(value, rule)
        case FieldType.NUMBER:
            return _type_of(value) is ValueType.NUMBER and _is_within(value, rule)


def _is_text(value: object, rule: FieldRule) -> bool:
    if not isinstance(value, str) or len(value) > rule.characters_max:
        return False
    return not rule.choices or value in rule.choices


def _is_within(value: object, rule: FieldRule | ValueRule) -> bool:
    assert isinstance(value, int | float)
    above = rule.minimum is None or value >= rule.minimum
    return above and (rule.maximum is None or value <= rule.maximum)


def _type_of(value: object) -> ValueType | None:
    if isinstance(value, bool):
        return ValueType.BOOLEAN
    if isinstance(value, int) or (isinstance(value, float) and math.isfinite(value)):
        return ValueType.NUMBER
    if isinstance(value, Mapping):
        return ValueType.OBJECT
    return ValueType.TEXT if isinstance(value, str) else None
