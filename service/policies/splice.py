"""One change of one value in a policy file's text: all else stays, character by character. Pure."""

import re
from collections.abc import Sequence
from typing import Final

from service.policies.layout import BLOCK_STYLES, Entry, Kind, Node, line_end, line_start
from service.policies.read_yaml import Value
from service.policies.write_yaml import (
    is_plain,
    write_after,
    write_block,
    write_inline,
    write_key,
    write_scalar,
)

_HEADER: Final = re.compile(r"[|>][-+0-9]*([ ]+#[^\n\r]*)?")
_BLANK_BETWEEN: Final = re.compile(r"\n[ \r]*\n")
_COMMA: Final = re.compile(r"\s*,")


class Uneditable(ValueError):
    """A place that is laid out in a way that only a person can change; the text says how."""


def replace(text: str, parent: Node, entry: Entry, old: Value, new: Value) -> str:
    """Answer `text` with another value in an entry."""
    node = entry.value
    if node.is_block:
        return _replace_block(text, parent, entry, new)
    if node.style in BLOCK_STYLES:
        return _replace_block_text(text, parent, node, new)
    if isinstance(new, str) and isinstance(old, str):
        written = _write_like(old, new, node)
        return text[: node.start] + written + text[node.end :]
    lines = _lines(parent, entry.step, new)
    if node.in_flow or len(lines) == 1:
        return text[: node.start] + write_inline(new, in_flow=node.in_flow) + text[node.end :]
    end = line_end(text, node.end)
    head = text[: node.start].rstrip(" ") + text[node.end : end]
    return _newline(text).join([head, *lines[1:]]) + text[end:]


def add(text: str, container: Node, step: str | int, new: Value) -> str:
    """Answer `text` with one more entry: in a mapping the last, in a list the one at `step`."""
    position = step if isinstance(step, int) else len(container.entries)
    if container.is_flow:
        return _add_in_flow(text, container, position, step, new)
    newline = _newline(text)
    lines = _lines(container, step, new)
    written = (newline).join([" " * container.column + lines[0], *lines[1:]])
    if position == 0:
        start = line_start(text, container.start)
        if text[start : container.start].strip():
            raise Uneditable("the list begins behind something else: add to its end, or write this by hand")
        return text[:start] + written + newline + text[start:]
    at = line_end(text, container.entries[position - 1].value.end)
    gap = newline if _is_airy(text, container) else ""
    return text[:at] + newline + gap + written + text[at:]


def remove(text: str, parent: Node, entry: Entry, above: tuple[Node, Entry] | None) -> str:
    """Answer `text` without an entry. `above` is where `parent` stands, unless it is the whole file."""
    if len(parent.entries) == 1:
        if above is None:
            raise Uneditable("nothing would be left: remove the file")
        return replace(text, *above, None, {} if parent.kind is Kind.MAPPING else [])
    if parent.is_flow:
        return _remove_in_flow(text, parent, entry)
    start = _start_of(text, parent, entry)
    end = line_end(text, entry.value.end)
    first = line_start(text, start)
    if text[first:start].strip():
        # The first of a list's item stands behind the dash.
        following = _start_of(text, parent, parent.entries[1])
        if text[end:following].strip():
            return text[:start].rstrip(" ") + text[end:]
        return text[:start] + text[following:]
    return _without_lines(text, first, end, is_last=entry is parent.entries[-1])


def _without_lines(text: str, first: int, end: int, *, is_last: bool) -> str:
    newline = _newline(text)
    rest = text[end:].removeprefix(newline)
    head = text[:first]
    is_apart = head.endswith(newline * 2)
    if is_apart and (is_last or not rest or rest.startswith(newline)):
        head = head.removesuffix(newline)
    if not rest and not text.endswith("\n"):
        head = head.removesuffix(newline)
    return head + rest


