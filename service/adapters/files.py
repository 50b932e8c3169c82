"""Reads the text of files: plain, Markdown, HTML, PDF, JSON, CSV. Never fetches and never runs anything."""

import json
import re
import subprocess
import sys
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final, NoReturn

from service.adapters import pdf_text
from service.adapters.html_text import html_text
from service.core.text import text_fault
from service.evidence.ports import FileUnreadable

TEXT_CHARACTERS_MAX: Final = 32 * 1024 * 1024
"""Most characters that a file may hold, however small its bytes were."""
PDF_SECONDS_MAX: Final = 60
JSON_NESTING_MAX: Final = 32
_JSON_BROKEN_LEVELS: Final = 3
"""Levels of JSON that get a line for each member: rows then begin on lines, and chunks end between them."""
_JSON_TOKEN: Final = re.compile(r'"(?:[^"\\]|\\.)*"|[\[\]{},:]|[^\s"\[\]{},:]+')

_PDF_FAULTS: Final = MappingProxyType(
    {
        pdf_text.EXIT_ENCRYPTED: "The PDF is encrypted; send one without a password.",
        pdf_text.EXIT_TOO_LARGE: "The PDF has more pages or more text than is read here.",
    }
)


class StandardFileReader:
    """The file formats that are read without any further service."""

    def read_text(self, content: bytes, *, media_type: str, name: str) -> str:
        """Answer the file's text. Raises `FileUnreadable` for another format or a broken file.

        `media_type` decides (see `evidence.files.file_media_type`); the name is the client's word and is not
        looked at.
        """
        del name
        read = _READERS.get(media_type)
        if read is None:
            raise FileUnreadable
        text = read(content)
        if fault := text_fault(text):
            raise FileUnreadable(f"The file's text {fault}.")
        if not text.strip():
            raise FileUnreadable("The file holds no text.")
        if len(text) > TEXT_CHARACTERS_MAX:
            raise FileUnreadable("The file holds more text than is read here.")
        return text


def _plain(content: bytes) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise FileUnreadable("The file is not UTF-8.") from None


def _html(content: bytes) -> str:
    return html_text(_plain(content))


def _pdf(content: bytes) -> str:
    """Read a PDF in a process of its own: a hostile one can only use up that process's time and memory."""
    try:
        finished = subprocess.run(  # noqa: S603 - our own interpreter and module, no part of it from the client
            [sys.executable, "-I", "-m", pdf_text.__name__],
            input=content,
            capture_output=True,
            timeout=PDF_SECONDS_MAX,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise FileUnreadable("The PDF takes too long to read.") from None
    if finished.returncode != 0:
        raise FileUnreadable(_PDF_FAULTS.get(finished.returncode, "The PDF is broken."))
    return finished.stdout.decode()


def _json(content: bytes) -> str:
    """Answer JSON with a line for each outer member, every number and string as it was written."""
    text = _plain(content)
    try:
        json.loads(
            text, object_pairs_hook=_unique, parse_constant=_refuse, parse_int=str, parse_float=_finite
        )
    except (ValueError, RecursionError):
        raise FileUnreadable("The file is not strict JSON.") from None
    return text if "\n" in text.strip() else _in_lines(text)


def _in_lines(text: str) -> str:
    parts: list[str] = []
    depth = 0
    for match in _JSON_TOKEN.finditer(text):
        mark = match[0]
        if mark in "]}":
            if depth <= _JSON_BROKEN_LEVELS:
                parts.append("\n" + " " * (depth - 1))
            depth -= 1
        parts.append(mark)
        if mark in "[{":
            depth += 1
            if depth > JSON_NESTING_MAX:
                raise FileUnreadable(f"The JSON is nested deeper than {JSON_NESTING_MAX}.")
        if mark in "[{," and depth <= _JSON_BROKEN_LEVELS:
            parts.append("\n" + " " * depth)
        elif mark in ",:":
            parts.append(" ")
    return "".join(parts)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key stands twice")
    return found


def _refuse(_constant: str) -> NoReturn:
    raise ValueError("not a number of JSON")


def _finite(number: str) -> float:
    value = float(number)
    if value in (float("inf"), float("-inf")):
        raise ValueError("not a finite number")
    return value


_READERS: Final[Mapping[str, Callable[[bytes], str]]] = MappingProxyType(
    {
        "text/plain": _plain,
        "text/markdown": _plain,
        "text/csv": _plain,
        "text/html": _html,
        "application/pdf": _pdf,
        "application/json": _json,
    }
)
