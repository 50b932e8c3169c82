"""Where Markdown may be cut so that tables keep their heads and code stays fenced. Pure."""

from collections.abc import Iterator, Sequence
from typing import Final

import regex

from service.context.cuts import LINE_END, WORD_END, Cut, cuts_after, sentence_cuts

_FENCE: Final = regex.compile(r"[ \t]*+(`{3,}+|~{3,}+)")
_SEPARATOR: Final = regex.compile(
    r"[ \t]*+\|?+[ \t]*+:?+-++:?+[ \t]*+(?:\|[ \t]*+:?+-++:?+[ \t]*+)*+\|?+[ \t]*+"
)
_HEADING: Final = regex.compile(r"[ \t]*#{1,6}[ \t]")


def markdown_cuts(text: str) -> Sequence[Cut]:
    """Answer cuts after sentences, rows and lines of code, from the shortest to the longest.

    A table that is cut keeps its header, its rule and at least one row; a block of code at least one line and
    its closing fence. No heading stands last.
    """
    end = len(text.rstrip())
    return [cut for cut in _cuts(text, by_words=False) if cut.end < end]


def markdown_word_cuts(text: str) -> Sequence[Cut]:
    """Answer cuts after words of what is neither table nor code."""
    end = len(text.rstrip())
    return [cut for cut in _cuts(text, by_words=True) if cut.end < end]


def _cuts(text: str, *, by_words: bool) -> Iterator[Cut]:
    lines = list(_lines(text))
    fence = ""
    # Lines of a table that are not to stand alone: its header and its rule.
    head = 0
    in_table = False
    for number, (start, end) in enumerate(lines):
        line = text[start:end]
        mark = _FENCE.match(line)
        if fence:
            if mark and mark[1].startswith(fence) and not line[mark.end() :].strip():
                fence = ""
                yield Cut(end)
            elif line.strip():
                yield Cut(end, closing=f"\n{fence}")
            continue
        if mark:
            fence, in_table = mark[1], False
            continue
        following = text[slice(*lines[number + 1])] if number + 1 < len(lines) else ""
        if "|" in line and "-" in following and _SEPARATOR.fullmatch(following):
            in_table, head = True, 2
        in_table = head > 0 or (in_table and "|" in line)
        if head:
            head -= 1
        elif in_table:
            yield Cut(end)
        elif line.strip() and not _HEADING.match(line):
            yield from _inside(line, start, by_words=by_words)
            yield Cut(start + len(line.rstrip()))


def _inside(line: str, start: int, *, by_words: bool) -> Iterator[Cut]:
    for cut in cuts_after(line, WORD_END) if by_words else sentence_cuts(line):
        yield Cut(start + cut.end)


def _lines(text: str) -> Iterator[tuple[int, int]]:
    start = 0
    for match in LINE_END.finditer(text):
        yield start, match.start()
        start = match.end()
    yield start, len(text)
