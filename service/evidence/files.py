"""Which files are read as evidence, by their declared media type and their name."""

from pathlib import PurePosixPath
from types import MappingProxyType
from typing import Final

from service.evidence.ports import FileUnreadable

TITLE_CHARACTERS_MAX: Final = 200

_MEDIA_TYPE_BY_SUFFIX: Final = MappingProxyType(
    {
        ".txt": "text/plain",
        ".text": "text/plain",
        ".log": "text/plain",
        ".rst": "text/plain",
        ".md": "text/markdown",
        ".markdown": "text/markdown",
        ".html": "text/html",
        ".htm": "text/html",
        ".xhtml": "text/html",
        ".pdf": "application/pdf",
        ".json": "application/json",
        ".csv": "text/csv",
    }
)
_ALIASES: Final = MappingProxyType(
    {
        "application/xhtml+xml": "text/html",
        "text/x-markdown": "text/markdown",
        "text/json": "application/json",
    }
)
# What browsers and tools send when they do not know better: then the name decides.
_SAYS_NOTHING: Final = frozenset({"", "application/octet-stream", "binary/octet-stream", "text/plain"})

MEDIA_TYPES: Final = frozenset(_MEDIA_TYPE_BY_SUFFIX.values())
"""Every media type that a file is read as."""


def file_media_type(name: str, declared: str) -> str:
    """Answer the media type to read a file as. Raises `FileUnreadable` for a format that is not read."""
    suffix = PurePosixPath(name.replace("\\", "/")).suffix.lower()
    by_name = _MEDIA_TYPE_BY_SUFFIX.get(suffix)
    known = _ALIASES.get(declared, declared)
    if known in _SAYS_NOTHING:
        if by_name is not None:
            return by_name
        if known == "text/plain":
            return known
        raise FileUnreadable(_formats())
    if known not in MEDIA_TYPES:
        raise FileUnreadable(_formats())
    return known


def file_title(name: str) -> str:
    """Answer a title from a file's name: without its folders and without what cannot be shown."""
    last = name.replace("\\", "/").rstrip("/").rpartition("/")[2]
    shown = "".join(character if character.isprintable() else " " for character in last)
    return " ".join(shown.split())[:TITLE_CHARACTERS_MAX]


def _formats() -> str:
    return "Files are read as plain text, Markdown, HTML, PDF, JSON or CSV."
