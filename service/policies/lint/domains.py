"""What facts can be at all, and the few values that stand for all others when a fact is compared."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from math import inf
from typing import Final, get_args

from service.detection.model import Kind
from service.identity.model import Role
from service.policies.lint.cel_tree import Call, Field, Name, Node
from service.policies.verdict import Existing, MemoryMode, Speaker
from service.policies.words import Authority, ProvenanceKind, Trust

Value = bool | int | float | str | datetime | None


class Unnamed:
    """A text that no condition names."""


UNNAMED: Final = Unnamed()
Cell = Value | Unnamed

_SOURCES: Final = Name("sources")
DETECTIONS: Final = Name("detections")
_FACTS: Final[Mapping[str, frozenset[str]]] = {
    "role": frozenset(role.value for role in Role),
    "value_type": frozenset({"none", "text", "number", "boolean", "object"}),
    "existing": frozenset(one.value for one in Existing),
    "memory_mode": frozenset({"", *(mode.value for mode in MemoryMode)}),
}
_OF_SOURCE: Final[Mapping[str, frozenset[str]]] = {
    "kind": frozenset(kind.value for kind in ProvenanceKind),
    "trust": frozenset(trust.value for trust in Trust),
    "authority": frozenset(one.value for one in Authority),
    "speaker": frozenset({"", *get_args(Speaker)}),
}
_DETECTED: Final = frozenset(kind.value for kind in Kind)
_BOUNDS: Final[Mapping[Node, tuple[float, float]]] = {
    Name("confidence"): (0, 1),
    Name("text_characters"): (0, inf),
    Name("quota_used"): (0, inf),
}


@dataclass(frozen=True, slots=True)
class Domains:
    """The words that texts are limited to in conditions of one class of one bundle.

    `elements` are the names under which walks stand at what detectors found.
    """

    class_name: str
    source_names: frozenset[str]
    elements: frozenset[str] = field(default_factory=frozenset)

    def within(self, over: Node, element: str) -> "Domains":
        """Answer the domains inside a walk of `over`."""
        others = self.elements - {element}
        return Domains(
            self.class_name, self.source_names, others | {element} if over == DETECTIONS else others
        )

    def words(self, term: Node) -> frozenset[str] | None:
        """Answer the only words that a term can be, or `None` where it can be any."""
        match term:
            case Name("class_name"):
                return frozenset({self.class_name})
            case Name(name) if name in self.elements:
                return _DETECTED
            case Name(name):
                return _FACTS.get(name)
            case Field(Name(name), "source") if name.startswith("$"):
                return self.source_names | {""}
            case Field(Name(name), of_source) if name.startswith("$"):
                return _OF_SOURCE.get(of_source)
        return None


def cells(term: Node, constants: Collection[Value], domains: Domains, *, looked_into: bool) -> list[Cell]:
    """Answer values of `term` that stand for all: every other one compares with `constants` as one of these.

    `looked_into` says that its beginning, end or inside is asked for: then each word stands for itself.
    """
    known = {value for value in constants if value is not None}
    if all(isinstance(value, bool) for value in known):
        return [False, True]
    if any(isinstance(value, str) for value in known):
        texts = {value for value in known if isinstance(value, str)}
        words = domains.words(term)
        if words is None:
            return [*sorted(texts), UNNAMED]
        rest = sorted(words - texts)
        return [*sorted(words & texts), *(rest if looked_into else rest[:1])]
    if any(isinstance(value, datetime) for value in known):
        return [*_times({value for value in known if isinstance(value, datetime)})]
    numbers = {value for value in known if isinstance(value, int | float)}
    low, high = _bounds(term)
    return [
        *(_integers if all(isinstance(value, int) for value in numbers) else _decimals)(numbers, low, high)
    ]


def _bounds(term: Node) -> tuple[float, float]:
    match term:
        case Call("size", _):
            return 0, inf
    return _BOUNDS.get(term, (-inf, inf))


def _integers(constants: Collection[float], low: float, high: float) -> Iterable[int]:
    near = {int(value) + step for value in constants for step in (-1, 0, 1)}
    # Between two constants every whole number is like the one after the first.
    return sorted(value for value in near if low <= value <= high)


def _decimals(constants: Collection[float], low: float, high: float) -> Iterable[float]:
    edges = sorted({*map(float, constants), *(bound for bound in (low, high) if abs(bound) != inf)})
    between = [(first + second) / 2 for first, second in pairwise(edges)]
    outside = [edges[0] - max(1.0, abs(edges[0])), edges[-1] + max(1.0, abs(edges[-1]))]
    return sorted(value for value in {*edges, *between, *outside} if low <= value <= high)


def _times(constants: Collection[datetime]) -> Iterable[datetime]:
    edges = sorted(constants)
    between = [first + (second - first) / 2 for first, second in pairwise(edges)]
    first, last = datetime(1, 1, 1, tzinfo=UTC), datetime(9999, 12, 31, tzinfo=UTC)
    day = timedelta(days=1)
    before = [edges[0] - day] if edges[0] - first > day else []
    after = [edges[-1] + day] if last - edges[-1] > day else []
    return sorted({*edges, *between, *before, *after})
