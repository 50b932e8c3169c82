"""A condition as a small tree that can be compared: what it says, without where it says it."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from google.protobuf.message import DecodeError

from service.policies.conditions import read_condition
from service.policies.lint.cel_messages import evaluate_part, read_checked

Plain = bool | int | float | str | bytes | None


@dataclass(frozen=True, slots=True)
class Constant:
    """A value that is written out. `kind` keeps `1` and `true` apart; `at` is where it begins, from 0."""

    kind: str
    value: Plain
    at: int = field(default=-1, compare=False)


@dataclass(frozen=True, slots=True)
class Name:
    """A fact; or, as `$0` and so on, the element at which the walk of that depth stands."""

    name: str


@dataclass(frozen=True, slots=True)
class Field:
    """A field of something."""

    operand: "Node"
    field: str


@dataclass(frozen=True, slots=True)
class Call:
    """A function or operator of its arguments, the receiver of a method first."""

    function: str
    args: tuple["Node", ...]


@dataclass(frozen=True, slots=True)
class Items:
    """A list that is written out."""

    elements: tuple["Node", ...]


@dataclass(frozen=True, slots=True)
class All:
    """Whether `body` holds for each element of a list. `exists` is read as: not all are otherwise."""

    over: "Node"
    element: str
    body: "Node"


@dataclass(frozen=True, slots=True)
class Other:
    """What is not looked into: two alike are the same, and nothing else is known."""

    parts: tuple[object, ...]


Node = Constant | Name | Field | Call | Items | All | Other

TRUE: Final = Constant("bool", value=True)
FALSE: Final = Constant("bool", value=False)
_KINDS: Final = {"bool": bool, "int": int, "double": float, "text": str}
_FOLDED: Final = frozenset({"_+_", "_-_", "_*_", "_/_", "_%_", "-_", "size", "double", "int"})
_OPPOSITE: Final = {"_==_": "_!=_", "_!=_": "_==_"}


class NotReadable(Exception):
    """A condition is nested too deep to be looked into."""


def read_tree(condition: str) -> Node:
    """Answer a condition that is known to compile. Raises `NotReadable`."""
    try:
        checked = read_checked(read_condition(condition).expression.serialize())
        positions = {one.key: one.value for one in checked.source.positions}
        return _Reading(checked, positions).read(checked.expr, {})
    except (DecodeError, RecursionError):
        raise NotReadable from None


def negate(node: Node) -> Node:
    """Answer what holds where `node` does not, and cannot be answered where it cannot."""
    match node:
        case Constant("bool", value):
            return FALSE if value else TRUE
        case Call("!_", (inner,)):
            return inner
        case Call(function, args) if function in _OPPOSITE:
            return Call(_OPPOSITE[function], args)
    return Call("!_", (node,))


def both(*nodes: Node) -> Node:
    """Answer what holds where all of `nodes` do."""
    joined: Node = TRUE
    for node in nodes:
        joined = node if joined == TRUE else Call("_&&_", (joined, node))
    return joined


def facts_in(node: Node) -> frozenset[str]:
    """Answer the facts that a condition asks for, but for those inside what is not looked into."""
    found: set[str] = set()
    waiting: list[Node] = [node]
    while waiting:
        match waiting.pop():
            case Name(name):
                found.add(name)
            case Field(operand, _):
                waiting.append(operand)
            case Call(_, inner) | Items(inner):
                waiting.extend(inner)
            case All(over, _, body):
                waiting += [over, body]
    return frozenset(name for name in found if not name.startswith(("$", "@")))


@dataclass(frozen=True, slots=True)
class _Reading:
    checked: Any
    positions: Mapping[int, int]

    def read(self, expr: Any, scope: Mapping[str, str]) -> Node:  # noqa: ANN401 - a message
        readers: Mapping[str, Callable[[Any, Mapping[str, str]], Node]] = {
            "constant": self._constant,
            "ident": lambda one, scope: Name(scope.get(one.ident.name, one.ident.name)),
            "select": self._select,
            "call": self._call,
            "list": lambda one, scope: Items(self._all(one.list.elements, scope)),
            "walk": self._walk,
        }
        found = next((reader for part, reader in readers.items() if expr.HasField(part)), self._other)
        return found(expr, scope)

    def _all(self, expressions: Iterable[Any], scope: Mapping[str, str]) -> tuple[Node, ...]:
        return tuple(self.read(one, scope) for one in expressions)

    def _other(self, expr: Any, scope: Mapping[str, str]) -> Node:  # noqa: ANN401 - a message
        del scope
        return Other((expr.SerializeToString(deterministic=True),))

    def _constant(self, expr: Any, scope: Mapping[str, str]) -> Node:  # noqa: ANN401 - a message
        del scope
        kind = next(iter(expr.constant.ListFields()))[0].name
        return Constant(kind, getattr(expr.constant, kind), self.positions.get(expr.id, -1))

    def _select(self, expr: Any, scope: Mapping[str, str]) -> Node:  # noqa: ANN401 - a message
        if expr.select.test_only:
            return self._other(expr, scope)
        return Field(self.read(expr.select.operand, scope), expr.select.field)

    def _call(self, expr: Any, scope: Mapping[str, str]) -> Node:  # noqa: ANN401 - a message
        target = [expr.call.target] if expr.call.HasField("target") else []
        function, args = expr.call.function, self._all((*target, *expr.call.args), scope)
        match function, args:
            case "!_", (inner,):
                return negate(inner)
            case "@in", (Constant() as wanted, Name(_) as over):
                # To be in a list is not to be unlike all of it: so it can be compared with walks of the list.
                return negate(All(over, "$0", Call("_!=_", (Name("$0"), wanted))))
            case (("_==_" | "_!=_"), (Constant() as first, second)) if not isinstance(second, Constant):
                return Call(function, (second, first))
        if function in _FOLDED and all(isinstance(one, Constant) and one.kind in _KINDS for one in args):
            return self._fold(expr) or Call(function, args)
        return Call(function, args)

    def _fold(self, expr: Any) -> Node | None:  # noqa: ANN401 - a message
        """Answer what a calculation with constants comes to, as the engine itself has it."""
        value = evaluate_part(self.checked, expr)
        kind = next((kind for kind, python in _KINDS.items() if type(value) is python), None)
        # What fails comes out as a text, and so does what joins texts: then it stays what it is.
        if kind in (None, "text"):
            return None
        return Constant(kind, value, self.positions.get(expr.id, -1))  # type: ignore[arg-type]  # one of _KINDS

    def _walk(self, expr: Any, scope: Mapping[str, str]) -> Node:  # noqa: ANN401 - a message
        walk = expr.walk
        over = self.read(walk.over, scope)
        # Counted by depth, so that two walks that differ in the name of their variable alone are alike.
        element = f"${sum(name.startswith('$') for name in scope.values())}"
        inner = {**scope, walk.variable: element}
        step = self.read(walk.step, {**inner, walk.result_name: "@result"})
        start = self.read(walk.start, scope)
        result = self.read(walk.result, {**scope, walk.result_name: "@result"})
        if result == Name("@result") and not walk.second_variable:
            match start, step:
                case Constant("bool", True), Call("_&&_", (Name("@result"), body)):
                    return All(over, element, body)
                case Constant("bool", False), Call("_||_", (Name("@result"), body)):
                    return negate(All(over, element, negate(body)))
        return Other((over, element, start, step, result, self.read(walk.goes_on, inner)))
