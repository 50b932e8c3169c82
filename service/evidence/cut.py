"""Cutting a text into the chunks that are searched and cited."""

from collections.abc import Sequence

from service.core.tokens import TokenCounter
from service.evidence.model import CHUNK_TOKENS_MAX, Piece
from service.evidence.ports import Chunker, Span
from service.evidence.rules import tiles


def cut(text: str, media_type: str, *, chunker: Chunker, tokens: TokenCounter) -> tuple[Piece, ...]:
    """Answer pieces of at most `CHUNK_TOKENS_MAX` tokens that joined in order are the text."""
    # A token is at least one byte of UTF-8 and a character at most four: what is this short fits surely.
    if len(text) <= CHUNK_TOKENS_MAX // 4:
        spans: Sequence[Span] = (Span(0, len(text)),)
    else:
        spans = chunker.split(text, media_type=media_type, tokens_max=CHUNK_TOKENS_MAX)
    if not tiles(spans, len(text)):
        raise RuntimeError("the chunker lost or repeated characters")
    return tuple(
        Piece(span.start, span.end, piece, tokens.count(piece))
        for span in spans
        if (piece := text[span.start : span.end])
    )
