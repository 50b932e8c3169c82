"""Where each value of a policy file stands in its text, so that one alone can be changed. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final

from ruamel.yaml import YAML
from ruamel.yaml.events import (
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
)

from service.policies.read_yaml import Path

BLOCK_STYLES: Final = ("|", ">")


class Kind(StrEnum):
    """What a value is."""

    SCALAR = "scalar"
    MAPPING = "mapping"
    LIST = "list"


@dataclass(slots=True)
class Node:
    """One value: the characters from `start` up to `end` (of a block: up to the end of its last value).

    `style` is how a scalar is written: `None` for a plain word, else `'`, `"`, `|` or `>`. `in_flow` says
    that a bracket stands around it, `is_flow` that it is one itself. `column` counts from 0.
    """

    kind: Kind
    start: int
    end: int
    column: int
    style: str | None = None
    is_flow: bool = False
    in_flow: bool = False
    entries: list["Entry"] = field(default_factory=list)

    @property
    def is_block(self) -> bool:
        """Whether its entries stand on lines of their own."""
        return self.kind is not Kind.SCALAR and not self.is_flow

    def find(self, step: str | int) -> "Entry | None":
        """Answer the entry under a key or at a position."""
        return next((entry for entry in self.entries if entry.step == step), None)


@dataclass(slots=True)
class Entry:
    """One entry of a mapping (`key` stands before it) or list."""

    step: str | int
    key: Node | None
    value: Node


def read_layout(text: str) -> Node:
    """Answer the layout of a text in which the strict reader found no fault."""
    stack: list[Node] = []
    keys: list[tuple[str, Node] | None] = []
    top: Node | None = None
    for event in YAML(typ="safe", pure=True).parse(text):
        match event:
            case ScalarEvent() | MappingStartEvent() | SequenceStartEvent():
                node = _node(event, text, stack)
                if isinstance(event, ScalarEvent) and stack and _awaits_key(stack[-1], keys[-1]):
                    keys[-1] = (event.value, node)
                    continue
                _attach(node, stack, keys)
                top = top or node
                if node.kind is not Kind.SCALAR:
                    stack.append(node)
                    keys.append(None)
            case MappingEndEvent() | SequenceEndEvent():
                node = stack.pop()
                keys.pop()
                node.end = event.end_mark.index if node.is_flow else node.entries[-1].value.end
    assert top is not None, "the strict reader refuses an empty file"
    return top


def find_node(top: Node, path: Path) -> Node | None:
    """Answer what stands at a path."""
    node = top
    for step in path:
        entry = node.find(step)
        if entry is None:
            return None
        node = entry.value
    return node


def line_start(text: str, position: int) -> int:
    """Answer where the line of a position begins."""
    return text.rfind("\n", 0, position) + 1


def line_end(text: str, position: int) -> int:
    """Answer where the line of a position ends: at its line break, or at the end of the text."""
    found = text.find("\n", position)
    end = len(text) if found < 0 else found
    return end - 1 if end > position and text[end - 1 : end] == "\r" else end


def _node(event: Any, text: str, stack: Sequence[Node]) -> Node:  # noqa: ANN401 - events share no useful type
    start, end = event.start_mark.index, event.end_mark.index
    in_flow = bool(stack) and (stack[-1].is_flow or stack[-1].in_flow)
    column = start - line_start(text, start)
    if isinstance(event, ScalarEvent):
        if event.style in BLOCK_STYLES:
            end = start + len(text[start:end].rstrip())
        return Node(Kind.SCALAR, start, end, column, style=event.style or None, in_flow=in_flow)
    kind = Kind.MAPPING if isinstance(event, MappingStartEvent) else Kind.LIST
    return Node(kind, start, end, column, is_flow=bool(event.flow_style), in_flow=in_flow)


def _awaits_key(parent: Node, key: tuple[str, Node] | None) -> bool:
    return parent.kind is Kind.MAPPING and key is None


def _attach(node: Node, stack: Sequence[Node], keys: list[tuple[str, Node] | None]) -> None:
    if not stack:
        return
    parent = stack[-1]
    if parent.kind is Kind.LIST:
        parent.entries.append(Entry(len(parent.entries), None, node))
        return
    waiting = keys[-1]
    assert waiting is not None
    parent.entries.append(Entry(waiting[0], waiting[1], node))
    keys[-1] = None
