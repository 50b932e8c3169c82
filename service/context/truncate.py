"""Cuts a text so that what is left is valid, ends where a reader would stop, and splits no grapheme."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Final, Protocol

from service.context.cuts import (
    LINE_END,
    WORD_END,
    cuts_after,
    end_cuts,
    grapheme_cuts,
    last_word_cuts,
    log_cuts,
    record_cuts,
    row_cuts,
    sentence_cuts,
)
from service.context.cuts_json import json_beginning_cuts, json_cuts
from service.context.cuts_markdown import markdown_cuts, markdown_word_cuts
from service.context.model import Shape

Fits = Callable[[Sequence[str]], bool]
"""Says whether what remains is short enough: one piece, or the beginning and the end of the text."""


class _Cut(Protocol):
    def of(self, text: str) -> tuple[str, ...]: ...


_LADDERS: Final[dict[Shape, tuple[Callable[[str], Sequence[_Cut]], ...]]] = {
    Shape.WHOLE: (),
    Shape.JSON: (json_cuts,),
    Shape.ROWS: (row_cuts,),
    Shape.RECORDS: (record_cuts,),
    Shape.LOG: (log_cuts, last_word_cuts, grapheme_cuts),
    Shape.LINES: (partial(cuts_after, boundary=LINE_END), partial(cuts_after, boundary=WORD_END)),
    Shape.MARKDOWN: (markdown_cuts, markdown_word_cuts),
    Shape.PROSE: (sentence_cuts, partial(cuts_after, boundary=WORD_END), grapheme_cuts),
}
"""Kinds of cuts of each shape, best kind first, each from the shortest to the longest."""
assert _LADDERS.keys() == set(Shape)


class Cutter:
    """Cuts one text to any length; where it may be cut is looked for once."""

    def __init__(self, text: str, *ladder: Callable[[str], Sequence[_Cut]]) -> None:
        self._text = text
        self._ladder = ladder
        self._kinds: list[Sequence[_Cut]] = []

    @classmethod
    def of_shape(cls, text: str, shape: Shape) -> "Cutter":
        """Answer a cutter that cuts as the shape allows."""
        return cls(text, *_LADDERS[shape])

    def longest(self, fits: Fits) -> tuple[str, ...] | None:
        """Answer the longest valid cut that fits, of the best kind of which any does, or `None`.

        Prose is cut after a sentence, or after a word where not even one sentence fits; lines and rows are
        kept whole; a log keeps its last lines, where its error stands, and some of its first; JSON keeps
        whole elements and stays valid.
        """
        for number, kind in enumerate(self._ladder):
            if number == len(self._kinds):
                self._kinds.append(kind(self._text))
            kept = self._longest(self._kinds[number], fits)
            if kept is not None:
                return kept
        return None

    def _longest(self, cuts: Sequence[_Cut], fits: Fits) -> tuple[str, ...] | None:
        low, high = 0, len(cuts)
        best: tuple[str, ...] | None = None
        while low < high:
            middle = (low + high) // 2
            kept = cuts[middle].of(self._text)
            if fits(kept):
                best, low = kept, middle + 1
            else:
                high = middle
        return best


def truncate(text: str, fits: Callable[[str], bool], *, shape: Shape) -> str | None:
    """Answer the longest valid cut of `text` that fits as one text, or `None` where none does."""
    return _joined(Cutter.of_shape(text, shape), fits)


def beginning_of_json(text: str, fits: Callable[[str], bool]) -> str | None:
    """Answer the longest valid JSON that fits, made of how a document begins; `None` where none does.

    `text` may end anywhere: what it breaks off in is left out, and what is open is closed.
    """
    return _joined(Cutter(text, json_beginning_cuts), fits)


def end_of_log(text: str, fits: Callable[[str], bool]) -> str | None:
    """Answer as many whole lines of the end as fit, or as many of the last words; `None` where none does."""
    return _joined(Cutter(text, end_cuts, last_word_cuts), fits)


def _joined(cutter: Cutter, fits: Callable[[str], bool]) -> str | None:
    kept = cutter.longest(lambda pieces: fits("\n".join(pieces)))
    return None if kept is None else "\n".join(kept)
