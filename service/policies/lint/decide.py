"""What conditions can come out as, over everything that the facts can be. Pure, and never by chance.

A comparison of a fact with constants divides all values of the fact into a few cells, in each of which it
comes out alike; so a handful of values stand for all. What is not looked into may come out as it likes. Where
an outcome is not among the answers it is therefore impossible; where one is, it may still be impossible.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from math import prod
from typing import Final

from service.policies.lint.cel_tree import All, Call, Constant, Node, both, negate
from service.policies.lint.domains import UNNAMED, Cell, Domains, Value, cells
from service.policies.lint.questions import (
    COMPARE,
    LOOK_INTO,
    NoConstant,
    compared,
    constant,
    is_joining,
    is_term,
    is_total,
    looked_into,
)

WORLDS_MAX: Final = 3_000
"""So many combinations are looked at for one question. Beyond that nothing is said."""
WORLDS_ALTOGETHER_MAX: Final = 60_000
"""And so many for one bundle: about a second."""

_QUESTION_COST: Final = 30
"""What it takes to ask, in worlds."""
_BOTH: Final = (False, True)

Outcome = bool | None
"""Of a condition: it holds, it does not, or it cannot be answered."""

World = tuple[Cell, ...]
"""One value for each question: a term's, or the outcome of what is not looked into."""

Answering = Callable[[World], Outcome]


class Undecided(Exception):
    """There is too much to look at."""


@dataclass(slots=True)
class Decider:
    """Answers what conditions of one class can come out as. `budget` is shared by all that share its list."""

    domains: Domains
    budget: list[int] = field(default_factory=lambda: [WORLDS_ALTOGETHER_MAX])
    _known: dict[tuple[Domains, tuple[Node, ...]], frozenset[tuple[Outcome, ...]]] = field(
        default_factory=dict
    )

    def outcomes(self, *nodes: Node) -> frozenset[tuple[Outcome, ...]]:
        """Answer a set that has every combination of outcomes there can be. Raises `Undecided`."""
        if (self.domains, nodes) not in self._known:
            self.budget[0] -= _QUESTION_COST
            if self.budget[0] <= 0:
                raise Undecided
            asked = _ask(nodes)
            places = {node: place for place, node in enumerate([*asked.terms, *asked.free])}
            told = [answering(node, places) for node in nodes]
            found: set[tuple[Outcome, ...]] = set()
            # Most worlds come out alike: whether one is possible is asked once for what it may add.
            for world in self._worlds(asked):
                outcome = tuple(answer(world) for answer in told)
                if outcome not in found and self._is_possible(world, places):
                    found.add(outcome)
            self._known[self.domains, nodes] = frozenset(found)
        return self._known[self.domains, nodes]

    def can_hold(self, node: Node) -> bool:
        """Say whether a condition may hold; of what is undecided, that it may."""
        try:
            return (True,) in self.outcomes(node)
        except Undecided:
            return True

    def _worlds(self, asked: "_Asked") -> Iterator[World]:
        choices = [
            cells(term, constants, self.domains, looked_into=term in asked.looked_into)
            for term, constants in asked.terms.items()
        ]
        choices += [[False, True] if is_total(node) else [False, True, None] for node in asked.free]
        count = prod(len(choice) for choice in choices)
        if count > min(WORLDS_MAX, self.budget[0]):
            raise Undecided
        self.budget[0] -= count
        return product(*choices)

    def _is_possible(self, world: World, places: Mapping[Node, int]) -> bool:
        said = {node: world[place] for node, place in places.items()}
        return _texts_agree(said) and self._walks_agree(said)

    def _walks_agree(self, said: Mapping[Node, Cell]) -> bool:
        """Say whether some list can be as all walks of it say at once."""
        walks = [node for node in said if isinstance(node, All) and node.element == "$0" and is_total(node)]
        for over in {walk.over for walk in walks}:
            met = [walk.body for walk in walks if walk.over == over and said[walk]]
            broken = [walk.body for walk in walks if walk.over == over and not said[walk]]
            size = said.get(Call("size", (over,)))
            if size == 0:
                if broken:
                    return False
                continue
            inner = Decider(self.domains.within(over, "$0"), self.budget, self._known)
            if size is not None and met and not inner.can_hold(both(*met)):
                return False
            if not all(inner.can_hold(both(negate(body), *met)) for body in broken):
                return False
        return True


@dataclass(frozen=True, slots=True)
class _Asked:
    terms: dict[Node, set[Value]] = field(default_factory=dict)
    looked_into: set[Node] = field(default_factory=set)
    free: dict[Node, None] = field(default_factory=dict)


