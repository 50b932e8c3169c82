"""How a value of a column stands in a backup, on every database alike. Pure but for SQLAlchemy's types."""

import base64
import binascii
from collections.abc import Callable, Mapping
from datetime import datetime
from types import MappingProxyType
from typing import Any, Final

from sqlalchemy import JSON, BigInteger, Boolean, Float, Integer, LargeBinary, String, Text
from sqlalchemy.types import TypeDecorator, TypeEngine

from service.core.clock import format_time
from service.core.database import UtcDateTime

JSON_TEXT: Final = "json"
"""A JSON document as its text: what hashes were made of must come back to the letter."""
_TIME: Final = "time"
_BYTES: Final = "bytes"

KINDS: Final[Mapping[str, type[TypeEngine[Any]]]] = MappingProxyType(
    {
        "text": Text,
        "integer": BigInteger,
        "boolean": Boolean,
        "number": Float,
        _BYTES: LargeBinary,
        _TIME: UtcDateTime,
        JSON_TEXT: Text,
    }
)
"""Each kind of column, and the type that its values are put back with."""

_PYTHON: Final[Mapping[str, tuple[type, ...]]] = MappingProxyType(
    {
        "text": (str,),
        "integer": (int,),
        "boolean": (bool,),
        "number": (float, int),
        _BYTES: (str,),
        _TIME: (str,),
        JSON_TEXT: (str,),
    }
)


def kind_of(column_type: TypeEngine[Any]) -> str:
    """Answer the kind of a column's type."""
    if isinstance(column_type, UtcDateTime):
        return _TIME
    plain = column_type.impl_instance if isinstance(column_type, TypeDecorator) else column_type
    for types, kind in (
        (JSON, JSON_TEXT),
        (LargeBinary, _BYTES),
        (Boolean, "boolean"),
        (Integer, "integer"),
        (Float, "number"),
        (String, "text"),
    ):
        if isinstance(plain, types):
            return kind
    raise TypeError(f"backups know no columns of the type {column_type}")


def writer_of(kind: str) -> Callable[[Any], object]:
    """Answer what makes a value of that kind fit for JSON."""
    match kind:
        case "bytes":
            return lambda value: None if value is None else base64.b64encode(value).decode()
        case "time":
            return lambda value: None if value is None else format_time(value)
        case _:
            return lambda value: value


def read_value(kind: str, value: object) -> object:
    """Answer the value that was written. Raises `ValueError` for what is none of that kind."""
    if value is None:
        return None
    if not isinstance(value, _PYTHON[kind]) or (kind == "integer" and isinstance(value, bool)):
        raise ValueError("a value of another kind")
    if kind == _BYTES:
        try:
            return base64.b64decode(str(value), validate=True)
        except binascii.Error:
            raise ValueError("not base64") from None
    return datetime.fromisoformat(str(value)) if kind == _TIME else value
