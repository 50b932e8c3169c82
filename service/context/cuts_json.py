"""Where JSON may be cut so that it stays JSON. Pure."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

import regex

_TOKEN: Final = regex.compile(
    r'"(?:[^"\\\x00-\x1f]|\\.)*"|-?\d[\d.eE+-]*|true|false|null|[\[\]{},:]|(?P<space>[ \t\r\n]+)'
)
_CLOSERS: Final = {"[": "]", "{": "}"}


class _Open(NamedTuple):
    """What is open at some place, innermost first. Places share it: nesting costs no copy for each."""

    closer: str
    outer: "_Open | None"


@dataclass(frozen=True, slots=True)
class JsonCut:
    """A cut after a complete element, with all that is open there."""

    end: int
    open: _Open

    def of(self, text: str) -> tuple[str, ...]:
        """Answer what remains, closed so that it is JSON."""
        return (text[: self.end] + "".join(_closers(self.open)),)


def _closers(opened: _Open | None) -> Iterator[str]:
    while opened is not None:
        yield opened.closer
        opened = opened.outer


def json_cuts(text: str) -> Sequence[JsonCut]:
    """Answer cuts after each complete element, from the shortest to the longest; none if it is no JSON."""
    cuts, is_whole = _elements(text)
    return cuts if is_whole else []


def json_beginning_cuts(text: str) -> Sequence[JsonCut]:
    """Answer the same of a text that may break off anywhere: what it breaks off in is left out."""
    cuts, is_whole = _elements(text)
    # A number at the end may be the beginning of another.
    return cuts if is_whole else [cut for cut in cuts if cut.end < len(text)]


def _elements(text: str) -> tuple[Sequence[JsonCut], bool]:
    """Answer cuts after each complete element, and whether the text is JSON to its end."""
    cuts: list[JsonCut] = []
    opened: _Open | None = None
    position = 0
    previous = ""
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None:
            return cuts, False
        position = match.end()
        if match["space"]:
            continue
        token = match[0]
        is_key = token[0] == '"' and opened is not None and opened.closer == "}" and previous in ("{", ",")
        if token in _CLOSERS:
            opened = _Open(_CLOSERS[token], opened)
        elif token in ("]", "}"):
            if opened is None or opened.closer != token:
                return [], False
            opened = opened.outer
        if opened is not None and token not in (",", ":") and not is_key:
            cuts.append(JsonCut(position, opened))
        previous = token
    return cuts, opened is None
