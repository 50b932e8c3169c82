"""Rules of one class beside each other: which of them another one makes superfluous.

The order of rules decides nothing, so what counts is what each holds for.
"""

from collections.abc import Iterator, Sequence
from typing import Final

from service.policies.classes import MemoryClass
from service.policies.lint.class_conditions import Rule, let_through, rules_of
from service.policies.lint.conditions import lint_condition
from service.policies.lint.decide import Decider, Undecided
from service.policies.lint.domains import Domains
from service.policies.lint.faults import Fault, error, warning
from service.policies.words import Approver, RuleEffect

_STRENGTH: Final = {None: 0, RuleEffect.PERMIT: 0, RuleEffect.REVIEW: 1, RuleEffect.DENY: 2}


def lint_rules(memory_class: MemoryClass, source_names: frozenset[str], budget: list[int]) -> Iterator[Fault]:
    """Yield what is wrong with the conditions of a class, within what `budget` leaves (`Decider.budget`)."""
    if memory_class.refuses is not None:
        for name in sorted(memory_class.rules):
            path = ("classes", memory_class.name, "rules", name)
            yield warning(path, "shadowed_rule", "the class refuses everything: leave its rules out")
        return
    decider = Decider(Domains(memory_class.name, source_names), budget)
    rules = list(rules_of(memory_class))
    faulty: set[str] = set()
    keys = let_through(memory_class)
    for rule in rules:
        for fault in lint_condition(rule, keys, decider):
            faulty.add(rule.name)
            yield fault
    # What is told already is not told again by comparing it with others.
    sound = [rule for rule in rules if rule.name not in faulty]
    yield from _beside_each_other(sound, decider)
    yield from _permits_of_nobody(memory_class)


def _beside_each_other(rules: Sequence[Rule], decider: Decider) -> Iterator[Fault]:
    for rule in rules:
        stronger = [
            other
            for other in rules
            if other is not rule
            and _STRENGTH[other.effect] >= _STRENGTH[rule.effect]
            and _comparable(rule, other)
        ]
        for other in sorted(stronger, key=lambda one: -_STRENGTH[one.effect]):
            if (fault := _because_of(rule, other, decider)) is not None:
                yield fault
                break


def _comparable(rule: Rule, other: Rule) -> bool:
    # Of different facts neither says anything about the other.
    if not rule.facts & other.facts:
        return False
    # A shortcut and a permit do different things, and never stand in one class.
    return _STRENGTH[rule.effect] != _STRENGTH[other.effect] or rule.effect is other.effect


def _because_of(rule: Rule, other: Rule, decider: Decider) -> Fault | None:
    try:
        outcomes = decider.outcomes(rule.tree, other.tree)
    except Undecided:
        return None
    if rule.effect is not other.effect:
        if all(other.counts(theirs) for ours, theirs in outcomes if rule.counts(ours)):
            wins = "denies" if other.effect is RuleEffect.DENY else "sends to a person"
            message = (
                f"rule `{other.name}` {wins} all that this would hold for, so it never counts: narrow one"
            )
            return error(rule.path, "unreachable_rule", message)
        return None
    if not all(_does_as_much(rule, ours, theirs) for ours, theirs in outcomes if rule.counts(ours)):
        return None
    alike = all(ours == theirs for ours, theirs in outcomes)
    if alike and rule.name < other.name:
        return None  # told once, of the other
    how = "holds for exactly the same" if alike else "holds wherever this does"
    return warning(rule.path, "shadowed_rule", f"rule `{other.name}` {how}: keep one, or narrow that one")


def _does_as_much(rule: Rule, ours: bool | None, theirs: bool | None) -> bool:
    # A review that cannot be answered denies, so that one that holds does less.
    return theirs is True if ours else theirs is None or (theirs is True and rule.effect is RuleEffect.DENY)


def _permits_of_nobody(memory_class: MemoryClass) -> Iterator[Fault]:
    if memory_class.approval.by is not Approver.AUTO:
        return
    for name, rule in sorted(memory_class.rules.items()):
        if rule.effect is RuleEffect.PERMIT:
            message = "with `approval.by: auto` nobody is asked in any case: leave the rule out"
            yield warning(("classes", memory_class.name, "rules", name), "shadowed_rule", message)
