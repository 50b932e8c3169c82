"""What a text is marked with when it is kept, for people who look at its source. Pure."""

from collections.abc import Iterable
from enum import StrEnum

from service.core.text import strip_hidden
from service.detection.disguise import find_hidden_text
from service.evidence.model import NewEvidence


class Flag(StrEnum):
    """Something that readers of a source should know. Append-only."""

    HIDDEN_TEXT = "hidden_text"
    """It holds characters that no person sees and a model reads."""


def flags_of(new: NewEvidence) -> tuple[Flag, ...]:
    """Answer the flags of what was handed in: of its text, and of everything that is shown beside it."""
    source, group = new.source, new.group
    beside = (new.title, source.uri, source.source_version or "", group.title if group else "")
    return (Flag.HIDDEN_TEXT,) if _hides_text((new.text, *beside)) else ()


def _hides_text(texts: Iterable[str]) -> bool:
    return any(
        not text.isascii() and (strip_hidden(text) != text or next(find_hidden_text(text), None) is not None)
        for text in texts
    )
