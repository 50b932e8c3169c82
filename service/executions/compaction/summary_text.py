"""The form of a summary that this service writes: what must survive, its references, what was said. Pure."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

_SURVIVING: Final = "# what must survive"
_REFERENCES: Final = "# references"
_SAID: Final = "# what was said"
_HEADS: Final = (_SURVIVING, _REFERENCES, _SAID)
_ITEM: Final = "- "
_CONTINUED: Final = "  "
"""Before each further line of an item, so that nobody's text can look like one of ours."""


@dataclass(frozen=True, slots=True)
class SummaryText:
    """A summary in its parts; each item may have several lines. `references` are of the form `kind:id`."""

    surviving: Sequence[str]
    references: Sequence[str]
    said: Sequence[str]


def write_summary(parts: SummaryText) -> str:
    """Answer the text, which `read_summary` reads back."""
    return "\n".join(
        [
            _SURVIVING,
            *map(_item, parts.surviving),
            _REFERENCES,
            *map(_item, parts.references),
            _SAID,
            *map(_item, parts.said),
        ]
    )


def read_summary(text: str) -> SummaryText | None:
    """Answer the parts of a summary in our form, `None` for any other."""
    lines = text.split("\n")
    found = [number for number, line in enumerate(lines) if line in _HEADS]
    if [lines[number] for number in found] != list(_HEADS) or found[0] != 0:
        return None
    _, second, third = found
    return SummaryText(
        tuple(_items(lines[1:second])),
        tuple(_items(lines[second + 1 : third])),
        tuple(_items(lines[third + 1 :])),
    )


def _item(text: str) -> str:
    return _ITEM + text.replace("\n", f"\n{_CONTINUED}")


def _items(lines: Sequence[str]) -> Iterator[str]:
    begun: list[str] = []
    for line in lines:
        if line.startswith(_ITEM) and begun:
            yield "\n".join(begun)
            begun = []
        begun.append(line.removeprefix(_ITEM) if not begun else line.removeprefix(_CONTINUED))
    if begun:
        yield "\n".join(begun)
