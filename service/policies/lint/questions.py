"""What a condition asks of the facts: comparisons of one fact with constants, and what is not looked into."""

import operator
from collections.abc import Callable, Mapping
from datetime import datetime
from functools import lru_cache
from typing import Any, Final

from service.policies.condition_types import ENVIRONMENT
from service.policies.lint.cel_tree import All, Call, Constant, Field, Items, Name, Node
from service.policies.lint.domains import Value

COMPARE: Final[Mapping[str, Callable[[Any, Any], bool]]] = {
    "_==_": operator.eq,
    "_!=_": operator.ne,
    "_<_": operator.lt,
    "_<=_": operator.le,
    "_>_": operator.gt,
    "_>=_": operator.ge,
}
LOOK_INTO: Final[Mapping[str, Callable[[str, str], bool]]] = {
    "startsWith": str.startswith,
    "endsWith": str.endswith,
    "contains": str.__contains__,
}
_MIRRORED: Final = {
    "_<_": "_>_",
    "_<=_": "_>=_",
    "_>_": "_<_",
    "_>=_": "_<=_",
    "_==_": "_==_",
    "_!=_": "_!=_",
}
_JOINING: Final = frozenset({"_&&_", "_||_", "!_", "_?_:_"})
_TOTAL: Final = frozenset({*COMPARE, *LOOK_INTO, *_JOINING, "@in", "size"})
_MICROSECOND_DIGITS: Final = 6


class NoConstant(Exception):
    """It is not a value that is known beforehand."""


def constant(node: Node) -> Value:
    """Answer the value of a constant, a written time included. Raises `NoConstant`."""
    match node:
        case Constant("bool" | "int" | "double" | "text", value) if not isinstance(value, bytes):
            return value
        case Call("timestamp", (Constant("text", str() as text),)):
            return _time(text)
    raise NoConstant


def is_constant(node: Node) -> bool:
    """Say whether the value is known beforehand."""
    try:
        constant(node)
    except NoConstant:
        return False
    return True


@lru_cache(maxsize=256)
def _time(text: str) -> datetime:
    if len(text.rpartition(".")[2].rstrip("Z")) > _MICROSECOND_DIGITS and "." in text:
        raise NoConstant  # finer than what can be compared here
    found = ENVIRONMENT.compile(f"timestamp({_quoted(text)})").eval(data={}).value()
    if not isinstance(found, datetime):
        raise NoConstant
    return found


def _quoted(text: str) -> str:
    return '"' + "".join(f"\\U{ord(letter):08x}" for letter in text) + '"'


def is_term(node: Node) -> bool:
    """Say whether this is a fact, a field of a source, or how long one of them is."""
    match node:
        case Name(_) | Field(Name(_), _):
            return True
        case Call("size", (inner,)):
            return isinstance(inner, Name) or (isinstance(inner, Field) and is_term(inner))
    return False


def compared(node: Node) -> tuple[Node, str, tuple[Value, ...]] | None:
    """Answer a comparison of one term with constants as term, operator and constants; else `None`."""
    match node:
        case Call("@in", (term, Items(elements))) if is_term(term) and all(map(is_constant, elements)):
            return term, "@in", tuple(constant(one) for one in elements)
        case Call(function, (first, second)) if function in COMPARE:
            if is_term(first) and is_constant(second):
                found = first, function, (constant(second),)
            elif is_term(second) and is_constant(first):
                found = second, _MIRRORED[function], (constant(first),)
            else:
                return None
            # Texts and booleans have an order in CEL too, that nobody writes down on purpose.
            ordered = not isinstance(found[2][0], str | bool)
            return found if ordered or function in ("_==_", "_!=_") else None
    return None


def looked_into(node: Node) -> tuple[Node, str, str] | None:
    """Answer a question for the beginning, end or inside of a term: term, function, text; else `None`."""
    match node:
        case Call(function, (term, Constant("text", str() as text))) if function in LOOK_INTO:
            return (term, function, text) if is_term(term) else None
    return None


def is_joining(node: Node) -> bool:
    """Say whether this is made of conditions."""
    return isinstance(node, Call) and node.function in _JOINING


def is_total(node: Node) -> bool:
    """Say whether this can always be answered, whatever the facts."""
    match node:
        case Name(name):
            return not name.startswith("@")
        case Field(operand, _):
            return isinstance(operand, Name)
        case Call(function, args) if function in _TOTAL:
            return all(map(is_total, args))
        case Items(args):
            return all(map(is_total, args))
        case All(over, _, body):
            return is_total(over) and is_total(body)
    return isinstance(node, Constant) or is_constant(node)
