"""One bounded HTTP call to an address that an operator wrote: what downstreams and sources are reached by.

Redirects are never followed, no proxy and no credential is taken from the environment, nothing is unpacked,
and the whole call ends in time, however slowly the other side sends. What goes wrong is a code: neither
address nor header nor answer is repeated.
"""

import asyncio
import json
import re
import ssl
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Final
from urllib.parse import quote

import httpx

ANSWER_BYTES_MAX: Final = 64 * 1024
"""Most bytes that are read of a downstream's answer."""
_PLACEHOLDER: Final = re.compile(r"\{([a-z_]+)\}")
_KEY: Final = re.compile(r"[\x21-\x7e]{1,500}")
_REFERENCE_LENGTH_MAX: Final = 500
_DOT_SEGMENTS: Final = frozenset({"", ".", ".."})


class NoAnswer(Exception):
    """The other side did not answer in time, or not at all. `code` says how far it came."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


class AddressUnsafe(ValueError):
    """A value would lead somewhere else than the template means; nothing was sent."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back. `body` is `None` when it was larger than was asked for, or packed."""

    status: int
    headers: httpx.Headers
    body: bytes | None


@dataclass(frozen=True, slots=True, repr=False)
class Call:
    """One request. `content` of `None` sends no body. It holds secrets, so it has no text form."""

    method: str
    url: str
    headers: Mapping[str, str]
    content: bytes | None = None
    body_bytes_max: int = ANSWER_BYTES_MAX


def ask(call: Call, *, timeout_seconds: float) -> Answer:
    """Make a call and answer what came back, within `timeout_seconds` in all. Raises `NoAnswer`.

    For threads that run no event loop of their own.
    """
    return asyncio.run(_ask_in_time(call, timeout_seconds))


def fill(template: str, values: Mapping[str, str]) -> str:
    """Answer an address with each value in its place, quoted so that it stays one piece of it.

    Raises `AddressUnsafe` for a value that is empty or made of dots, which quoting leaves a step upwards.
    """
    if any(value in _DOT_SEGMENTS for value in values.values()):
        raise AddressUnsafe
    return _PLACEHOLDER.sub(lambda found: quote(values[found[1]], safe=""), template)


def fill_path(template: str, rest: str) -> str:
    """Answer an address with `{path}` as `rest`, each segment quoted. Raises `AddressUnsafe` like `fill`."""
    segments = rest.split("/")
    if any(segment in _DOT_SEGMENTS for segment in segments):
        raise AddressUnsafe
    return template.replace("{path}", "/".join(quote(segment, safe="") for segment in segments))


def fill_key(template: str, values: Mapping[str, str]) -> str:
    """Answer the value of an idempotency header. Raises `AddressUnsafe` for what no header can carry."""
    key = _PLACEHOLDER.sub(lambda found: values[found[1]], template)
    if not _KEY.fullmatch(key):
        raise AddressUnsafe
    return key


def find_text(body: bytes | None, pointer: str) -> str | None:
    """Answer the text or number at a JSON pointer (RFC 6901), `None` where there is none fit to be kept."""
    try:
        value = None if body is None else json.loads(body)
    except (ValueError, RecursionError):
        return None
    for part in pointer.split("/")[1:]:
        name = part.replace("~1", "/").replace("~0", "~")
        if isinstance(value, dict):
            value = value.get(name)
        elif isinstance(value, list) and name.isascii() and name.isdigit() and int(name[:9]) < len(value):
            value = value[int(name[:9])]
        else:
            return None
    text = str(value) if isinstance(value, int) and not isinstance(value, bool) else value
    if not isinstance(text, str) or not 0 < len(text) <= _REFERENCE_LENGTH_MAX:
        return None
    return text if text.isprintable() and not any(map(str.isspace, text)) else None


async def _ask_in_time(call: Call, timeout_seconds: float) -> Answer:
    try:
        async with asyncio.timeout(timeout_seconds):
            return await _ask(call, timeout_seconds)
    except (TimeoutError, httpx.TimeoutException):
        raise NoAnswer("timed_out") from None
    except httpx.ConnectError:
        raise NoAnswer("not_reached") from None
    except (httpx.HTTPError, httpx.InvalidURL, OSError):
        raise NoAnswer("connection_lost") from None


async def _ask(call: Call, timeout_seconds: float) -> Answer:
    # The transport alone: a client would keep cookies, read the environment and write addresses to its log.
    context = _verifying() if call.url.startswith("https:") else False
    async with httpx.AsyncHTTPTransport(verify=context, trust_env=False) as transport:
        request = httpx.Request(
            call.method,
            call.url,
            headers={"User-Agent": "muniment", "Accept-Encoding": "identity", **call.headers},
            content=call.content,
            extensions={"timeout": dict.fromkeys(("connect", "read", "write", "pool"), timeout_seconds)},
        )
        response = await transport.handle_async_request(request)
        try:
            body = await _read(response, call.body_bytes_max)
        finally:
            await response.aclose()
        return Answer(response.status_code, response.headers, body)


async def _read(response: httpx.Response, bytes_max: int) -> bytes | None:
    if response.headers.get("Content-Encoding", "identity").lower() != "identity":
        return None
    body = bytearray()
    async for part in response.aiter_raw():
        body += part
        if len(body) > bytes_max:
            return None
    return bytes(body)


@lru_cache(maxsize=1)
def _verifying() -> ssl.SSLContext:
    # Reading the authorities takes longer than a call.
    return httpx.create_ssl_context(trust_env=False)
