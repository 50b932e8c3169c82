"""Copies of a text that rules can read, each knowing where its characters stand in the original.

Beside the normalised text there is one copy for each thing that hides words from a plain search: the
invisible tag block, base64, letters set apart by spaces. The original is never changed.
"""

import base64
import binascii
import re
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Final

from service.core.text import find_tag_runs
from service.detection.characters import fold_character

DECODED_SEGMENTS_MAX: Final = 8
DECODED_CHARACTERS_MAX: Final = 4_000
_SHORTEST_SEGMENT: Final = 20
_PRINTABLE_SHARE: Final = 0.95
_TAG_BLOCK: Final = 0xE0000
_BASE64: Final = re.compile(r"(?<![A-Za-z0-9+/_-])[A-Za-z0-9+/_-]{20,5400}={0,2}")
_SPACED: Final = re.compile(r"(?<!\w)(?:\w[ .*_-]){5,400}\w(?!\w)")
_SPACED_WORDS_MAX: Final = 100


@dataclass(frozen=True, slots=True)
class Reading:
    """A copy to search. `folded` is `text` in lower case and of the same length.

    `places` gives for each character its place in the original (`None`: the same place). Where `whole` is
    set, all of the copy stands for that span of the original.
    """

    text: str
    folded: str
    original_length: int
    places: Sequence[int] | None = None
    whole: tuple[int, int] | None = None

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Answer where a part of the copy stands in the original, unseen characters included."""
        assert 0 <= start < end <= len(self.text)
        if self.whole is not None:
            return self.whole
        if self.places is None:
            return start, end
        after = self.places[end] if end < len(self.places) else self.original_length
        return self.places[start], max(self.places[end - 1] + 1, after)


def readings_of(text: str) -> Sequence[Reading]:
    """Answer the normalised copy of `text` first, then those of what is hidden in it, at most some."""
    plain = read(text)
    hidden = [_read_tags(text, start, end) for start, end in find_tag_runs(text)[:DECODED_SEGMENTS_MAX]]
    decoded = islice(_decode(plain), DECODED_SEGMENTS_MAX)
    return [plain, *(one for one in (*hidden, _close_up(plain)) if one is not None), *decoded]


def read(text: str) -> Reading:
    """Answer the normalised copy of `text`."""
    if text.isascii():
        return Reading(text, text.lower(), len(text))
    pieces: list[str] = []
    places = array("L")
    for place, character in enumerate(text):
        folded = character if character < "\x80" else fold_character(character)
        pieces.append(folded)
        places.extend([place] * len(folded))
    copy = "".join(pieces)
    return Reading(copy, _lower(copy), len(text), places)


def _lower(text: str) -> str:
    lower = text.lower()
    if len(lower) == len(text):
        return lower
    return "".join(character.lower()[0] for character in text)


def _read_tags(text: str, start: int, end: int) -> Reading | None:
    said = "".join(chr(ord(tag) - _TAG_BLOCK) for tag in text[start:end])
    said = "".join(character for character in said if character.isprintable())
    return _stand_in(said, (start, end), len(text)) if said else None


def _decode(plain: Reading) -> Iterator[Reading]:
    """Yield what stands in base64, one level deep."""
    for segment in islice(_BASE64.finditer(plain.text), 4 * DECODED_SEGMENTS_MAX):
        said = _text_of(segment.group())
        if said is not None:
            yield _stand_in(said, plain.span(*segment.span()), plain.original_length)


def _text_of(segment: str) -> str | None:
    """Answer the text that a segment encodes, or `None` where it is no base64 of a text."""
    alphabet = segment.rstrip("=").replace("-", "+").replace("_", "/")
    whole = alphabet[: len(alphabet) - (len(alphabet) % 4 == 1)]
    try:
        said = base64.b64decode(whole + "=" * (-len(whole) % 4)).decode()
    except (binascii.Error, UnicodeDecodeError):
        return None
    printable = sum(character.isprintable() or character.isspace() for character in said)
    return said[:DECODED_CHARACTERS_MAX] if printable >= _PRINTABLE_SHARE * len(said) else None


def _close_up(plain: Reading) -> Reading | None:
    """Answer the text with the letters of each spaced word closed up, or `None` where none is spaced."""
    pieces: list[str] = []
    places = array("L")
    kept = 0
    for segment in islice(_SPACED.finditer(plain.text), _SPACED_WORDS_MAX):
        for start, end in ((kept, segment.start()), *((at, at + 1) for at in range(*segment.span(), 2))):
            pieces.append(plain.text[start:end])
            places.extend(range(start, end) if plain.places is None else plain.places[start:end])
        kept = segment.end()
    if not pieces:
        return None
    pieces.append(plain.text[kept:])
    end = len(plain.text)
    places.extend(range(kept, end) if plain.places is None else plain.places[kept:end])
    copy = "".join(pieces)
    return Reading(copy, _lower(copy), plain.original_length, places)


def _stand_in(said: str, whole: tuple[int, int], original_length: int) -> Reading:
    copy = read(said)
    return Reading(copy.text, copy.folded, original_length, whole=whole)
