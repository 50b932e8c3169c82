"""Reads one policy file: a small, unambiguous part of YAML, each value with its line and column.

Built on the parser's events and without recursion, so that nothing in a file decides how deep or how large
the reading gets: anchors, aliases and tags are refused where they stand, before anything is expanded.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NoReturn

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError
from ruamel.yaml.events import (
    AliasEvent,
    DocumentStartEvent,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
)

from service.core.text import text_fault
from service.policies.characters import check_text
from service.policies.findings import Finding, Place, in_order, shorten
from service.policies.scalars import Ambiguous, Scalar, read_plain

DEPTH_MAX: Final = 32
FINDINGS_MAX: Final = 100
"""So many findings are reported of one file; reading ends there."""
VALUES_MAX: Final = 20_000
"""So many keys and values stand in one file; more would keep everybody waiting for a second or longer."""

Path = tuple[str | int, ...]
"""Where a value stands in a file: keys and list positions from the top."""

Value = Scalar | list["Value"] | dict[str, "Value"]


@dataclass(frozen=True, slots=True)
class Document:
    """What a file says, and where it says it. `keys` are the places of keys, `values` those of values."""

    file: str
    content: Value
    text: str = ""
    keys: Mapping[Path, Place] = field(default_factory=dict)
    values: Mapping[Path, Place] = field(default_factory=dict)

    def path_of(self, path: Sequence[str | int]) -> Path:
        """Answer the longest part of `path` that stands in the file, steps that are not keys left out."""
        known: Path = ()
        for step in path:
            if (*known, step) in self.values:
                known = (*known, step)
        return known

    def place_of(self, path: Sequence[str | int], *, of_key: bool = False) -> Place:
        """Answer where the value at `path` stands (or its key); else where the nearest part above it does."""
        known = self.path_of(path)
        if of_key and known in self.keys:
            return self.keys[known]
        return self.values.get(known, Place())


def path_text(path: Path) -> str:
    """Answer a path as people write it: `sources.bank.kinds[0]`."""
    steps = (f"[{step}]" if isinstance(step, int) else f".{shorten(step)}" for step in path)
    return "".join(steps).removeprefix(".")


def read_yaml(file: str, text: str) -> tuple[Document, tuple[Finding, ...]]:
    """Read a file's text. Never raises; with findings the document holds only what could be read."""
    faults = list(check_text(file, text, tabs_allowed=False))
    if faults:
        return Document(file, None), in_order(faults)
    reader = _Reader(file)
    place = Place()
    try:
        # Pure: the events of the C parser carry no tags to refuse.
        for event in YAML(typ="safe", pure=True).parse(text):
            place = _place(event.start_mark)
            reader.take(event, place)
        if reader.documents == 0:
            reader.stop(place, "empty", "an empty file: remove it")
    except _Stop:
        pass
    except MarkedYAMLError as fault:
        mark = fault.problem_mark or fault.context_mark
        reader.note(_place(mark) if mark else place, "syntax", _problem_of(fault))
    except Exception as fault:  # noqa: BLE001 - whatever the parser chokes on is a fault of the file
        message = f"cannot be read after this place ({type(fault).__name__})"
        reader.note(place, "syntax", message)
    return Document(file, reader.content, text, reader.keys, reader.values), in_order(reader.findings)


class _Stop(Exception):
    """Reading cannot go on; a finding says why."""


@dataclass(slots=True)
class _Open:
    """A mapping or list whose end has not been read. `key` waits for its value."""

    container: dict[str, Value] | list[Value]
    path: Path
    key: str | None = None


