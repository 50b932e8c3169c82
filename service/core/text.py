"""Rules for text that hold everywhere: what may be stored, and where it may be cut."""

from typing import Final

import regex

_GRAPHEME: Final = regex.compile(r"\X")
_TAG_BYTES: Final = "\U000e0000".encode()[:2]
_SELECTOR_BYTES: Final = "\ufe00".encode()[:2]
_SURROGATE: Final = regex.compile("[\ud800-\udfff]")

_SURE_BOUNDARY: Final = regex.compile(
    # Searched backwards. Before such a character a grapheme begins for certain: UAX #29 joins it, if at all,
    # to what the look-behind beside it rules out. Half of a flag is never sure: it depends on all before it.
    r"""(?rxV1)
        (?<!\p{GCB=Prepend}) [\p{GCB=Other}--[\p{Extended_Pictographic}\p{InCB=Consonant}]]
      | (?<![\p{GCB=Prepend}\p{GCB=ZWJ}]) \p{Extended_Pictographic}
      | (?<![\p{GCB=Prepend}\p{GCB=ZWJ}\p{GCB=Extend}]) \p{InCB=Consonant}
      | (?<![\p{GCB=Prepend}\p{GCB=L}]) [\p{GCB=LV}\p{GCB=LVT}]
      | (?<!\r) \n
      | [\r\p{GCB=Control}]
    """
)

_FLAG_TAGS: Final = "|".join(
    "".join(chr(0xE0000 + ord(letter)) for letter in region) for region in ("gbeng", "gbsct", "gbwls")
)
_TAG: Final = regex.compile(
    # A flag is a black one, the tags of its region and the closing tag. Other tags behind it are hidden text,
    # and so is whatever else of the plane is never drawn; its variation selectors are.
    f"(\U0001f3f4(?:{_FLAG_TAGS})\U000e007f)|[\U000e0000-\U000e00ff\U000e01f0-\U000e0fff]"
)
_SELECTORS: Final = "\ufe00-\ufe0f\U000e0100-\U000e01ef"
_SURPLUS: Final = regex.compile(
    # One selector chooses how the character before it is drawn; a second in a row chooses nothing.
    f"(?<=[{_SELECTORS}])[{_SELECTORS}]+"
)


def text_fault(text: str) -> str | None:
    """Answer why `text` cannot be stored (`"NUL"`, a lone surrogate), or `None` when it can."""
    if "\x00" in text:
        return "holds the character NUL"
    if _SURROGATE.search(text):
        return "holds half of a surrogate pair"
    return None


def cut_at_grapheme(text: str, end: int) -> int:
    """Answer the greatest position ≤ `end` that does not fall inside a grapheme (UAX #29).

    That is 0 where a single grapheme reaches beyond `end`. Reads only a few characters around `end`,
    unless graphemes are made to be long or flags stand in a row.
    """
    if end >= len(text):
        return len(text)
    if end <= 0:
        return 0
    before = _SURE_BOUNDARY.search(text, 0, end)
    position = before.start() if before else 0
    for match in _GRAPHEME.finditer(text, position):
        if match.end() > end:
            break
        position = match.end()
    return position


def strip_hidden(text: str) -> str:
    """Answer `text` without what is invisible to people and read by models.

    That is the Unicode tag block and the unassigned rest of its plane, and variation selectors beyond the
    first. The flags of England, Scotland and Wales are spelt with tags after U+1F3F4; those are kept.
    """
    if text.isascii():
        return text
    # Looking for the bytes that all of the plane begin with costs a fiftieth of the expression.
    raw = text.encode(errors="surrogatepass")
    if _TAG_BYTES in raw:
        text = _TAG.sub(r"\1", text)
    return _SURPLUS.sub("", text) if _TAG_BYTES in raw or _SELECTOR_BYTES in raw else text


def find_tag_runs(text: str) -> list[tuple[int, int]]:
    """Answer start and end of each run of invisible characters of the tags' plane outside a flag."""
    if text.isascii() or _TAG_BYTES not in text.encode(errors="surrogatepass"):
        return []
    runs: list[tuple[int, int]] = []
    for tag in _TAG.finditer(text):
        if tag.group(1) is not None:
            continue
        if runs and runs[-1][1] == tag.start():
            runs[-1] = (runs[-1][0], tag.end())
        else:
            runs.append(tag.span())
    return runs
