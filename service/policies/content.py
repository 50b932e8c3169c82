"""Whether a proposed text and value are what their class is for."""

import math
from typing import Final

from service.policies.classes import ValueRule
from service.policies.words import ValueType

_WORDS: Final = {ValueType.TEXT: "text", ValueType.NUMBER: "a number", ValueType.BOOLEAN: "true or false"}


def content_fault(text: str | None, value: object, rule: ValueRule) -> str | None:
    """Answer why text and value cannot be kept under `rule`, or `None`. The answer repeats neither."""
    has_text = text is not None and bool(text.strip())
    if not has_text and (value is None or value == ""):
        return "neither text nor value says anything"
    if text is not None and len(text) > rule.text_characters_max:
        return f"the text is longer than {rule.text_characters_max} characters"
    return None if value is None else _value_fault(value, rule)


def _value_fault(value: object, rule: ValueRule) -> str | None:
    if not rule.value_types:
        return "the class takes text only, no value"
    found = _type_of(value)
    if found not in rule.value_types:
        return f"the value is not {' or '.join(_WORDS[kind] for kind in rule.value_types)}"
    if isinstance(value, str) and len(value) > rule.text_characters_max:
        return f"the value is longer than {rule.text_characters_max} characters"
    if rule.choices and value not in rule.choices:
        return "the value is none of the class's choices"
    return None


def _type_of(value: object) -> ValueType | None:
    if isinstance(value, bool):
        return ValueType.BOOLEAN
    if isinstance(value, int) or (isinstance(value, float) and math.isfinite(value)):
        return ValueType.NUMBER
    return ValueType.TEXT if isinstance(value, str) else None
