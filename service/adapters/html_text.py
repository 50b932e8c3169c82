"""The text of HTML in one pass, linear in its length whatever it holds.

Python's own parser takes quadratic time on malformed input, and a file here may be 32 MiB.
"""

import re
from html import unescape
from typing import Final

_SILENT: Final = frozenset({"script", "style", "template", "noscript", "iframe", "object", "svg", "math"})
"""Elements whose content is not the document's text."""
_BLOCK_NAME: Final = re.compile(
    r"address|article|aside|blockquote|body|br|caption|dd|details|div|dl|dt|fieldset|figcaption|figure|footer"
    r"|form|h[1-6]|head|header|hr|html|li|main|nav|ol|option|p|pre|section|summary|table|tbody|td|tfoot|th"
    r"|thead|title|tr|ul"
)
"""Elements that begin and end a line."""
_TAG_NAME: Final = re.compile(r"</?([A-Za-z][A-Za-z0-9-]*)")
_TAG_STOP: Final = re.compile("[\"'>]")
_SPACE: Final = re.compile(r"[ \t\r\f\v]+")
_LINES: Final = re.compile(r" ?\n[ \n]*")


def html_text(source: str) -> str:
    """Answer what a reader would see of the page: no tags, comments, scripts or styles; blocks on lines."""
    return _Scanner(source).text()


class _Scanner:
    """Walks the source once. Looks for a mark that is nowhere ahead only once, which keeps it linear."""

    def __init__(self, source: str) -> None:
        self._source = source
        # Some case mappings change a text's length, and offsets must hold: only ASCII is lowered.
        self._lower = source.translate({code: code + 32 for code in range(65, 91)})
        self._absent: set[str] = set()
        self._parts: list[str] = []

    def text(self) -> str:
        """Answer the text with runs of white space made one."""
        position = 0
        while (tag := self._source.find("<", position)) >= 0:
            self._parts.append(self._source[position:tag])
            position = self._past_markup(tag)
        self._parts.append(self._source[position:])
        text = unescape("".join(self._parts)).replace("\x00", "")
        return _LINES.sub("\n", _SPACE.sub(" ", text)).strip()

    def _past_markup(self, tag: int) -> int:
        """Answer where the text goes on after what begins with `<` at `tag`."""
        if self._source.startswith("<!--", tag):
            return self._after("-->", tag + 4)
        if self._source.startswith(("<!", "<?"), tag):
            return self._after(">", tag + 2)
        name = _TAG_NAME.match(self._source, tag)
        if name is None:
            self._parts.append("<")
            return tag + 1
        element = name[1].lower()
        if _BLOCK_NAME.fullmatch(element):
            self._parts.append("\n")
        end = self._tag_end(name.end())
        closes_itself = self._source.startswith("/>", end - 2)
        if element in _SILENT and self._source[tag + 1] != "/" and not closes_itself:
            closing = self._find(f"</{element}", end)
            return len(self._source) if closing < 0 else self._tag_end(closing)
        return end

    def _tag_end(self, position: int) -> int:
        while (stop := _TAG_STOP.search(self._source, position)) is not None:
            if stop[0] == ">":
                return stop.end()
            closing = self._find(stop[0], stop.end())
            position = stop.end() if closing < 0 else closing + 1
        return len(self._source)

    def _after(self, mark: str, position: int) -> int:
        found = self._find(mark, position)
        return len(self._source) if found < 0 else found + len(mark)

    def _find(self, mark: str, position: int) -> int:
        if mark in self._absent:
            return -1
        found = self._lower.find(mark, position)
        if found < 0:
            self._absent.add(mark)
        return found
