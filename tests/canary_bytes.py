"""Every byte that a deployment left behind, searched for words in whatever form they may stand there."""

import base64
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

_DOOR: Final = re.compile(rb"x([a-z]{1,40})0")


def forms(words: str) -> Iterator[bytes]:
    """Answer the words as they are, and their UTF-8 and UTF-16 as hex, and as base64 wherever they begin."""
    yield words.encode()
    for plain in (words.encode(), words.encode("utf-16-le"), words.encode("utf-16-be")):
        yield plain.hex().encode()
        yield plain.hex().upper().encode()
        for shift in range(3):
            # What stands around the words changes the first and the last characters alone.
            begin, end = -(-shift * 8 // 6), (shift + len(plain)) * 8 // 6
            for encode in (base64.b64encode, base64.urlsafe_b64encode):
                yield encode(b"\0" * shift + plain)[begin:end]


def found_in(folders: Iterable[Path], words: str) -> dict[str, list[str]]:
    """Answer each file of the folders in which the words stand, with the doors that follow them there."""
    sought = tuple(dict.fromkeys(forms(words)))
    found: dict[str, list[str]] = {}
    for path in _files(folders):
        try:
            # Without its zeros UTF-16 reads as plain text, and most of a database's files is zeros.
            content = path.read_bytes().translate(None, b"\0")
        except FileNotFoundError:
            continue  # the server removed it meanwhile
        hits = {door for form in sought for door in _doors(content, form)}
        if hits:
            found[path.name] = sorted({*found.get(path.name, []), *hits})
    return found


def _files(folders: Iterable[Path]) -> Iterator[Path]:
    for folder in folders:
        yield from (path for path in sorted(folder.rglob("*")) if path.is_file())


def _doors(content: bytes, form: bytes) -> Iterator[str]:
    at = content.find(form)
    while at >= 0:
        door = _DOOR.match(content, at + len(form))
        yield "" if door is None else door[1].decode()
        at = content.find(form, at + len(form))
