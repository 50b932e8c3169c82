"""The conditions of a class, and what its other keys let through, in one language."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from service.policies.classes import MemoryClass
from service.policies.lint.cel_tree import (
    All,
    Call,
    Constant,
    Field,
    Items,
    Name,
    Node,
    NotReadable,
    both,
    facts_in,
    read_tree,
)
from service.policies.read_yaml import Path
from service.policies.verdict import Existing, MemoryMode
from service.policies.words import RuleEffect, Trust

SHORTCUT: Final = "automatic_when"
PROVENANCE: Final = "provenance"
"""No key: it is asked of every proposal that it cites something."""


@dataclass(frozen=True, slots=True)
class Rule:
    """A condition of a class. Without an effect it is that of `approval.automatic_when`."""

    name: str
    effect: RuleEffect | None
    path: Path
    text: str
    tree: Node
    facts: frozenset[str]
    """What it asks for."""

    def counts(self, outcome: bool | None) -> bool:
        """Say whether the rule does something: what a denial or review cannot answer, it denies."""
        keeps_out = self.effect in (RuleEffect.DENY, RuleEffect.REVIEW)
        return outcome is True or (outcome is None and keeps_out)


def rules_of(memory_class: MemoryClass) -> Iterator[Rule]:
    """Yield the conditions that can be looked into, rules in the order of their names."""
    above: Path = ("classes", memory_class.name)
    for name, rule in sorted(memory_class.rules.items()):
        yield from _readable(name, rule.effect, (*above, "rules", name, "when"), rule.when)
    shortcut = memory_class.approval.automatic_when
    if shortcut is not None and shortcut.when is not None:
        yield from _readable(SHORTCUT, None, (*above, "approval", SHORTCUT, "when"), shortcut.when)


def _readable(name: str, effect: RuleEffect | None, path: Path, text: str) -> Iterator[Rule]:
    try:
        tree = read_tree(text)
        yield Rule(name, effect, path, text, tree, facts_in(tree))
    except NotReadable:
        return


def let_through(memory_class: MemoryClass) -> Mapping[str, Node]:
    """Answer for keys of the class what must hold of a proposal that they do not deny.

    It is part of what they ask, and never more: what is not told here is let through for all that is known.
    """
    found = {
        "confidence_min": _compare("confidence", "_>=_", "double", float(memory_class.confidence_min)),
        "value.text_characters_max": _compare(
            "text_characters", "_<=_", "int", memory_class.value.text_characters_max
        ),
        "value.value_types": _among(
            "value_type", ["none", *(kind.value for kind in memory_class.value.value_types)]
        ),
        "purposes": _among("purpose", memory_class.purposes),
        "writers": Call(
            "_?_:_",
            (
                Name("corrects"),
                _among("role", [role.value for role in memory_class.correctors]),
                _among("role", [role.value for role in memory_class.writers]),
            ),
        ),
        "memory_mode": _among("memory_mode", ["", MemoryMode.READ_WRITE.value]),
        "conflict": Call("_!=_", (Name("existing"), Constant("text", Existing.SAME.value))),
        "quota": Call(
            "_||_",
            (
                Call("_!=_", (Name("existing"), Constant("text", Existing.NONE.value))),
                _compare("quota_used", "_<_", "int", memory_class.quota),
            ),
        ),
        PROVENANCE: Call("_>_", (Call("size", (Name("sources"),)), Constant("int", 0))),
    }
    if memory_class.consent_needed:
        found["consent_needed"] = Name("consent")
    if memory_class.agents:
        found["agents"] = _among("agent", ["", *memory_class.agents])
    if memory_class.sources is not None:
        lowest = memory_class.sources.lowest_trust
        trusted = [trust.value for trust in Trust if trust.rank <= lowest.rank]
        found["sources.lowest_trust"] = All(
            Name("sources"), "$0", _among(Field(Name("$0"), "trust"), trusted)
        )
    return found


def together(keys: Mapping[str, Node]) -> Node:
    """Answer what must hold of a proposal that no key denies."""
    return both(*keys.values())


def _compare(fact: str, operator: str, kind: str, value: float) -> Node:
    return Call(operator, (Name(fact), Constant(kind, value)))


def _among(term: str | Node, words: Iterable[str]) -> Node:
    node = Name(term) if isinstance(term, str) else term
    return Call("@in", (node, Items(tuple(Constant("text", word) for word in words))))
