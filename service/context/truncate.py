"""Cuts a text so that what is left is valid, ends where a reader would stop, and splits no grapheme."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import regex

from service.context.model import Shape
from service.core.text import cut_at_grapheme

_CLOSING: Final = "\"')\\]\u201d\u2019\u300d\u300f"
_SENTENCE_END: Final = regex.compile(rf"[.!?\u2026]+[{_CLOSING}]*\s+|[\u3002\uff01\uff1f]+[{_CLOSING}]*|\n+")
_LINE_END: Final = regex.compile(r"\r\n|\n|\r")
_WORD_END: Final = regex.compile(r"\s+")
_JSON_TOKEN: Final = regex.compile(
    r'"(?:[^"\\\x00-\x1f]|\\.)*"|-?\d[\d.eE+-]*|true|false|null|[\[\]{},:]|(?P<space>[ \t\r\n]+)'
)
_CLOSERS: Final = {"[": "]", "{": "}"}

Fits = Callable[[str], bool]
"""Says whether a text is short enough; true of every beginning of a text that is."""


@dataclass(frozen=True, slots=True)
class _Cut:
    """A text that may remain: a range of the original, and what closes it."""

    start: int
    end: int
    closing: str = ""

    def of(self, text: str) -> str:
        return text[self.start : self.end] + self.closing


def truncate(text: str, fits: Fits, *, shape: Shape) -> str | None:
    """Answer the longest valid cut of `text` that fits, or `None` where none does.

    Prose is cut after a sentence, or after a word where not even one sentence fits; lines and rows are kept
    whole (a log keeps its last ones, where its error stands); JSON keeps whole elements and stays valid.
    """
    for cuts in _ladder(text, shape):
        kept = _longest(text, cuts, fits)
        if kept:
            return kept
    return None


def beginning_of_json(text: str, fits: Fits) -> str | None:
    """Answer the longest valid JSON that fits, made of how a document begins; `None` where none does.

    `text` may end anywhere: what it breaks off in is left out, and what is open is closed.
    """
    cuts, _ = _json_elements(text)
    return _longest(text, cuts, fits)


def _ladder(text: str, shape: Shape) -> Iterator[Sequence[_Cut]]:
    """Yield kinds of cuts, best kind first, each from the shortest to the longest."""
    match shape:
        case Shape.WHOLE:
            return
        case Shape.JSON:
            yield _json_cuts(text)
        case Shape.ROWS:
            yield _row_cuts(text)
        case Shape.LOG:
            yield _tail_cuts(text)
        case Shape.LINES:
            yield _cuts_after(text, _LINE_END)
            yield _cuts_after(text, _WORD_END)
        case Shape.PROSE:
            yield _cuts_after(text, _SENTENCE_END)
            yield _cuts_after(text, _WORD_END)
            yield _grapheme_cuts(text)


def _longest(text: str, cuts: Sequence[_Cut], fits: Fits) -> str | None:
    low, high = 0, len(cuts)
    best: str | None = None
    while low < high:
        middle = (low + high) // 2
        kept = cuts[middle].of(text)
        if fits(kept):
            best, low = kept, middle + 1
        else:
            high = middle
    return best


def _cuts_after(text: str, boundary: regex.Pattern[str]) -> Sequence[_Cut]:
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
    return [_Cut(0, end) for end in ends]


def _grapheme_cuts(text: str) -> Sequence[_Cut]:
    ends = [match.end() for match in regex.finditer(r"\X", text)]
    return [_Cut(0, end) for end in ends[:-1]]


def _row_cuts(text: str) -> Sequence[_Cut]:
    """Answer cuts after whole rows of a table; a line break inside quotes ends no row. The header stays."""
    cuts: list[_Cut] = []
    quotes, seen = 0, 0
    for match in _LINE_END.finditer(text):
        quotes += text.count('"', seen, match.start())
        seen = match.end()
        if quotes % 2 == 0 and match.end() < len(text):
            cuts.append(_Cut(0, match.start()))
    # A header alone says nothing: at least one row beside it.
    return cuts[1:]


def _tail_cuts(text: str) -> Sequence[_Cut]:
    starts = [match.end() for match in _LINE_END.finditer(text) if match.end() < len(text)]
    return [_Cut(start, len(text)) for start in reversed(starts)]


def _json_cuts(text: str) -> Sequence[_Cut]:
    """Answer cuts after each complete element, closed so that the text is JSON again; none if it is not."""
    cuts, is_whole = _json_elements(text)
    return cuts if is_whole else []


def _json_elements(text: str) -> tuple[Sequence[_Cut], bool]:
    """Answer cuts after each complete element, and whether the text is JSON to its end."""
    cuts: list[_Cut] = []
    stack: list[str] = []
    position = 0
    previous = ""
    while position < len(text):
        match = _JSON_TOKEN.match(text, position)
        if match is None:
            return cuts, False
        position = match.end()
        if match["space"]:
            continue
        token = match[0]
        is_key = token[0] == '"' and stack[-1:] == ["}"] and previous in ("{", ",")
        if token in _CLOSERS:
            stack.append(_CLOSERS[token])
        elif token in ("]", "}") and (not stack or stack.pop() != token):
            return [], False
        if stack and token not in (",", ":") and not is_key:
            cuts.append(_Cut(0, position, "".join(reversed(stack))))
        previous = token
    return cuts, not stack
