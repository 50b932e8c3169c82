"""Downstreams and sources as an operator writes them: each address is theirs, and checked at start.

Two settings are made of these, as JSON objects by name: `MUNIMENT_CONNECTORS` and `MUNIMENT_SOURCE_READERS`.
"""

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Final, Self
from urllib.parse import SplitResult, urlsplit

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, SecretStr, model_validator

_PLACEHOLDER: Final = re.compile(r"\{([a-z_]*)\}")
_IN_ADDRESSES: Final = re.compile(r"[\x21-\x7e]+")
_HEADER_NAME: Final = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}")
_HEADER_VALUE: Final = re.compile(r"[\x20-\x7e]{1,8000}")
_OWN_HEADERS: Final = frozenset(
    {
        "accept-encoding",
        "connection",
        "content-length",
        "content-type",
        "expect",
        "host",
        "idempotency-key",
        "keep-alive",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
    }
)
"""Headers that the service or HTTP itself writes."""
_PREFIX: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:[\x21-\x7e]*/")
_POINTER: Final = re.compile(r"(/([^~/]|~0|~1)*)*")


def _check_address(text: str, placeholders: Iterable[str]) -> str:
    """Answer an address that is safe to call. Raises `ValueError`, without repeating it."""
    allowed = frozenset(placeholders)
    if not _IN_ADDRESSES.fullmatch(text):
        raise ValueError("an address is printable ASCII without spaces")
    # Before it is split: a brace that is no placeholder would otherwise be sent as it is.
    named = set(_PLACEHOLDER.findall(text))
    if named - allowed or set("{}") & set(_PLACEHOLDER.sub("", text)):
        known = " and ".join(f"{{{name}}}" for name in sorted(allowed)) or "none"
        raise ValueError(f"the placeholders of this address: {known}")
    parts = _split(text)
    if parts.scheme not in ("http", "https"):
        raise ValueError("an address begins with https:// or http://")
    if not parts.hostname:
        raise ValueError("an address names a host")
    if "@" in parts.netloc:
        raise ValueError("an address carries no name and password: give them as a header")
    if "{" in parts.netloc:
        raise ValueError("no part of a host comes from a request")
    if parts.fragment or "#" in text:
        raise ValueError("an address has no fragment")
    if "\\" in text or any(part in (".", "..") for part in parts.path.split("/")):
        raise ValueError("the path of an address has neither . nor .. nor a backslash")
    return text


def _split(text: str) -> SplitResult:
    try:
        parts = urlsplit(text)
        # Reading the port is what checks it.
        _ = parts.port
    except ValueError:
        raise ValueError("an address is one that can be read") from None
    return parts


def _check_headers(headers: Mapping[str, object]) -> Mapping[str, object]:
    names = [name.lower() for name in headers]
    if len(set(names)) != len(names):
        raise ValueError("a header is given once, whatever its capitals")
    for name in names:
        if not _HEADER_NAME.fullmatch(name):
            raise ValueError("the name of a header is letters, digits and hyphens")
        if name in _OWN_HEADERS:
            raise ValueError("the service writes this header itself: leave it out")
    return headers


def _check_template(text: str) -> str:
    if set(_PLACEHOLDER.findall(text)) - {"operation_id", "execution_id"} or set("{}") & set(
        _PLACEHOLDER.sub("", text)
    ):
        raise ValueError("a key is made of {operation_id}, perhaps {execution_id}, and plain characters")
    if "{operation_id}" not in text or not _IN_ADDRESSES.fullmatch(text):
        raise ValueError("a key is made of {operation_id}, perhaps {execution_id}, and plain characters")
    return text


def _check_pointer(text: str) -> str:
    if not _POINTER.fullmatch(text):
        raise ValueError("a JSON pointer is empty or begins with /")
    return text


Pointer = Annotated[str, Field(max_length=200), AfterValidator(_check_pointer)]
"""A JSON pointer (RFC 6901)."""
Address = Annotated[str, Field(max_length=2_000)]
"""Where to call. Its query may hold a key: a field of this type takes no part in its model's text form."""
PlainAddress = Annotated[str, Field(max_length=2_000), AfterValidator(lambda text: _check_address(text, ()))]
"""Where to call, as it stands: without placeholders."""
OutsideName = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,63}$")]
"""The name of a connector or reader, as a policy bundle writes names."""

