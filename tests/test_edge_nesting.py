"""How deep a body is nested: counted before parsing, past strings of any content."""

import json

import pytest

from service.entry.http.strict_json import NESTING_MAX, JsonMalformed, read_json

TEXTS = ("[{" * 100, '"[{' * 100, "\\[{" * 100, '\\"[{' * 100, "\\", '"', "}]" * 100, "\n[{")


@pytest.mark.parametrize("text", TEXTS)
def test_brackets_within_a_string_are_no_nesting(text: str) -> None:
    body = {"text": text, text: [text]}

    assert read_json(json.dumps(body).encode()) == body


@pytest.mark.parametrize("text", TEXTS)
def test_brackets_around_strings_are_counted(text: str) -> None:
    at_most = json.dumps(text).encode()
    for _ in range(NESTING_MAX):
        at_most = b"[" + at_most + b"]"
    read_json(at_most)

    with pytest.raises(JsonMalformed, match="nested deeper"):
        read_json(b"[" + at_most + b"]")
