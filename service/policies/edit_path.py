"""Places in a bundle as people write them: `classes.preference.expiry.days`. Pure."""

import re
from collections.abc import Sequence
from typing import Final

from service.policies.read_yaml import DEPTH_MAX, Path, Value

PATH_CHARACTERS_MAX: Final = 500
_STEPS: Final = re.compile(r'("[^"]+"|[^".\s]+)(\.("[^"]+"|[^".\s]+))*')
_STEP: Final = re.compile(r'"[^"]+"|[^".\s]+')


class PathInvalid(ValueError):
    """What was given names no place; the text says what would be right."""


def read_path(path: str) -> tuple[str, ...]:
    """Answer the words of a path. Raises `PathInvalid`. A word with dots of its own may stand in quotes."""
    if len(path) > PATH_CHARACTERS_MAX or not _STEPS.fullmatch(path):
        raise PathInvalid('a path is like `classes.preference.quota` or `commands."orders.create".approval`')
    words = tuple(_STEP.findall(path))
    if len(words) > DEPTH_MAX:
        raise PathInvalid(f"nothing stands deeper than {DEPTH_MAX}")
    return words


def resolve(words: Sequence[str], content: Value) -> tuple[Path, tuple[str, ...]]:
    """Answer how far the words lead into `content`, and the words that lead on from there.

    Keys may hold dots: the longest key that the next words make is taken, so `commands.orders.*.approval` is
    found as findings print it. In a list a word is a position, from 0; one beyond the last is its end.
    """
    path: Path = ()
    rest = tuple(words)
    while rest:
        if isinstance(content, list):
            step = rest[0]
            if not step.isdecimal() or int(step) >= len(content):
                break
            path, content, rest = (*path, int(step)), content[int(step)], rest[1:]
        elif isinstance(content, dict):
            length = _longest_key(rest, content)
            if length == 0:
                break
            key = bare(rest[:length])
            path, content, rest = (*path, key), content[key], rest[length:]
        else:
            break
    return path, rest


def bare(words: Sequence[str]) -> str:
    """Answer the key that words make, without quotes around them."""
    return ".".join(word.strip('"') for word in words)


def _longest_key(words: Sequence[str], content: dict[str, Value]) -> int:
    for length in range(len(words), 0, -1):
        is_quoted = any(word.startswith('"') for word in words[:length])
        if (length == 1 or not is_quoted) and bare(words[:length]) in content:
            return length
    return 0
