"""A policy file's text with other content: one small change after another, each read again. Pure."""

from copy import deepcopy
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from service.policies.findings import Finding
from service.policies.layout import find_node, read_layout
from service.policies.read_yaml import Document, Path, Value, read_yaml
from service.policies.splice import Uneditable, add, remove, replace
from service.policies.write_yaml import Unwritable

READ_MAX: Final = 60_000
"""So much is read again while changing files, in values and sixteenths of characters: some seconds' work.

A file of 500 values takes about seventy changes at once, one of 20,000 two.
"""


class Reader:
    """Reads files again and again, up to a limit; what was read already costs nothing."""

    def __init__(self, read_max: int = READ_MAX) -> None:
        self._left = read_max
        self._read: dict[tuple[str, str], tuple[Document, tuple[Finding, ...]]] = {}

    def read(self, file: str, text: str) -> tuple[Document, tuple[Finding, ...]]:
        """Answer as `read_yaml` does. Raises `Uneditable` where that would be too much."""
        if (file, text) not in self._read:
            if self._left < 0:
                raise Uneditable("this changes too much at once: make fewer changes, or write it by hand")
            document, faults = read_yaml(file, text)
            self._left -= len(document.values) + len(document.keys) + len(text) // 16
            self._read = {key: one for key, one in self._read.items() if key[0] != file}
            self._read[file, text] = document, faults
        return self._read[file, text]


class _Act(StrEnum):
    REPLACE = "replace"
    ADD = "add"
    REMOVE = "remove"


@dataclass(frozen=True, slots=True)
class _Step:
    """One change: what becomes of the value at a path."""

    act: _Act
    path: Path
    value: Value = None


def rewrite(text: str, content: Value, wanted: Value, *, file: str = "", reader: Reader | None = None) -> str:
    """Answer `text`, which says `content`, so that it says `wanted`. What does not differ stays as it is.

    Raises `Uneditable` where the layout defies that, and for a value that no policy file can hold.
    """
    reader = reader or Reader()
    while (step := _first_difference(content, wanted, ())) is not None:
        text = _apply(text, content, step)
        expected = _applied(content, step)
        document, faults = reader.read(file, text)
        if faults and faults[0].code != "syntax":
            raise Uneditable(f"no policy file can hold this: {faults[0].message}")
        if faults or not is_same(document.content, expected):
            raise Uneditable("the file is laid out in a way that only a person can change")
        content = expected
    return text


def is_same(one: Value, other: Value) -> bool:
    """Say whether two values are the same in every part, type and order included."""
    if isinstance(one, dict) and isinstance(other, dict):
        return list(one) == list(other) and all(is_same(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(is_same, one, other))
    return type(one) is type(other) and one == other


def _apply(text: str, content: Value, step: _Step) -> str:
    top = read_layout(text)
    *above, last = step.path
    parent = find_node(top, tuple(above))
    assert parent is not None, "a step leads to what was read"
    try:
        if step.act is _Act.ADD:
            return add(text, parent, last, step.value)
        entry = parent.find(last)
        assert entry is not None, "a step leads to what was read"
        if step.act is _Act.REPLACE:
            return replace(text, parent, entry, _at(content, step.path), step.value)
        holder = find_node(top, tuple(above[:-1])) if above else None
        held = holder.find(above[-1]) if holder is not None else None
        return remove(text, parent, entry, (holder, held) if holder and held else None)
    except Unwritable as fault:
        raise Uneditable(str(fault)) from None


def _first_difference(old: Value, new: Value, path: Path) -> _Step | None:
    if isinstance(old, dict) and isinstance(new, dict):
        return _of_mappings(old, new, path)
    if isinstance(old, list) and isinstance(new, list):
        return _of_lists(old, new, path)
    return None if is_same(old, new) else _Step(_Act.REPLACE, path, new)


def _of_mappings(old: dict[str, Value], new: dict[str, Value], path: Path) -> _Step | None:
    for key, value in old.items():
        if key in new and (step := _first_difference(value, new[key], (*path, key))) is not None:
            return step
    for key, value in new.items():
        if key not in old:
            return _Step(_Act.ADD, (*path, key), value)
    gone = next((key for key in old if key not in new), None)
    return None if gone is None else _Step(_Act.REMOVE, (*path, gone))


def _of_lists(old: list[Value], new: list[Value], path: Path) -> _Step | None:
    shorter = min(len(old), len(new))
    first = next((number for number in range(shorter) if not is_same(old[number], new[number])), shorter)
    if len(old) == len(new):
        return None if first == shorter else _first_difference(old[first], new[first], (*path, first))
    last = 0
    while last < shorter - first and is_same(old[-1 - last], new[-1 - last]):
        last += 1
    if first < shorter - last:
        return _first_difference(old[first], new[first], (*path, first))
    if len(old) < len(new):
        return _Step(_Act.ADD, (*path, first), new[first])
    return _Step(_Act.REMOVE, (*path, first))


def _applied(content: Value, step: _Step) -> Value:
    changed = deepcopy(content)
    *above, last = step.path
    parent = _at(changed, tuple(above))
    if isinstance(parent, dict):
        assert isinstance(last, str)
        if step.act is _Act.REMOVE:
            del parent[last]
        else:
            parent[last] = deepcopy(step.value)
        return changed
    assert isinstance(parent, list)
    assert isinstance(last, int)
    if step.act is _Act.REMOVE:
        del parent[last]
    elif step.act is _Act.ADD:
        parent.insert(last, deepcopy(step.value))
    else:
        parent[last] = deepcopy(step.value)
    return changed


def _at(content: Value, path: Path) -> Value:
    for step in path:
        if isinstance(content, dict):
            assert isinstance(step, str)
            content = content[step]
        else:
            assert isinstance(content, list)
            assert isinstance(step, int)
            content = content[step]
    return content
