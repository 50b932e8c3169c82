"""JSON read strictly: what cannot be stored and answered again is refused before anything happens."""

import json
import re
from collections.abc import Iterator
from typing import Any, Final, NoReturn, TypeVar

from pydantic import TypeAdapter, ValidationError

from service.core.errors import Invalid
from service.core.hashing import Json
from service.core.text import text_fault
from service.entry.http.problems import describe_faults, pointer_to

NESTING_MAX: Final = 32
FAULTS_NAMED_MAX: Final = 1_000
INTEGER_MIN: Final = -(2**63)
INTEGER_MAX: Final = 2**63 - 1
_INTEGER_LENGTH_MAX: Final = len(str(INTEGER_MIN))
# A string is passed over in runs, not character by character: eight times as fast for a long one.
_BRACKET_OR_STRING: Final = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"?|[\[\]{}]', re.DOTALL)
# Only these escapes can spell a character that text may not hold: raw ones are no valid JSON or UTF-8.
_FORBIDDEN_ESCAPE: Final = re.compile(rb"\\u(?:0000|[dD][89abAB]|[dD][c-fC-F])")

Model = TypeVar("Model")


class JsonMalformed(Invalid):
    """The body is not JSON as this service reads it."""

    code = "malformed_json"
    title = "The body is not JSON that can be read here"


def read_json(raw: bytes) -> Json:
    """Answer the JSON value of `raw`.

    Raises `JsonMalformed` for what is not UTF-8 JSON without a byte order mark, is nested deeper than 32, has
    a key twice, a number that is not finite, an integer beyond 64 bits, or text with NUL or half a surrogate.
    """
    if not raw.strip():
        raise JsonMalformed("The body is empty; send a JSON value.")
    if raw.startswith(b"\xef\xbb\xbf"):
        raise JsonMalformed("The body begins with a byte order mark; send plain UTF-8.")
    _check_nesting(raw)
    try:
        value: Json = json.loads(
            raw.decode(),
            object_pairs_hook=_object,
            parse_constant=_refuse_constant,
            parse_float=_float,
            parse_int=_integer,
        )
    except UnicodeDecodeError:
        raise JsonMalformed("The body is not valid UTF-8.") from None
    except json.JSONDecodeError as error:
        raise JsonMalformed(f"The body is not JSON: line {error.lineno}, column {error.colno}.") from None
    if _FORBIDDEN_ESCAPE.search(raw):
        for pointer, fault in _text_faults(value, ()):
            raise JsonMalformed(f"text {fault}", pointer=pointer)
    return value


def read_model(raw: bytes, adapter: TypeAdapter[Model]) -> Model:
    """Answer the model that already checked JSON describes. Raises `Invalid` with one error for each fault.

    The bytes are read again in JSON mode, where strictness still takes a list for a tuple and a string for an
    enumeration; from Python objects it would not.
    """
    try:
        return adapter.validate_json(raw)
    except ValidationError as error:
        detail = "The body does not have the shape that this call takes."
        raise Invalid(detail, errors=_shape_faults(error)) from None


def _shape_faults(error: ValidationError) -> list[dict[str, str]]:
    count = error.error_count()
    if count > FAULTS_NAMED_MAX:
        # A mebibyte of unknown fields has a hundred thousand: listing them holds up every other request.
        return [{"pointer": "", "message": f"has {count} faults, too many to name"}]
    return describe_faults(error.errors(include_url=False, include_input=False))


def _check_nesting(raw: bytes) -> None:
    # Before parsing: the parser recurses and would fail with an error of its own.
    depth = 0
    for match in _BRACKET_OR_STRING.finditer(raw):
        token = match[0]
        if token in (b"[", b"{"):
            depth += 1
            if depth > NESTING_MAX:
                raise JsonMalformed(f"The body is nested deeper than {NESTING_MAX}.")
        elif token in (b"]", b"}"):
            depth -= 1


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise JsonMalformed("An object has the same key twice.")
    return found


def _refuse_constant(_text: str) -> NoReturn:
    raise JsonMalformed("NaN and infinities are not numbers of JSON.")


def _float(text: str) -> float:
    number = float(text)
    if number in (float("inf"), float("-inf")):
        raise JsonMalformed("A number is too large for a 64-bit float.")
    return number


def _integer(text: str) -> int:
    # The length first: turning thousands of digits into a number takes long, and Python refuses it.
    if len(text) > _INTEGER_LENGTH_MAX or not INTEGER_MIN <= int(text) <= INTEGER_MAX:
        raise JsonMalformed("An integer does not fit into 64 bits.")
    return int(text)


def _text_faults(value: Json, location: tuple[int | str, ...]) -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        if fault := text_fault(value):
            yield pointer_to(location), fault
    elif isinstance(value, list):
        for position, part in enumerate(value):
            yield from _text_faults(part, (*location, position))
    elif isinstance(value, dict):
        for key, part in value.items():
            yield from _text_faults(key, location)
            yield from _text_faults(part, (*location, key))