def _ask(nodes: Sequence[Node]) -> _Asked:
    asked = _Asked()
    waiting = list(nodes)
    while waiting:
        node = waiting.pop()
        if is_joining(node):
            assert isinstance(node, Call)
            waiting.extend(node.args)
        elif isinstance(node, Constant) or _folded(node) is not None:
            continue
        elif (comparison := compared(node)) is not None:
            asked.terms.setdefault(comparison[0], set()).update(comparison[2])
        elif (inside := looked_into(node)) is not None:
            term, _, text = inside
            asked.terms.setdefault(term, set()).add(text)
            asked.looked_into.add(term)
            asked.free[node] = None
        elif is_term(node):
            asked.terms.setdefault(node, set()).update(_BOTH)
        else:
            asked.free[_unlike(node)[0]] = None
    return asked


def _unlike(node: Node) -> tuple[Node, bool]:
    """Answer what is not looked into as one question, and whether it is asked the other way round."""
    match node:
        case Call("_!=_", args):
            return Call("_==_", args), True
    return node, False


def answering(node: Node, places: Mapping[Node, int]) -> Answering:
    """Answer what tells a condition's outcome in one world, by CEL's rules for what cannot be answered."""
    match node:
        case Constant("bool", bool() as value):
            return lambda _world: value
        case Call("_&&_", args):
            return _joined([answering(one, places) for one in args], decides=False)
        case Call("_||_", args):
            return _joined([answering(one, places) for one in args], decides=True)
        case Call("!_", (inner,)):
            asked = answering(inner, places)
            return lambda world: None if (answer := asked(world)) is None else not answer
        case Call("_?_:_", args):
            asked, first, second = (answering(one, places) for one in args)
            return lambda world: (
                None if (answer := asked(world)) is None else first(world) if answer else second(world)
            )
    return _leaf(node, places)


def _joined(parts: Sequence[Answering], *, decides: bool) -> Answering:
    def answer(world: World) -> Outcome:
        found = [part(world) for part in parts]
        return decides if decides in found else None if None in found else not decides

    return answer


def _leaf(node: Node, places: Mapping[Node, int]) -> Answering:
    if (folded := _folded(node)) is not None:
        return lambda _world: folded
    if (comparison := compared(node)) is not None:
        term, function, constants = comparison
        place, first = places[term], next(iter(constants), None)
        if function == "@in":
            return lambda world: world[place] in constants
        return lambda world: COMPARE[function](world[place], first)
    asked, otherwise = _unlike(node)
    own = places[asked]
    if (inside := looked_into(node)) is not None:
        term, function, text = inside
        place = places[term]
        return lambda world: (
            LOOK_INTO[function](value, text) if isinstance(value := world[place], str) else _said(world[own])
        )
    return lambda world: None if (said := _said(world[own])) is None else said is not otherwise


def _said(value: Cell) -> Outcome:
    return value if isinstance(value, bool) else None


def _folded(node: Node) -> bool | None:
    """Answer a comparison whose outcome is known whatever the facts, or `None`."""
    match node:
        case Call(function, (first, second)) if function in COMPARE:
            if first == second and is_total(first):
                return function in ("_==_", "_<=_", "_>=_")
            try:
                return COMPARE[function](constant(first), constant(second))
            except (NoConstant, TypeError):
                return None
    return None


def _texts_agree(said: Mapping[Node, Cell]) -> bool:
    """Say whether some text can begin, end and hold what is said of one that no condition names."""
    of_term: dict[Node, list[tuple[str, str, Outcome]]] = {}
    for node, outcome in said.items():
        inside = looked_into(node)
        if inside is not None and said[inside[0]] is UNNAMED and isinstance(outcome, bool):
            of_term.setdefault(inside[0], []).append((inside[1], inside[2], outcome))
    return not any(_contradict(one, other) for about in of_term.values() for one in about for other in about)


def _contradict(one: tuple[str, str, Outcome], other: tuple[str, str, Outcome]) -> bool:
    (function, text, holds), (function_too, text_too, holds_too) = one, other
    if not holds:
        return text == "" and other == one
    if holds_too:
        if function == function_too == "startsWith":
            return not (text.startswith(text_too) or text_too.startswith(text))
        if function == function_too == "endsWith":
            return not (text.endswith(text_too) or text_too.endswith(text))
        return False
    if function_too == "contains":
        return text_too in text
    return function == function_too and LOOK_INTO[function](text, text_too)
