"""Rules for text that hold everywhere: what may be stored, and where it may be cut."""

from typing import Final

import regex

_GRAPHEME: Final = regex.compile(r"\X")
_TAG_BLOCK: Final = regex.compile("[\U000e0000-\U000e007f]")
_SURROGATE: Final = regex.compile("[\ud800-\udfff]")


def text_fault(text: str) -> str | None:
    """Answer why `text` cannot be stored (`"NUL"`, a lone surrogate), or `None` when it can."""
    if "\x00" in text:
        return "holds the character NUL"
    if _SURROGATE.search(text):
        return "holds half of a surrogate pair"
    return None


def cut_at_grapheme(text: str, end: int) -> int:
    """Answer the greatest position ≤ `end` that does not fall inside a grapheme (UAX #29)."""
    if end >= len(text):
        return len(text)
    if end <= 0:
        return 0
    # A grapheme is rarely longer than a few dozen characters; start far enough before to see its beginning.
    start = max(0, end - 256)
    position = start
    for match in _GRAPHEME.finditer(text, start):
        if match.end() > end:
            break
        position = match.end()
    return position


def strip_tag_characters(text: str) -> str:
    """Answer `text` without the Unicode tag block, which is invisible to people and read by models.

    The flags of England, Scotland and Wales are spelt with that block after U+1F3F4; those are kept.
    """
    return (
        "".join(
            grapheme if grapheme.startswith("\U0001f3f4") else _TAG_BLOCK.sub("", grapheme)
            for grapheme in _GRAPHEME.findall(text)
        )
        if _TAG_BLOCK.search(text)
        else text
    )
