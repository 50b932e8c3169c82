"""Reads a bundle's folder into text by path, refusing what is no plain UTF-8 file inside it."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from service.policies.characters import FILE_BYTES_MAX
from service.policies.findings import BundleInvalid, Finding, Place, in_order

_FILES_MAX: Final = 1_000
"""Looking stops there: a folder with so many files is not a bundle's."""


def read_folder(folder: Path) -> Mapping[str, str]:
    """Answer the text of each file under `folder` by its path from there, dot files left out.

    Raises `BundleInvalid` for what cannot be read as text. What the files mean is not looked at.
    """
    files: dict[str, str] = {}
    findings: list[Finding] = []
    if not folder.is_dir():
        raise BundleInvalid([Finding(folder.name, Place(), "no_folder", "there is no such folder")])
    for path in _list_files(folder):
        # A name that is no UTF-8 is told in a finding, so it must be printable.
        name = path.relative_to(folder).as_posix().encode("utf-8", "backslashreplace").decode()
        text = _read(path, name)
        if isinstance(text, Finding):
            findings.append(text)
        else:
            files[name] = text
    if findings:
        raise BundleInvalid(in_order(findings))
    return files


def _list_files(folder: Path) -> Iterator[Path]:
    waiting = [folder]
    seen = 0
    while waiting:
        for path in sorted(waiting.pop().iterdir()):
            seen += 1
            if seen > _FILES_MAX:
                raise BundleInvalid([Finding("", Place(), "too_many_files", f"more than {_FILES_MAX} files")])
            if path.name.startswith("."):
                continue
            if path.is_dir() and not path.is_symlink():
                waiting.append(path)
            else:
                yield path


def _read(path: Path, name: str) -> str | Finding:
    if path.is_symlink() or not path.is_file():
        return Finding(name, Place(), "not_a_file", "a link or device: put the file itself here")
    if (size_bytes := path.stat().st_size) > FILE_BYTES_MAX:
        message = f"{size_bytes} bytes: a file has at most {FILE_BYTES_MAX}, split it"
        return Finding(name, Place(), "file_too_large", message)
    try:
        content = path.read_bytes()
    except OSError as fault:
        return Finding(name, Place(), "unreadable", f"cannot be read ({type(fault).__name__})")
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
