"""What is shown of a tool result that is too large for the run: its beginning, of a log its end too. Pure."""

from collections.abc import Callable
from typing import Final

from service.context.model import Part, Shape
from service.context.truncate import beginning_of_json, end_of_log, truncate

HEAD_CHARACTERS: Final = 6_000
TAIL_CHARACTERS: Final = 3_000
"""So much of a text is looked at for its preview, whatever its length."""
_HEAD_TOKENS: Final = 200
_LOG_HEAD_TOKENS: Final = 60
_LOG_TAIL_TOKENS: Final = 140
"""A log begins with what was called, and ends in its error."""


def preview(head: str, tail: str, *, shape: Shape, count: Callable[[str], int]) -> tuple[Part, ...]:
    """Answer labelled parts of a text of which `head` is the beginning and `tail` the end.

    Each is cut as its shape allows, so that JSON stays JSON and a table keeps its header; no mark of the cut
    stands inside. Nothing is answered where no valid cut is short enough.
    """
    if shape is Shape.LOG:
        first = _cut(head, Shape.LINES, _LOG_HEAD_TOKENS, count)
        last = end_of_log(tail, lambda kept: count(kept) <= _LOG_TAIL_TOKENS)
        return (*_part("beginning", first), *_part("end", last))
    if shape is Shape.JSON:
        return _part("beginning", beginning_of_json(head, lambda kept: count(kept) <= _HEAD_TOKENS))
    return _part("beginning", _cut(head, shape, _HEAD_TOKENS, count))


def _cut(text: str, shape: Shape, tokens: int, count: Callable[[str], int]) -> str | None:
    def fits(kept: str) -> bool:
        return count(kept) <= tokens

    # A single line of any length is prose at last, which ends where a character does.
    return truncate(text, fits, shape=shape) or truncate(text, fits, shape=Shape.PROSE)


def _part(label: str, text: str | None) -> tuple[Part, ...]:
    return (Part(label, text),) if text else ()