CompactorModel = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._:@/+-]{0,199}$")]
"""The name of a model, as a summary carries it."""


class Outside(BaseModel):
    """What a connector and a source reader share: who may use it, with which credentials, for how long.

    `header_files` name files that hold a value each; they are read at start. Neither their content nor the
    values of `headers` are ever shown.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)

    tenants: Annotated[tuple[str, ...], Field(min_length=1, max_length=1_000)]
    headers: Annotated[dict[str, SecretStr], Field(max_length=20), AfterValidator(_check_headers)] = Field(
        default_factory=dict
    )
    header_files: Annotated[dict[str, Path], Field(max_length=20), AfterValidator(_check_headers)] = Field(
        default_factory=dict
    )
    timeout_seconds: Annotated[float, Field(gt=0, le=20)] = 10

    @model_validator(mode="after")
    def _check_all_headers(self) -> Self:
        _check_headers({**self.headers, **self.header_files})
        if {name.lower() for name in self.headers} & {name.lower() for name in self.header_files}:
            raise ValueError("a header is given once, as its value or as a file")
        for value in self.headers.values():
            check_header_value(value.get_secret_value())
        return self


class ConnectorSettings(Outside):
    """A downstream that commands are delivered to.

    `absent_after_seconds` counts from when this side stopped waiting: until then a look-up's "nothing" does
    not count, since a slow request may still arrive.
    """

    dispatch_url: Address = Field(repr=False)
    lookup_url: Address = Field(repr=False)
    absent_after_seconds: Annotated[float, Field(ge=0, le=3_600)] = 5
    idempotency_key: Annotated[str, Field(max_length=200), AfterValidator(_check_template)] = "{operation_id}"
    reference_pointer: Pointer = "/id"

    @model_validator(mode="after")
    def _check_addresses(self) -> Self:
        _check_address(self.dispatch_url, ())
        _check_address(self.lookup_url, ("operation_id", "execution_id"))
        if "{operation_id}" not in self.lookup_url:
            raise ValueError("lookup_url names the operation: it holds {operation_id}")
        return self


class SourceReaderSettings(Outside):
    """A source that can be read again: what stands under `uri_prefix` is read at `url`.

    `{path}` is the rest of the uri. The source's version is in the header `version_header`, or in the answer
    at `version_pointer`. `source` is the bundle's source whose grant the reader carries.
    """

    uri_prefix: Annotated[str, Field(max_length=200)]
    url: Address = Field(repr=False)
    version_header: Annotated[str, Field(max_length=100)] = "ETag"
    version_pointer: Pointer | None = None
    source: OutsideName

    @model_validator(mode="after")
    def _check_addresses(self) -> Self:
        _check_address(self.url, ("path",))
        if "{path}" not in self.url:
            raise ValueError("url names what is read: it holds {path}")
        if not _PREFIX.fullmatch(self.uri_prefix):
            raise ValueError("uri_prefix is a scheme and what follows it, up to a slash")
        if not _HEADER_NAME.fullmatch(self.version_header):
            raise ValueError("version_header is the name of a header")
        return self


def check_header_value(value: str) -> str:
    """Answer the value of a header. Raises `ValueError`, which never repeats it."""
    if not _HEADER_VALUE.fullmatch(value):
        raise ValueError("the value of a header is printable ASCII on one line")
    return value


class HeaderFileUnreadable(ValueError):
    """A file that holds a header's value cannot be read, or holds none."""


def read_headers(outside: Outside, *, of: str) -> dict[str, str]:
    """Answer all headers with their values.

    Raises `HeaderFileUnreadable`, which names whose header it is (`of`), and no value.
    """
    found = {name: value.get_secret_value() for name, value in outside.headers.items()}
    for name, path in outside.header_files.items():
        try:
            found[name] = check_header_value(path.read_text("ascii").strip())
        except (OSError, ValueError):
            fault = f"{of}: the file of the header {name} cannot be read as its value"
            raise HeaderFileUnreadable(fault) from None
    return found
