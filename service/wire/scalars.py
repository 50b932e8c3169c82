"""The scalar types of requests and answers: text, names, ids, hashes, times, decimals.

Requests forbid unknown fields; nothing here names a tenant.
"""

import re
from datetime import UTC, datetime
from decimal import Decimal
from typing import Annotated, Any, Final

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, PlainSerializer

_RFC3339: Final = re.compile(r"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(\.\d{1,9})?([Zz]|[+-]\d\d:\d\d)")
_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_DECIMAL: Final = re.compile(r"\d{1,12}(\.\d{1,6})?")


class Request(BaseModel):
    """A request body: unknown fields are refused, and so are conversions between types."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class Answer(BaseModel):
    """A response body."""

    model_config = ConfigDict(frozen=True)


def _no_faults(text: str) -> str:
    if "\x00" in text:
        raise ValueError("holds the character NUL")
    if _SURROGATE.search(text):
        raise ValueError("holds half of a surrogate pair")
    return text


def _read_time(value: Any) -> Any:  # noqa: ANN401 - whatever JSON held
    if isinstance(value, datetime):
        return value
    if not isinstance(value, str) or not _RFC3339.fullmatch(value):
        raise ValueError("needs an RFC 3339 time with an offset, such as 2026-11-30T10:00:00Z")
    try:
        return datetime.fromisoformat(value.replace(" ", "T").upper()).astimezone(UTC)
    except (ValueError, OverflowError):
        raise ValueError("is not a moment that exists") from None


def _read_decimal(value: Any) -> Any:  # noqa: ANN401 - whatever JSON held
    if isinstance(value, Decimal):
        return value
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise ValueError("needs a decimal such as 0.12")
    if not _DECIMAL.fullmatch(str(value)):
        raise ValueError("needs a decimal of at most 12 digits before and 6 after the point, not negative")
    return Decimal(str(value))


Text = Annotated[str, AfterValidator(_no_faults)]
"""Unicode without NUL and lone surrogates."""

ShortText = Annotated[Text, Field(min_length=1, max_length=500)]
"""A title or a reason."""

Name = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._:@/+-]{0,199}$")]
"""A name that a client chooses: project, subject, key, requirement, task."""

Id = Annotated[str, Field(min_length=1, max_length=100), AfterValidator(_no_faults)]
"""An id that this service issued. One that it did not issue is simply not found."""

Hash = Annotated[str, Field(pattern=r"^sha256:[0-9a-f]{64}$")]
"""A SHA-256 in the form `sha256:<hex>`."""

When = Annotated[
    datetime,
    BeforeValidator(_read_time),
    PlainSerializer(
        lambda moment: moment.astimezone(UTC).isoformat().replace("+00:00", "Z"), return_type=str
    ),
]
"""RFC 3339 with an offset; answered in UTC with `Z`."""

Money = Annotated[
    Decimal, BeforeValidator(_read_decimal), PlainSerializer(lambda amount: f"{amount:f}", return_type=str)
]
"""A decimal that is not negative, as a string; a JSON number is taken too."""
