"""Source readers over HTTP: what stands at a registered source now, in which version."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Final

import httpx
import structlog

from service.adapters.downstream_connectors import TenantName
from service.adapters.downstream_http import (
    AddressUnsafe,
    Answer,
    Call,
    NoAnswer,
    ask,
    fill_path,
    find_text,
)
from service.core.errors import Unavailable
from service.core.hashing import hash_text
from service.core.text import text_fault
from service.executions.ports import SourceReading
from service.settings_outside import SourceReaderSettings, read_headers

READING_BYTES_MAX: Final = 1024 * 1024
"""Most bytes of a source that are read: as many as a request may carry."""
_GONE: Final = frozenset({HTTPStatus.NOT_FOUND, HTTPStatus.GONE})
_ENTITY_TAG: Final = re.compile(r'(?:W/)?"([^"]*)"')
_VERSION: Final = re.compile(r"[\x21-\x7e]{1,200}")

_log = structlog.get_logger(__name__)


class SourceSilent(Unavailable):
    """A source that a run is derived from does not answer, so nobody knows whether it has changed."""

    code = "source_unavailable"
    title = "A source that must be read again does not answer"


class HttpSourceReaders:
    """The source readers of the settings; each serves the tenants that it names and no other."""

    def __init__(self, settings: Mapping[str, SourceReaderSettings], *, tenant_name: TenantName) -> None:
        self._tenant_name = tenant_name
        readers = [
            _Reader(name, one, read_headers(one, of=f"source reader {name}"))
            for name, one in settings.items()
        ]
        # The longest prefix is the most specific.
        self._readers = sorted(readers, key=lambda reader: -len(reader.settings.uri_prefix))

    def read(self, tenant_id: str, uri: str) -> SourceReading | None:
        """Read a source now; `None` where no reader of the tenant covers its address.

        Raises `SourceSilent` when it does not answer, or answers neither with a text nor that it is gone.
        """
        for reader in self._readers:
            url = reader.address_of(uri)
            if url is not None and self._tenant_name(tenant_id) in reader.settings.tenants:
                return reader.read(url)
        return None


@dataclass(frozen=True, slots=True, repr=False)
class _Reader:
    """One source. Its headers are secrets, so it has no text form that would show them."""

    name: str
    settings: SourceReaderSettings
    headers: Mapping[str, str]

    def address_of(self, uri: str) -> str | None:
        """Answer where the source is read, `None` for one that is not this reader's."""
        prefix = self.settings.uri_prefix
        if uri[: len(prefix)].lower() != prefix.lower():
            return None
        try:
            return fill_path(self.settings.url, uri[len(prefix) :])
        except AddressUnsafe:
            return None

    def read(self, url: str) -> SourceReading:
        """Read it."""
        call = Call("GET", url, self.headers, body_bytes_max=READING_BYTES_MAX)
        try:
            answer = ask(call, timeout_seconds=self.settings.timeout_seconds)
        except NoAnswer as failure:
            _log.warning("source_silent", reader=self.name, failure=failure.code)
            raise SourceSilent from None
        if answer.status in _GONE:
            return SourceReading(self.name, self.settings.source, found=False)
        if answer.status != HTTPStatus.OK:
            _log.warning("source_silent", reader=self.name, failure=f"answered_{answer.status}")
            raise SourceSilent
        text = _text_of(answer)
        return SourceReading(
            self.name,
            self.settings.source,
            found=True,
            version=self._version_of(answer),
            sha256=None if text is None else hash_text(text),
            text=text,
        )

    def _version_of(self, answer: Answer) -> str | None:
        if self.settings.version_pointer is not None:
            version = find_text(answer.body, self.settings.version_pointer)
        else:
            value = answer.headers.get(self.settings.version_header, "").strip()
            tag = _ENTITY_TAG.fullmatch(value)
            version = tag[1] if tag else value
        return version if version and _VERSION.fullmatch(version) else None


def _text_of(answer: Answer) -> str | None:
    if answer.body is None:
        return None
    media_type = {"Content-Type": answer.headers.get("Content-Type", "")}
    encoding = httpx.Response(HTTPStatus.OK, headers=media_type).charset_encoding or "utf-8"
    try:
        text = answer.body.decode(encoding)
    except (ValueError, LookupError):
        return None
    return None if not text or text_fault(text) else text
