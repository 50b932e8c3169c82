"""JSON Lines as they arrive: any number of lines in bounded memory, each at most one mebibyte.

Nothing is spooled to disk: what clients send is personal text, and at rest that is ciphertext only.
"""

from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from typing import Annotated, Final, TypeVar

import anyio
from anyio import from_thread
from fastapi import Depends, Request
from pydantic import TypeAdapter

from service.core.errors import Invalid, TooLarge, Unsupported
from service.entry.http.body import media_type_of, refuse_encoded
from service.entry.http.strict_json import read_json, read_model

JSON_LINES_MEDIA_TYPE: Final = "application/x-ndjson"
LINE_BYTES_MAX: Final = 1024 * 1024
_CHUNK_SECONDS_MAX: Final = 30
"""A client that sends nothing for so long gives its thread back."""

Model = TypeVar("Model")


class BodyIncomplete(Invalid):
    """The body stopped arriving."""

    code = "body_incomplete"
    title = "The body did not arrive in time"


@dataclass(frozen=True, slots=True)
class Line:
    """One line that is not blank. `number` counts from 1 and counts blank lines too."""

    number: int
    raw: bytes | None

    def read(self, adapter: TypeAdapter[Model]) -> Model:
        """Answer what the line describes. Raises `TooLarge`, `JsonMalformed` or `Invalid`."""
        if self.raw is None:
            raise TooLarge(f"The line is longer than {LINE_BYTES_MAX} bytes.")
        read_json(self.raw)
        return read_model(self.raw, adapter)


class JsonLines:
    """The lines of one request, to be read once, from the thread that runs its route."""

    def __init__(self, stream: AsyncIterator[bytes]) -> None:
        self._stream = stream

    def __iter__(self) -> Iterator[Line]:
        """Answer each line as soon as it is there. Hold no transaction open meanwhile: a client may be slow.

        Raises `BodyIncomplete` when nothing comes.
        """
        number, begun = 1, bytearray()
        while (chunk := from_thread.run(self._next_chunk)) is not None:
            *ends, rest = chunk.split(b"\n")
            for end in ends:
                yield from _line(number, bytes(begun) + end)
                number, begun = number + 1, bytearray()
            # One byte over the limit says enough of a line that is too long.
            begun += rest[: LINE_BYTES_MAX + 1 - len(begun)]
        yield from _line(number, bytes(begun))

    async def _next_chunk(self) -> bytes | None:
        try:
            with anyio.fail_after(_CHUNK_SECONDS_MAX):
                return await anext(self._stream, None)
        except TimeoutError:
            raise BodyIncomplete("Nothing more of the body came in time.") from None


def _line(number: int, raw: bytes) -> Iterator[Line]:
    if len(raw) > LINE_BYTES_MAX:
        yield Line(number, None)
    elif raw.strip():
        yield Line(number, raw)


async def _lines(request: Request) -> JsonLines:
    refuse_encoded(request)
    if media_type_of(request) != JSON_LINES_MEDIA_TYPE:
        raise Unsupported(f"Send {JSON_LINES_MEDIA_TYPE}.")
    return JsonLines(request.stream())


Lines = Annotated[JsonLines, Depends(_lines)]
"""The request's lines; 415 for any other media type."""
