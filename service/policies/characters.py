"""Which characters may stand in a bundle's files: what people and models see is all that there is."""

import re
from collections.abc import Iterator
from typing import Final

from service.policies.findings import Finding, Place

FILE_BYTES_MAX: Final = 256 * 1024
BUNDLE_BYTES_MAX: Final = 2 * 1024 * 1024

_REFUSED: Final = (
    ("byte_order_mark", re.compile("\ufeff"), "a byte order mark: save as UTF-8 without it"),
    ("nul", re.compile("\x00"), "the character NUL: remove it"),
    ("surrogate", re.compile("[\ud800-\udfff]"), "half of a surrogate pair: remove it"),
    (
        "control_character",
        re.compile("[\x01-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029]|\r(?!\n)"),
        "a control character: remove it",
    ),
    # They reorder or hide text: a reviewer would approve one thing and a model read another.
    (
        "invisible_character",
        re.compile("[\u200b\u2060-\u2069\u202a-\u202e\U000e0000-\U000e007f]"),
        "an invisible character that reorders or hides text: remove it",
    ),
)
_TAB: Final = ("tab", re.compile("\t"), 'a tab: indent with spaces, write "\\t" inside double quotes')


def check_text(file: str, text: str, *, tabs_allowed: bool) -> Iterator[Finding]:
    """Yield the first place of each kind of character that may not stand in a file, and excess size."""
    size_bytes = len(text.encode("utf-8", "surrogatepass"))
    if size_bytes > FILE_BYTES_MAX:
        message = f"{size_bytes} bytes: a file has at most {FILE_BYTES_MAX}, split it"
        yield Finding(file, Place(), "file_too_large", message)
    for code, pattern, message in _REFUSED if tabs_allowed else (*_REFUSED, _TAB):
        if (match := pattern.search(text)) is not None:
            yield Finding(file, place_at(text, match.start()), code, message)


def place_at(text: str, position: int) -> Place:
    """Answer line and column of a position in a text."""
    before = text[:position]
    return Place(before.count("\n") + 1, position - (before.rfind("\n") + 1) + 1)
