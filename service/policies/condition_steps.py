"""How much work a condition may be: an upper bound in steps, told from its words before anything is run.

The interpreter bounds how often lists are walked, and neither the time nor the memory of what is done at each
element: texts joined inside two walks took gigabytes. So each name costs one step, joining and patterns cost
more, and a walk multiplies what stands inside it.
"""

import re
from dataclasses import dataclass, field
from typing import Final

STEPS_MAX: Final = 20_000
"""About 20 MB and a fifth of a second, where every source has the longest address there is."""
LIST_ITEMS_MAX: Final = 20
"""So many sources a proposal cites at most; of kinds of findings there are fewer."""

_JOIN_STEPS: Final = 50
_PATTERN_STEPS: Final = 200
_WALKS: Final = frozenset({"all", "exists", "exists_one", "existsOne", "filter", "map", "transformList"})
_TOKEN: Final = re.compile(
    r"""(?P<passed>//[^\n]*|\s+)
    |(?P<text>[bB]?[rR](?:\"\"\".*?\"\"\"|'''.*?'''|"[^"]*"|'[^']*')
      |[bB]?(?:\"\"\"(?:\\.|[^\\])*?\"\"\"|'''(?:\\.|[^\\])*?'''|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'))
    |(?P<name>[A-Za-z_][A-Za-z0-9_]*)
    |(?P<mark>.)""",
    re.VERBOSE | re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class Work:
    """How many steps a condition takes at most, and at which character its innermost walk begins."""

    steps: int
    position: int


def measure(text: str) -> Work:
    """Answer the work of a condition. What is no condition has some number; it is refused in any case."""
    tokens = [
        (match.lastgroup or "", match[0], match.start())
        for match in _TOKEN.finditer(text)
        if match.lastgroup != "passed"
    ]
    counter = _Counter(_items_max(tokens))
    for number, (kind, token, position) in enumerate(tokens):
        if kind == "name":
            opens = number + 1 < len(tokens) and tokens[number + 1][1] == "("
            counter.name(token, position, opens=opens)
        elif kind == "mark":
            counter.mark(token)
    return Work(counter.steps, counter.position)


def _items_max(tokens: list[tuple[str, str, int]]) -> int:
    """Answer how long a list can be that this condition walks: a fact, facts joined, or one written out."""
    joined = sum(word == "+" for kind, word, _ in tokens if kind == "mark")
    written = sum(word == "," for kind, word, _ in tokens if kind == "mark")
    walks = sum(word in _WALKS for kind, word, _ in tokens if kind == "name")
    return LIST_ITEMS_MAX * (1 + joined) + max(written - walks, 0)


@dataclass(slots=True)
class _Counter:
    items_max: int
    steps: int = 0
    position: int = 0
    deepest: int = 0
    # For each open bracket, whether a walk opened it.
    open: list[bool] = field(default_factory=list)
    walk_follows: bool = False

    def name(self, name: str, position: int, *, opens: bool) -> None:
        self._count(_PATTERN_STEPS if name == "matches" else 1)
        if opens and name in _WALKS:
            self.walk_follows = True
            if (depth := sum(self.open) + 1) > self.deepest:
                self.deepest, self.position = depth, position

    def mark(self, mark: str) -> None:
        if mark in "([{":
            self.open.append(self.walk_follows)
            self.walk_follows = False
        elif mark in ")]}" and self.open:
            self.open.pop()
        elif mark == "+":
            self._count(_JOIN_STEPS)

    def _count(self, steps: int) -> None:
        self.steps += steps * self.items_max ** sum(self.open)
