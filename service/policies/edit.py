"""`edit`: set, add or take out single values of a bundle; comments, order and quotes stay. Pure."""

import difflib
from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Final

from service.policies.edit_path import PathInvalid, bare, read_path, resolve
from service.policies.findings import Finding, Place, Severity, in_order, nearest, shorten
from service.policies.load import Inspection, inspect_files
from service.policies.read_yaml import Document, Path, Value
from service.policies.rewrite import Reader, rewrite
from service.policies.splice import Uneditable

EDITS_MAX: Final = 50
_BAD: Final = "bad_edit"
_TESTS: Final = "tests/"


@dataclass(frozen=True, slots=True)
class Edit:
    """One change: the value at `path` becomes `value`, or is taken out. `file` is where, if not all agree."""

    path: str
    value: Value = None
    remove: bool = False
    file: str | None = None


@dataclass(frozen=True, slots=True)
class Edited:
    """What edits came to. `files` is all of the bundle, `None` where it would not load: nothing is changed.

    `differences` tell of each changed file which lines go and come, as `diff -u` does.
    """

    files: Mapping[str, str] | None
    findings: tuple[Finding, ...]
    differences: Mapping[str, str]
    found: Inspection | None = None


def edit_files(files: Mapping[str, str], edits: Sequence[Edit]) -> Edited:
    """Make edits one after another, and hold the result against the strict loader. Never raises."""
    changed, notes, reader = dict(files), list[Finding](), Reader()
    for edit in edits:
        try:
            file, text = _edit(changed, edit, reader)
        except _Refused as refused:
            return Edited(None, refused.findings, _differences(files, changed))
        notes.extend(_comments_left(file, changed[file], text))
        changed[file] = text
    found = inspect_files(changed)
    differences = _differences(files, changed)
    if found.bundle is None:
        return Edited(None, found.findings, differences)
    return Edited(changed, in_order((*found.findings, *notes)), differences, found)


class _Refused(Exception):
    """An edit that cannot be made; findings say why."""

    def __init__(self, *findings: Finding) -> None:
        super().__init__()
        self.findings = findings


def _edit(files: Mapping[str, str], edit: Edit, reader: Reader) -> tuple[str, str]:
    """Answer the file that an edit changes, and its new text."""
    try:
        words = read_path(edit.path)
    except PathInvalid as fault:
        raise _refused("", Place(), f"`{shorten(edit.path)}`: {fault}") from None
    file, document = _locate(files, words, edit, reader)
    path, rest = resolve(words, document.content)
    wanted = deepcopy(document.content)
    if edit.remove:
        if rest:
            raise _nothing_there(document, path, rest)
        _take_out(wanted, path)
    else:
        _put_in(document, wanted, path, rest, edit.value)
    try:
        return file, rewrite(document.text, document.content, wanted, file=file, reader=reader)
    except Uneditable as fault:
        raise _refused(file, document.place_of(path), str(fault)) from None


def _locate(
    files: Mapping[str, str], words: Sequence[str], edit: Edit, reader: Reader
) -> tuple[str, Document]:
    if edit.file is not None:
        if edit.file not in files or not edit.file.endswith(".yaml"):
            known = [name for name in files if name.endswith(".yaml")]
            hint = nearest(edit.file, known)
            raise _refused(shorten(edit.file), Place(), f"there is no such policy file: {hint}")
        return edit.file, _read(edit.file, files[edit.file], reader)
    section = bare(words[:1])
    # A test is found by its file alone: all test files have the same keys.
    names = [name for name in files if name.endswith(".yaml") and not name.startswith(_TESTS)]
    documents = [_read(name, files[name], reader) for name in names if section in files[name]]
    far = [(len(resolve(words, document.content)[0]), document) for document in documents]
    farthest = max((length for length, _ in far), default=0)
    holders = [document for length, document in far if length == farthest]
    if farthest == 0:
        raise _refused("", Place(), f"no file has `{shorten(section)}`: say which file it belongs to")
    if len(holders) > 1:
        held = ", ".join(document.file for document in holders[:5])
        raise _refused("", Place(), f"`{shorten(section)}` stands in {held}: say which file is meant")
    return holders[0].file, holders[0]


def _read(file: str, text: str, reader: Reader) -> Document:
    try:
        document, faults = reader.read(file, text)
    except Uneditable as fault:
        raise _refused(file, Place(), str(fault)) from None
    if faults:
        raise _Refused(*faults)
    return document


def _put_in(document: Document, wanted: Value, path: Path, rest: Sequence[str], value: Value) -> None:
    """Put a value where `path` leads and `rest` leads on, with the mappings that lie between."""
    steps: Path = (*path, *(word.strip('"') for word in rest))
    made: Value = deepcopy(value)
    for step in reversed(steps[len(path) + 1 :]):
        made = {str(step): made}
    if not steps:
        raise _refused(document.file, Place(), "a path names at least one key")
    *above, last = steps[: len(path) + 1] if rest else path
    parent = _follow(wanted, tuple(above))
    if isinstance(parent, dict):
        parent[str(last)] = made
    elif isinstance(parent, list) and isinstance(last, int):
        parent[last] = made
    elif isinstance(parent, list) and last == str(len(parent)):
        parent.append(made)
    elif isinstance(parent, list):
        message = f"a list's entries are counted: {len(parent)} adds one at its end"
        raise _refused(document.file, document.place_of(path), message)
    else:
        message = f"`{shorten(str(last))}` cannot stand inside a single value"
        raise _refused(document.file, document.place_of(path), message)


def _take_out(wanted: Value, path: Path) -> None:
    parent = _follow(wanted, path[:-1])
    if isinstance(parent, dict):
        del parent[str(path[-1])]
    elif isinstance(parent, list):
        del parent[int(path[-1])]


def _follow(content: Value, path: Path) -> Value:
    for step in path:
        if isinstance(content, dict):
            content = content[str(step)]
        elif isinstance(content, list):
            content = content[int(step)]
    return content


def _nothing_there(document: Document, path: Path, rest: Sequence[str]) -> _Refused:
    here = _follow(document.content, path)
    known = list(here) if isinstance(here, dict) else []
    message = f"there is no `{shorten(bare(rest[:1]))}` to take out: {nearest(bare(rest[:1]), known)}"
    return _refused(document.file, document.place_of(path), message)


def _refused(file: str, place: Place, message: str) -> _Refused:
    return _Refused(Finding(file, place, _BAD, message))


def _comments_left(file: str, before: str, after: str) -> list[Finding]:
    """Answer a note where lines went away from under a comment: it may have been about them."""
    old, new = before.splitlines(), after.splitlines()
    if len(new) >= len(old):
        return []
    same = next(
        (number for number, pair in enumerate(zip(old, new, strict=False)) if pair[0] != pair[1]), len(new)
    )
    if same == 0 or not new[same - 1].lstrip().startswith("#"):
        return []
    message = "this comment stood above what was taken out: see whether it still belongs"
    column = len(new[same - 1]) - len(new[same - 1].lstrip()) + 1
    return [Finding(file, Place(same, column), "comment_left", message, Severity.WARNING)]


def _differences(before: Mapping[str, str], after: Mapping[str, str]) -> Mapping[str, str]:
    return {
        file: "".join(_difference(file, before[file], after[file]))
        for file in sorted(after)
        if after[file] != before[file]
    }


def _difference(file: str, before: str, after: str) -> list[str]:
    lines = difflib.unified_diff(
        before.splitlines(keepends=True), after.splitlines(keepends=True), file, file, n=2
    )
    # The last line of a file may lack its end.
    return [line if line.endswith("\n") else f"{line}\n" for line in lines]
