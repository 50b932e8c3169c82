"""Writes a value as policy files have it: on one line where it fits, and unambiguous. Pure."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Final

from service.policies.read_yaml import Value
from service.policies.scalars import Ambiguous, Scalar, read_plain

WIDTH_MAX: Final = 110
"""A list or mapping that would make a line longer is written on several."""
_STEP: Final = 2
_BLOCK_ENDS: Final = {0: "-", 1: ""}
"""What follows the mark of a block, by how many line breaks end its text."""

_PLAIN: Final = re.compile(r"[^\W\d]\S*( \S+)*|\d+( \S+)+|[/$.(]\S+( \S+)*")
_ONLY_IN_BLOCK: Final = re.compile(r"[,\[\]{}:]")
_PATTERN: Final = re.compile(r"[:*]")
_CONTROL: Final = re.compile("[\x00-\x1f\x7f-\x9f]")
_NUMBER: Final = re.compile(r"-?[0-9]{1,15}(\.[0-9]{1,15})?")


class Unwritable(ValueError):
    """A value that no policy file can hold; the text says why."""


def write_scalar(value: Scalar, *, in_flow: bool, style: str | None = None) -> str:
    """Write a scalar: plain where it can be, quoted as `style` says where it was quoted before."""
    if not isinstance(value, str):
        return _write_number(value)
    if style == "'" and not _CONTROL.search(value):
        return "'" + value.replace("'", "''") + "'"
    if style == '"' or not is_plain(value, in_flow=in_flow):
        return json.dumps(value, ensure_ascii=False)
    return value


def is_plain(word: str, *, in_flow: bool) -> bool:
    """Say whether a text can stand without quotes, and is read as that text by everybody."""
    if not _PLAIN.fullmatch(word) or _CONTROL.search(word):
        return False
    if ": " in word or " #" in word or word.endswith(":") or (in_flow and _ONLY_IN_BLOCK.search(word)):
        return False
    try:
        return read_plain(word) == word
    except Ambiguous:
        return False


def write_key(key: str, *, in_flow: bool) -> str:
    """Write a key: a name as it is, anything else in double quotes."""
    is_name = is_plain(key, in_flow=in_flow) and not _PATTERN.search(key)
    return key if is_name else json.dumps(key, ensure_ascii=False)


def write_inline(value: Value, *, in_flow: bool) -> str:
    """Write a value on one line, lists and mappings in brackets."""
    if isinstance(value, Mapping):
        pairs = (
            f"{write_key(key, in_flow=True)}: {write_inline(part, in_flow=True)}"
            for key, part in value.items()
        )
        return "{" + ", ".join(pairs) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(write_inline(part, in_flow=True) for part in value) + "]"
    return write_scalar(value, in_flow=in_flow)


def write_block(value: str, style: str, indent: int) -> list[str] | None:
    """Write a text below its key, as `|` has it or, for `>`, in lines read as one; `None` where it cannot be.

    Where a line of `>` was broken before cannot be known: it is broken anew.
    """
    stripped = value.rstrip("\n")
    ends = _BLOCK_ENDS.get(len(value) - len(stripped))
    paragraphs = stripped.split("\n")
    if ends is None or not stripped or stripped[0] in " \n" or any(map(_CONTROL.search, paragraphs)):
        return None
    lines = paragraphs
    if style == ">":
        if any(paragraph.startswith(" ") for paragraph in paragraphs):
            return None
        folded = [_fold(paragraph, WIDTH_MAX - indent) for paragraph in paragraphs]
        lines = [line for number, part in enumerate(folded) for line in ([""] if number else []) + part]
    return [style + ends, *(" " * indent + line if line else "" for line in lines)]


def _fold(paragraph: str, width: int) -> list[str]:
    lines: list[str] = []
    # Where two spaces stand beside each other, a break would lose one.
    for word in filter(None, re.split(r"(?<! ) (?! )", paragraph)):
        if lines and len(lines[-1]) + 1 + len(word) <= width:
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    return lines


def write_after(head: str, value: Value, indent: int) -> list[str]:
    """Answer the lines of an entry: `head` (a key with its colon, or a dash), the value behind or below it.

    `indent` is that of `head`. The first line comes without its indentation, the others with it.
    """
    inline = f"{head} {write_inline(value, in_flow=False)}"
    if indent + len(inline) <= WIDTH_MAX or not isinstance(value, Mapping | list) or not value:
        return [inline]
    if head == "-" and isinstance(value, Mapping):
        first, *rest = _lines_below(value, indent + _STEP)
        return [f"- {first.lstrip()}", *rest]
    return [head, *_lines_below(value, indent + _STEP)]


def _lines_below(value: Mapping[str, Value] | list[Value], indent: int) -> Iterator[str]:
    heads: Iterator[tuple[str, Value]]
    if isinstance(value, Mapping):
        heads = ((f"{write_key(key, in_flow=False)}:", part) for key, part in value.items())
    else:
        heads = (("-", part) for part in value)
    for head, part in heads:
        first, *rest = write_after(head, part, indent)
        yield " " * indent + first
        yield from rest


def _write_number(value: bool | float | None) -> str:
    if value is None or isinstance(value, bool):
        return json.dumps(value)
    written = repr(value)
    if not _NUMBER.fullmatch(written):
        raise Unwritable(f"{written} is no plain number: write it as 12 or 1.1")
    return written
