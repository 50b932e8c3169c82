"""How one character is folded so that rules read what a person or a model would read.

The tables are short on purpose: letters that are drawn alike, not all that Unicode calls confusable.
"""

import unicodedata
from functools import lru_cache
from typing import Final

_CYRILLIC: Final = (
    "\u0430\u0441\u0435\u043e\u0440\u0445\u0443\u0456\u0458\u0455\u0501\u051b\u051d\u04bb\u043a\u043c\u0442"
    "\u0410\u0412\u0415\u041a\u041c\u041d\u041e\u0420\u0421\u0422\u0423\u0425\u0406\u0408\u0405\u04cf\u0261"
)
_CYRILLIC_AS: Final = "aceopxyijsdqwhkmtABEKMHOPCTYXIJSlg"
_GREEK: Final = (
    "\u03b1\u03b5\u03b9\u03ba\u03bd\u03bf\u03c1\u03c4\u03c5\u03c7\u03b3\u03c9\u03f2"
    "\u0391\u0392\u0395\u0396\u0397\u0399\u039a\u039c\u039d\u039f\u03a1\u03a4\u03a5\u03a7"
)
_GREEK_AS: Final = "aeikvoptuxywcABEZHIKMNOPTYX"
_SMALL_CAPITALS: Final = (
    "\u1d00\u0299\u1d04\u1d05\u1d07\ua730\u0262\u029c\u026a\u1d0a\u1d0b\u029f\u1d0d"
    "\u0274\u1d0f\u1d18\u0280\ua731\u1d1b\u1d1c\u1d20\u1d21\u028f\u1d22"
)
_SMALL_CAPITALS_AS: Final = "abcdefghijklmnoprstuvwyz"
_OTHERS: Final = "\u0131\u0142\u0141\u00f8\u00d8\u0111\u0110\u00df\u00e6\u00c6\u0153\u0152\u2044\u2215\u2219"
_OTHERS_AS: Final = ("i", "l", "L", "o", "O", "d", "D", "ss", "ae", "AE", "oe", "OE", "/", "/", ".")
LOOK_ALIKES: Final = {
    **dict(zip(_CYRILLIC, _CYRILLIC_AS, strict=True)),
    **dict(zip(_GREEK, _GREEK_AS, strict=True)),
    **dict(zip(_SMALL_CAPITALS, _SMALL_CAPITALS_AS, strict=True)),
    **dict(zip(_OTHERS, _OTHERS_AS, strict=True)),
}
_MARKS: Final = frozenset({"Mn", "Me", "Cf"})
"""Combining marks and format characters: zero-width ones, direction marks, the tag block."""
_PUNCTUATION: Final = {"Pd": "-", "Zs": " ", "Zl": "\n", "Zp": "\n"}
_QUOTES: Final = dict.fromkeys("\u2018\u2019\u201a\u201b\u2032\u00b4\u2039\u203a", "'") | dict.fromkeys(
    "\u201c\u201d\u201e\u201f\u2033\u00ab\u00bb", '"'
)


@lru_cache(maxsize=8_192)
def fold_character(character: str) -> str:
    """Answer what rules read in place of one character: several for a ligature, none for what is not seen.

    Compatibility forms (NFKC) and full width become plain, marks are dropped, digits of every script become
    0 to 9, and letters that look Latin become Latin. Case stays.
    """
    if (plain := LOOK_ALIKES.get(character) or _QUOTES.get(character)) is not None:
        return plain
    if unicodedata.category(character) in _MARKS:
        return ""
    if (negative := _in_negative_square(character)) is not None:
        return negative
    return "".join(_fold_part(part) for part in unicodedata.normalize("NFKD", character))


def _fold_part(part: str) -> str:
    if part.isascii():
        return part
    category = unicodedata.category(part)
    if category in _MARKS:
        return ""
    if category == "Nd":
        return str(unicodedata.decimal(part))
    return LOOK_ALIKES.get(part) or _PUNCTUATION.get(category, part)


def _in_negative_square(character: str) -> str | None:
    """Answer the letter in a white-on-black circle or square: NFKC leaves those alone."""
    for first in (0x1F150, 0x1F170):
        if first <= ord(character) < first + 26:
            return chr(ord("A") + ord(character) - first)
    return None
