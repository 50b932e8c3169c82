"""A class says what a structured value may be, field by field, and nothing else gets in."""

from typing import Any

import pytest

from service.policies.content import content_fault
from service.policies.values import ValueRule

RULE = ValueRule.model_validate(
    {
        "text_characters_max": 100,
        "value_types": ["object", "number"],
        "minimum": 0,
        "maximum": 10,
        "fields": {
            "unit": {"type": "text", "choices": ["metric", "imperial"], "required": True},
            "decimals": {"type": "integer", "minimum": 0, "maximum": 6},
            "scale": {"type": "number"},
            "compact": {"type": "boolean"},
            "hide": {"type": "texts", "items_max": 2, "characters_max": 5},
        },
    }
)


@pytest.mark.parametrize(
    "value",
    [
        {"unit": "metric"},
        {"unit": "imperial", "decimals": 2, "compact": True, "scale": 0.5, "hide": ["a"]},
        7,
    ],
)
def test_what_the_class_describes_is_taken(value: Any) -> None:
    assert content_fault(None, value, RULE) is None


@pytest.mark.parametrize(
    "value",
    [
        {},
        {"decimals": 2},
        {"unit": "nautical"},
        {"unit": "metric", "secret-field": 1},
        {"unit": "metric", "decimals": 7},
        {"unit": "metric", "decimals": True},
        {"unit": "metric", "decimals": 1.5},
        {"unit": "metric", "scale": float("nan")},
        {"unit": "metric", "hide": ["a", "b", "c"]},
        {"unit": "metric", "hide": ["toolong"]},
        {"unit": {"deeper": "metric"}},
        11,
        "text",
    ],
)
def test_what_it_does_not_describe_is_refused_without_being_repeated(value: Any) -> None:
    fault = content_fault(None, value, RULE)

    assert fault is not None
    assert "secret" not in fault
    assert "nautical" not in fault


@pytest.mark.parametrize(
    ("rule", "match"),
    [
        ({"value_types": ["object"]}, "go together"),
        ({"fields": {"a": {"type": "text"}}}, "go together"),
        ({"minimum": 2, "maximum": 1}, "above"),
        ({"value_types": ["object"], "fields": {"a": {"type": "text", "minimum": 1}}}, "for numbers"),
        ({"value_types": ["object"], "fields": {"a": {"type": "integer", "choices": ["1"]}}}, "for texts"),
    ],
)
def test_a_schema_that_contradicts_itself_is_refused(rule: dict[str, Any], match: str) -> None:
    with pytest.raises(ValueError, match=match):
        ValueRule.model_validate({"text_characters_max": 10, **rule})