@dataclass(slots=True)
class _Reader:
    """Builds a document from events, collecting findings on the way."""

    file: str
    findings: list[Finding] = field(default_factory=list)
    content: Value = None
    stack: list[_Open] = field(default_factory=list)
    keys: dict[Path, Place] = field(default_factory=dict)
    values: dict[Path, Place] = field(default_factory=dict)
    documents: int = 0
    count: int = 0

    @property
    def path(self) -> Path:
        """Where in the file what comes next will stand."""
        if not self.stack:
            return ()
        top = self.stack[-1]
        step = len(top.container) if isinstance(top.container, list) else top.key
        return top.path if step is None else (*top.path, step)

    def note(self, place: Place, code: str, message: str) -> None:
        """Note a fault."""
        self.findings.append(Finding(self.file, place, code, message, path=path_text(self.path)))

    def add(self, place: Place, code: str, message: str) -> None:
        """Note a fault and go on, unless there are so many that more would help nobody."""
        self.note(place, code, message)
        if len(self.findings) >= FINDINGS_MAX:
            raise _Stop

    def stop(self, place: Place, code: str, message: str) -> NoReturn:
        """Note a fault after which the rest of the file means nothing."""
        self.add(place, code, message)
        raise _Stop

    def take(self, event: Any, place: Place) -> None:  # noqa: ANN401 - the parser's events share no useful type
        """Take the next event."""
        if isinstance(event, AliasEvent):
            self.stop(place, "alias", "an alias: write the value out where it is needed")
        if getattr(event, "anchor", None) is not None:
            self.stop(place, "anchor", "an anchor: write the value out where it is needed")
        if getattr(event, "ctag", None) is not None:
            self.stop(place, "tag", "a tag: write the value without it")
        match event:
            case DocumentStartEvent():
                self._start_document(event, place)
            case MappingStartEvent():
                self._open({}, place)
            case SequenceStartEvent():
                self._open([], place)
            case MappingEndEvent() | SequenceEndEvent():
                self.stack.pop()
            case ScalarEvent():
                self._scalar(event, place)

    def _start_document(self, event: DocumentStartEvent, place: Place) -> None:
        self.documents += 1
        if self.documents > 1:
            self.stop(place, "document", "a second document: a file holds one, put this into another file")
        if event.version is not None or event.tags:
            self.stop(place, "directive", "a directive before this line: leave out lines that begin with %")

    def _open(self, container: dict[str, Value] | list[Value], place: Place) -> None:
        if len(self.stack) >= DEPTH_MAX:
            self.stop(place, "depth", f"nested more than {DEPTH_MAX} deep: write it flatter")
        if self._awaits_key():
            self.stop(place, "key", "a key that is a list or mapping: a key is one word")
        path = self._attach(container, place)
        self.stack.append(_Open(container, path))

    def _scalar(self, event: ScalarEvent, place: Place) -> None:
        value: Scalar = event.value
        if event.style is None:
            try:
                value = read_plain(event.value)
            except Ambiguous as fault:
                self.add(place, "ambiguous", str(fault))
        if isinstance(value, str) and (fault_of_text := text_fault(value)) is not None:
            self.add(place, "character", f"{fault_of_text}: remove it")
        if not self._awaits_key():
            self._attach(value, place)
        elif isinstance(value, str):
            self._key(value, place)
        else:
            self.add(place, "key", "a key that is no text: quote it")
            self._key(event.value, place)

    def _awaits_key(self) -> bool:
        return bool(self.stack) and isinstance(self.stack[-1].container, dict) and self.stack[-1].key is None

    def _key(self, key: str, place: Place) -> None:
        top = self.stack[-1]
        path = (*top.path, key)
        if path in self.keys:
            first = self.keys[path].line
            self.add(place, "duplicate_key", f"`{shorten(key)}` stands on line {first} already: keep one")
        self.keys.setdefault(path, place)
        self.count += 1
        top.key = key

    def _attach(self, value: Value, place: Place) -> Path:
        path: Path = ()
        if not self.stack:
            self.content = value
        else:
            top = self.stack[-1]
            if isinstance(top.container, list):
                path = (*top.path, len(top.container))
                top.container.append(value)
            else:
                assert top.key is not None
                path = (*top.path, top.key)
                top.container[top.key] = value
                top.key = None
        self.values[path] = place
        self.count += 1
        if self.count > VALUES_MAX:
            self.stop(place, "too_many_values", f"more than {VALUES_MAX} keys and values: split the file")
        return path


def _place(mark: Any) -> Place:  # noqa: ANN401 - marks come in several classes
    return Place(mark.line + 1, mark.column + 1)


def _problem_of(fault: MarkedYAMLError) -> str:
    parts = [str(part) for part in (fault.context, fault.problem) if part]
    return f"not YAML: {shorten(' '.join(', '.join(parts).split())) or 'it cannot be read'}"
