"""How a plain (unquoted) word in a policy file is read, and which words are refused as ambiguous.

Readers of YAML differ about `NO`, `on`, `010`, `1.10`, `22:30` and dates. Here a plain word means a number,
a boolean or null only in its one canonical spelling; any other that some reader might take for one must be
quoted or spelt canonically.
"""

import re
from typing import Final

Scalar = str | int | float | bool | None

_INTEGER: Final = re.compile(r"0|-?[1-9][0-9]{0,14}")
_DECIMAL: Final = re.compile(r"-?(0|[1-9][0-9]{0,14})\.([0-9]{0,14}[1-9]|0)")
_BOOLEAN_WORDS: Final = frozenset({"yes", "no", "on", "off", "y", "n", "true", "false"})
_NULL_WORDS: Final = frozenset({"null", "~", ""})
_LOOKS_OTHERWISE: Final = (
    (
        re.compile(r"[-+]?[0-9][0-9_]*(:[0-9]{1,2})+(\.[0-9_]*)?"),
        "a number in base 60 to some readers: quote it for text",
    ),
    (re.compile(r"[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}([Tt ].*)?"), "a date to some readers: quote it"),
    (
        re.compile(
            r"[-+]?\.?[0-9][0-9_,.]*([eE][-+]?[0-9]+)?|[-+]?0[xob][0-9a-f_]+|[-+]?\.(inf|nan)", re.IGNORECASE
        ),
        "a number not in its plain form: write it as 12 or 1.1, or quote it for text",
    ),
    (re.compile(r"<<|="), "this word has a meaning of its own in YAML: quote it for text"),
)


class Ambiguous(ValueError):
    """A plain word that readers understand differently; the text says what to write instead."""


def read_plain(word: str) -> Scalar:
    """Answer the value of a plain word. Raises `Ambiguous` with what would be right."""
    if word in ("true", "false"):
        return word == "true"
    if word == "null":
        return None
    if _INTEGER.fullmatch(word):
        return int(word)
    if _DECIMAL.fullmatch(word):
        return float(word)
    if (fault := _ambiguity(word)) is not None:
        raise Ambiguous(fault)
    return word


def _ambiguity(word: str) -> str | None:
    folded = word.casefold()
    if folded in _BOOLEAN_WORDS:
        right = "true" if folded in ("yes", "on", "y", "true") else "false"
        return f"`{word}` is a boolean to some readers: write {right}, or quote it for text"
    if folded in _NULL_WORDS:
        return "an empty value: write null, or quote it for text"
    return next((fault for pattern, fault in _LOOKS_OTHERWISE if pattern.fullmatch(word)), None)
