"""Who speaks in a piece of a conversation, told by how its text begins. Pure."""

import re
from collections import Counter
from collections.abc import Sequence
from typing import Final

_SPOKEN: Final = re.compile(
    r"(?:[\[(][^\])\n]{1,60}[\])]\s*)?([^\W\d_][\w.'\u2019-]*(?: [\w.'\u2019-]+){0,2}):\s"
)
_TURNS_MIN: Final = 2
"""A name with a colon may open any text: who speaks, speaks more than once."""


def speakers(texts: Sequence[str]) -> Sequence[str | None]:
    """Answer the name before the colon that opens each text, where it opens others too (`Ann: yes`)."""
    openings = [_SPOKEN.match(text) for text in texts]
    names = [None if opening is None else opening[1] for opening in openings]
    turns = Counter(name for name in names if name is not None)
    return [name if name is not None and turns[name] >= _TURNS_MIN else None for name in names]


def named_in(query: str, names: Sequence[str | None]) -> frozenset[str]:
    """Answer the speakers whose first name the query says."""
    said = {word.casefold() for word in re.findall(r"\w+", query)}
    return frozenset(name for name in names if name is not None and name.split()[0].casefold() in said)


def without_names(query: str, names: Sequence[str | None]) -> str:
    """Answer the query less the names of those who speak: they stand in every second piece."""
    parts = {part for name in names if name is not None for part in name.split()}
    if not parts:
        return query
    pattern = "|".join(re.escape(part) for part in sorted(parts, key=len, reverse=True))
    rest = re.sub(rf"\b(?:{pattern})\b(?:['\u2019]s)?", "", query, flags=re.IGNORECASE)
    return rest if rest.strip(" ?!.,") else query
