"""Cuts text where a reader would: at headings, paragraphs, sentences and words."""

from collections.abc import Iterator, Sequence
from typing import Final

import regex
from semantic_text_splitter import MarkdownSplitter, TextSplitter

from service.core.text import cut_at_grapheme
from service.core.tokens import TokenCounter
from service.evidence.ports import Span

_TOKENS_MIN: Final = 4
"""A character is at most four bytes, and a token at least one: a character always fits."""

_SEGMENT_BYTES: Final = 8_192
_UNBROKEN_CHARACTERS_MAX: Final = 1_024
"""How much the splitter is given at once, and how much of it without a break.

Its time grows with the square of both. Measured on version 0.33: 300,000 times one Han character take 93 s at
once and 1 s so.
"""

_MARKDOWN: Final = frozenset({"text/markdown", "text/x-markdown"})

_BREAK: Final = r"\s.!?,;:\u3001\u3002\uff01\uff0c\uff1f"
# A run is looked at from its first character alone: to try each would take the square of its length.
_UNBROKEN: Final = regex.compile(rf"(?<![^{_BREAK}])[^{_BREAK}]{{{_UNBROKEN_CHARACTERS_MAX}}}")
_SEGMENT_ENDS: Final = tuple(
    # Searched backwards. The first kind that is found at all is taken; the last kind always is.
    regex.compile(f"(?r){kind}")
    for kind in (
        r"\n(?=#{1,6}\ )",
        r"\n[ \t\r]*\n",
        r"\n",
        r"(?<=[.!?])\s|[\u3002\uff01\uff1f]",
        f"[{_BREAK}]",
    )
)


class SemanticChunker:
    """Implements `evidence.ports.Chunker` over semantic-text-splitter. Safe to share between threads."""

    def __init__(self, tokens: TokenCounter) -> None:
        self._tokens = tokens

    def split(self, text: str, *, media_type: str, tokens_max: int) -> Sequence[Span]:
        """Answer spans of at most `tokens_max` tokens (o200k_base) each, without gap or overlap.

        Markdown is cut by its structure, all else by paragraph, sentence and word. A grapheme is parted only
        where it alone is longer than a chunk or than 1,024 characters. No span is longer than 8,192
        characters. White space has spans, empty text has none. About 0.3 s per megabyte of English prose,
        4 s per million Han characters without a break. Raises `ValueError` for fewer than four tokens.
        """
        if tokens_max < _TOKENS_MIN:
            raise ValueError(f"a chunk holds at least {_TOKENS_MIN} tokens")
        kind = MarkdownSplitter if _is_markdown(media_type) else TextSplitter
        splitter = kind.from_callback(self._tokens.count, tokens_max, trim=False)
        return [
            Span(start + offset, start + offset + len(chunk))
            for start, end in _segments(text)
            for offset, chunk in splitter.chunk_indices(text[start:end])
        ]


def _is_markdown(media_type: str) -> bool:
    essence, _, _ = media_type.partition(";")
    return essence.strip().lower() in _MARKDOWN


def _segments(text: str) -> Iterator[tuple[int, int]]:
    """Answer stretches that tile `text` and that the splitter can take."""
    start = 0
    while start < len(text):
        end = _segment_end(text, start)
        # A few characters more, so that it shows whether the grapheme goes on.
        whole = start + cut_at_grapheme(text[start : end + 64], end - start)
        end = whole if whole > start else end
        yield start, end
        start = end


def _segment_end(text: str, start: int) -> int:
    stretch = text[start : start + _SEGMENT_BYTES]
    # A character is one byte to four, so that this is a quarter of the stretch at least.
    stretch = stretch[: len(stretch) * _SEGMENT_BYTES // max(len(stretch.encode()), _SEGMENT_BYTES)]
    if unbroken := _UNBROKEN.search(stretch):
        return start + (unbroken.start() or unbroken.end())
    if start + len(stretch) == len(text):
        return len(text)
    # The further half holds a break: it is as long as what may be unbroken, and nothing here is.
    found = (kind.search(stretch, len(stretch) // 2) for kind in _SEGMENT_ENDS)
    return start + next(match.end() for match in found if match)
