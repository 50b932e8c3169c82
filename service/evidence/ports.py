"""What evidence needs from outside: a chunker and readers of file formats."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from service.core.errors import Unsupported


class FileUnreadable(Unsupported):
    """The file's format is not read here, or the file is broken."""

    code = "file_unreadable"
    title = "This file cannot be read as evidence"


@dataclass(frozen=True, slots=True)
class Span:
    """A half-open range of characters of the original."""

    start: int
    end: int


class Chunker(Protocol):
    """Splits text into pieces that tile it: joined in order they are the text again."""

    def split(self, text: str, *, media_type: str, tokens_max: int) -> Sequence[Span]:
        """Answer spans of at most `tokens_max` tokens (o200k_base) each, without gap or overlap."""
        ...


class FileReader(Protocol):
    """Turns a file's bytes into text: text, Markdown, HTML, PDF, JSON, CSV."""

    def read_text(self, content: bytes, *, media_type: str, name: str) -> str:
        """Answer the file's text. Raises `FileUnreadable`; never fetches, never runs anything."""
        ...
