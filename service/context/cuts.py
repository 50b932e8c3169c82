"""Where plain text, logs and rows may be cut. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import regex

from service.core.text import cut_at_grapheme

_CLOSING: Final = "\"')\\]\u201d\u2019\u300d\u300f"
_MARKS: Final = r"[.!?\u2026\u061f\u06d4]"
_SENTENCE_END: Final = regex.compile(
    # A full stop ends no sentence after an initial ("J. Smith", "z. B."), a title, or an ordinal ("3. März").
    # A run of marks is looked at from its first one only, and nothing is given back: text may be all dots.
    rf"""(?x)
      (?<! {_MARKS} )
      (?: (?<! (?<![\p{{L}}\p{{N}}]) (?: \p{{L}} | \p{{N}}{{1,2}} | Dr | Mr | Mrs | Ms | Prof | St | No | Nr
               | vs | cf | ca | bzw | approx | Fig | Sec | Art ) ) \. (?! {_MARKS} )
        | (?! \. (?! {_MARKS} ) ) {_MARKS}++ )
      [{_CLOSING}]*+ \s++
    | [\u0964\u0965\u3002\uff01\uff1f]++ [{_CLOSING}]*+ \s*+
    | \n++
    """
)
LINE_END: Final = regex.compile(r"\r\n|\n|\r")
WORD_END: Final = regex.compile(r"\s+")
_GRAPHEME: Final = regex.compile(r"\X")
_GRAPHEMES_CHARACTERS_MAX: Final = 10_000
"""No text has words of so many characters, and flags in a row take the square of their number."""
_HEAD_SHARE: Final = 3
"""Of a log's lines that stay one in so many is from its head: it says what ran, the end how that went."""


@dataclass(frozen=True, slots=True)
class Cut:
    """What may remain of a text: its beginning, what closes that, and perhaps its end too."""

    end: int
    closing: str = ""
    start_of_rest: int | None = None

    def of(self, text: str) -> tuple[str, ...]:
        """Answer the pieces that remain, one or two."""
        head = text[: self.end] + self.closing
        if self.start_of_rest is None:
            return (head,)
        rest = text[self.start_of_rest :]
        return (head, rest) if head else (rest,)


def cuts_after(text: str, boundary: regex.Pattern[str]) -> Sequence[Cut]:
    """Answer cuts that keep all before a boundary and drop the white space that ends there."""
    ends: dict[int, None] = {}
    for match in boundary.finditer(text):
        end = match.start() + len(match.group().rstrip())
        if text[end - 1 : end + 1] == "\r\n":
            end -= 1
        elif not text[end : end + 1].isspace():
            # Only here could what follows belong to the same grapheme.
            end = cut_at_grapheme(text, end)
        if 0 < end < len(text):
            ends[end] = None
    return [Cut(end) for end in ends]


def sentence_cuts(text: str) -> Sequence[Cut]:
    """Answer cuts after whole sentences and lines."""
    return cuts_after(text, _SENTENCE_END)


def grapheme_cuts(text: str) -> Sequence[Cut]:
    """Answer cuts after each grapheme (UAX #29) of how a text begins."""
    ends = [match.end() for match in _GRAPHEME.finditer(text, 0, _GRAPHEMES_CHARACTERS_MAX)]
    return [Cut(end) for end in ends[:-1]]


def row_cuts(text: str) -> Sequence[Cut]:
    """Answer cuts after whole rows of a table; a line break inside quotes ends no row. The header stays."""
    cuts: list[Cut] = []
    quotes, seen = 0, 0
    for match in LINE_END.finditer(text):
        quotes += text.count('"', seen, match.start())
        seen = match.end()
        if quotes % 2 == 0 and match.end() < len(text):
            cuts.append(Cut(match.start()))
    # A header alone says nothing: at least one row beside it.
    return cuts[1:]


def record_cuts(text: str) -> Sequence[Cut]:
    """Answer cuts after whole lines, each of them a record by itself."""
    end = len(text.rstrip())
    return [Cut(match.start()) for match in LINE_END.finditer(text) if 0 < match.start() < end]


def log_cuts(text: str) -> Sequence[Cut]:
    """Answer cuts that keep whole lines of the end and, of so many more, some of the beginning."""
    breaks = [match for match in LINE_END.finditer(text) if match.end() < len(text)]
    cuts = []
    for kept in range(1, len(breaks) + 1):
        head = kept // _HEAD_SHARE
        end = breaks[head - 1].start() if head else 0
        cuts.append(Cut(end, start_of_rest=breaks[len(breaks) - (kept - head)].end()))
    return cuts


def end_cuts(text: str) -> Sequence[Cut]:
    """Answer cuts that keep the last lines."""
    starts = [match.end() for match in LINE_END.finditer(text) if match.end() < len(text)]
    return [Cut(0, start_of_rest=start) for start in reversed(starts)]


def last_word_cuts(text: str) -> Sequence[Cut]:
    """Answer cuts that keep the last words of a text, for one whose last line is too long."""
    starts = [match.end() for match in WORD_END.finditer(text) if 0 < match.end() < len(text)]
    return [
        Cut(0, start_of_rest=start) for start in reversed(starts) if cut_at_grapheme(text, start) == start
    ]
