"""Reads a bundle's folder into text by path, refusing what is no plain UTF-8 file inside it."""

import os
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from service.policies.characters import BUNDLE_BYTES_MAX, FILE_BYTES_MAX
from service.policies.findings import BundleInvalid, Finding, Place, in_order

_FILES_MAX: Final = 1_000
"""Looking stops there: a folder with so many files is not a bundle's."""


def read_folder(folder: Path) -> Mapping[str, str]:
    """Answer the text of each file under `folder` by its path from there, dot files left out.

    Raises `BundleInvalid` for what cannot be read as text. What the files mean is not looked at.
    """
    files: dict[str, str] = {}
    findings: list[Finding] = []
    size_bytes = 0
    if not folder.is_dir():
        raise BundleInvalid([Finding(folder.name, Place(), "no_folder", "there is no such folder")])
    for path in _list_files(folder):
        # A name that is no UTF-8 is told in a finding, so it must be printable.
        name = path.relative_to(folder).as_posix().encode("utf-8", "backslashreplace").decode()
        text = _read(path, name)
        if isinstance(text, Finding):
            findings.append(text)
            continue
        files[name] = text
        size_bytes += len(text)
        if size_bytes > BUNDLE_BYTES_MAX:
            message = f"the files up to this one are larger than {BUNDLE_BYTES_MAX} bytes together"
            findings.append(Finding(name, Place(), "bundle_too_large", message))
            break
    if findings:
        raise BundleInvalid(in_order(findings))
    return files


def _list_files(folder: Path) -> Iterator[Path]:
    waiting = [folder]
    seen = 0
    while waiting:
        for path in _entries(waiting.pop(), folder):
            seen += 1
            if seen > _FILES_MAX:
                raise BundleInvalid([Finding("", Place(), "too_many_files", f"more than {_FILES_MAX} files")])
            if path.name.startswith("."):
                continue
            if path.is_dir() and not path.is_symlink():
                waiting.append(path)
            else:
                yield path


def _entries(inner: Path, folder: Path) -> list[Path]:
    try:
        return sorted(inner.iterdir())
    except OSError as fault:
        name = inner.relative_to(folder).as_posix()
        raise BundleInvalid([_unreadable(name, fault)]) from None


def _unreadable(name: str, fault: OSError) -> Finding:
    return Finding(name, Place(), "unreadable", f"cannot be read ({type(fault).__name__})")


def _read(path: Path, name: str) -> str | Finding:
    try:
        # Neither a link is followed nor a pipe waited for, whatever takes the file's place meanwhile.
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as fault:
        if path.is_symlink() or not path.is_file():
            return _not_a_file(name)
        return _unreadable(name, fault)
    with os.fdopen(descriptor, "rb") as file:
        about = os.fstat(descriptor)
        if not stat.S_ISREG(about.st_mode):
            return _not_a_file(name)
        content = file.read(FILE_BYTES_MAX + 1)
    if len(content) > FILE_BYTES_MAX:
        message = f"{max(about.st_size, len(content))} bytes: a file has at most {FILE_BYTES_MAX}, split it"
        return Finding(name, Place(), "file_too_large", message)
    return _decode(content, name)


def _not_a_file(name: str) -> Finding:
    return Finding(name, Place(), "not_a_file", "a link or device: put the file itself here")


def _decode(content: bytes, name: str) -> str | Finding:
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as fault:
        before = content[: fault.start]
        line_start = before.rfind(b"\n") + 1
        column = len(before[line_start:].decode("utf-8")) + 1
        place = Place(before.count(b"\n") + 1, column)
        return Finding(
            name, place, "encoding", f"byte 0x{content[fault.start]:02x} is not UTF-8: save as UTF-8"
        )
