"""What is different between two texts, word by word. Pure, and bounded whatever the texts are."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import groupby
from typing import Final

import regex

# Scripts that write no spaces are compared character by character, and no grapheme is ever cut.
_WORD: Final = regex.compile(
    r"\s+|[\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}]\p{M}*|[\p{L}\p{N}\p{M}_]+(?=\X|$)|\X"
)
_CELLS_MAX: Final = 100_000
"""Words of one times words of the other, less what they begin and end with alike.

Beyond it the rest counts as replaced whole. 300 words each, with little in common, take some hundredths of a
second.
"""


class Operation(StrEnum):
    """What became of a piece of text."""

    KEEP = "keep"
    ADD = "add"
    REMOVE = "remove"


@dataclass(frozen=True, slots=True)
class Piece:
    """Some text, and what became of it. Kept and removed make the old text, kept and added the new."""

    op: Operation
    text: str


def diff_words(old: str, new: str) -> tuple[Piece, ...]:
    """Answer the pieces that lead from the old text to the new one, removals before additions."""
    before, after = _WORD.findall(old), _WORD.findall(new)
    head = _alike(before, after)
    tail = _alike(before[head:][::-1], after[head:][::-1])
    inner = _inner(before[head : len(before) - tail], after[head : len(after) - tail])
    whole = [
        *((Operation.KEEP, word) for word in before[:head]),
        *inner,
        *((Operation.KEEP, word) for word in before[len(before) - tail :]),
    ]
    return tuple(_joined(whole))


def _alike(one: Sequence[str], other: Sequence[str]) -> int:
    """Answer how many words both begin with alike."""
    count = 0
    for mine, theirs in zip(one, other, strict=False):
        if mine != theirs:
            break
        count += 1
    return count


def _inner(before: Sequence[str], after: Sequence[str]) -> Iterator[tuple[Operation, str]]:
    if len(before) * len(after) > _CELLS_MAX:
        yield from ((Operation.REMOVE, word) for word in before)
        yield from ((Operation.ADD, word) for word in after)
        return
    longest = _longest(before, after)
    row = column = 0
    while row < len(before) and column < len(after):
        if before[row] == after[column]:
            yield Operation.KEEP, before[row]
            row, column = row + 1, column + 1
        elif longest[row + 1][column] >= longest[row][column + 1]:
            yield Operation.REMOVE, before[row]
            row += 1
        else:
            yield Operation.ADD, after[column]
            column += 1
    yield from ((Operation.REMOVE, word) for word in before[row:])
    yield from ((Operation.ADD, word) for word in after[column:])


def _longest(before: Sequence[str], after: Sequence[str]) -> list[list[int]]:
    """Answer, for each pair of places, how many words the rests from there have in common in order."""
    table = [[0] * (len(after) + 1)]
    for word in reversed(before):
        below = table[-1]
        row = [0] * (len(after) + 1)
        for place in range(len(after) - 1, -1, -1):
            row[place] = below[place + 1] + 1 if word == after[place] else max(below[place], row[place + 1])
        table.append(row)
    return table[::-1]


def _joined(steps: Sequence[tuple[Operation, str]]) -> Iterator[Piece]:
    """Join steps into pieces: between what is kept, all removals and then all additions."""
    for is_kept, run in groupby(steps, key=lambda step: step[0] is Operation.KEEP):
        between = list(run)
        for operation in (Operation.KEEP,) if is_kept else (Operation.REMOVE, Operation.ADD):
            text = "".join(word for op, word in between if op is operation)
            if text:
                yield Piece(operation, text)