def _lines(parent: Node, step: str | int, value: Value) -> list[str]:
    if isinstance(step, str):
        return write_after(f"{write_key(step, in_flow=False)}:", value, parent.column)
    return write_after("-", value, parent.column)


def _replace_block(text: str, parent: Node, entry: Entry, new: Value) -> str:
    node = entry.value
    end = line_end(text, node.end)
    if entry.key is None:
        return text[: node.start] + write_inline(new, in_flow=False) + text[end:]
    colon = text.index(":", entry.key.end) + 1
    lines = _lines(parent, entry.step, new)
    behind = text[colon : line_end(text, colon)]
    if len(lines) == 1:
        return text[:colon] + " " + write_inline(new, in_flow=False) + behind + text[end:]
    return _newline(text).join([text[:colon] + behind, *lines[1:]]) + text[end:]


def _replace_block_text(text: str, parent: Node, node: Node, new: Value) -> str:
    header = _HEADER.match(text, node.start)
    comment = (header[1] or "") if header else ""
    below = text[line_end(text, node.start) : node.end].lstrip("\r\n")
    indent = max(len(below) - len(below.lstrip(" ")), parent.column + 1)
    lines = write_block(new, node.style or "", indent) if isinstance(new, str) else None
    first, *rest = lines or [write_inline(new, in_flow=False)]
    return _newline(text).join([text[: node.start] + first + comment, *rest]) + text[node.end :]


def _write_like(old: str, new: str, node: Node) -> str:
    """Write a text as the one before was: double quotes are kept, single ones where they were not needed."""
    style = node.style
    is_needed = not is_plain(new, in_flow=node.in_flow)
    if style == "'" and not is_needed and not is_plain(old, in_flow=node.in_flow):
        style = None
    elif style is None and is_needed:
        style = "'"
    return write_scalar(new, in_flow=node.in_flow, style=style)


def _add_in_flow(text: str, container: Node, position: int, step: str | int, new: Value) -> str:
    written = write_inline(new, in_flow=True)
    if isinstance(step, str):
        written = f"{write_key(step, in_flow=True)}: {written}"
    if not container.entries:
        inside = text[container.start + 1 : container.end - 1]
        written += f" {inside}" if inside.strip() else ""
        return text[: container.start + 1] + written + text[container.end - 1 :]
    if position == 0:
        at = _flow_start(container.entries[0])
        return f"{text[:at]}{written}, {text[at:]}"
    at = container.entries[position - 1].value.end
    return f"{text[:at]}, {written}{text[at:]}"


def _remove_in_flow(text: str, parent: Node, entry: Entry) -> str:
    number = parent.entries.index(entry)
    start, end = _flow_start(entry), entry.value.end
    if number > 0:
        before = parent.entries[number - 1].value.end
        if "#" not in text[before:start]:
            return text[:before] + text[end:]
    elif "#" not in text[end : (following := _flow_start(parent.entries[1]))]:
        return text[:start] + text[following:]
    comma = _COMMA.match(text, end)
    return text[:start] + text[comma.end() if comma else end :]


def _flow_start(entry: Entry) -> int:
    return entry.key.start if entry.key is not None else entry.value.start


def _start_of(text: str, parent: Node, entry: Entry) -> int:
    """Answer where an entry of a block begins: at its key or dash."""
    if entry.key is not None:
        return entry.key.start
    if entry is parent.entries[0]:
        return parent.start
    start = line_start(text, entry.value.start)
    while text[start : start + parent.column].strip() or text[start + parent.column] != "-":
        start = line_start(text, start - 1)
    return start + parent.column


def _is_airy(text: str, container: Node) -> bool:
    """Say whether blank lines part the entries."""
    ends: Sequence[Entry] = container.entries[-2:]
    return len(ends) == 2 and bool(  # noqa: PLR2004 - the last two
        _BLANK_BETWEEN.search(text, ends[0].value.end, _start_of(text, container, ends[1]))
    )


def _newline(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"
