"""What one bundle says otherwise than another, rule by rule, and whether that can only allow less. Pure."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from pydantic import BaseModel

from service.policies.classes import ClassRule, MemoryClass
from service.policies.model import Bundle
from service.policies.strictness import (
    CLASS,
    COMMAND,
    GUARDS,
    PROJECT_CLASS,
    RETENTION,
    ROLE,
    SEEN_SOURCE,
    SOURCE,
    STOPPING,
    Direction,
    Table,
)
from service.policies.words import ClassScope, RuleEffect

_STRICTNESS: Final = {RuleEffect.PERMIT: 0, None: 1, RuleEffect.REVIEW: 2, RuleEffect.DENY: 3}
"""How much rules of one condition keep out. Without any, nothing is kept out and nothing permitted."""
_ONE_LESS_IS_STRICTER: Final = frozenset({"classes", "purposes", "profiles", "roles"})
"""Sections of which what is taken out is allowed no more; elsewhere a wider rule steps in its place."""
_STANDING: Final = re.compile(r"\b(trust|authority)\b")
_NOTHING: Final[Table] = {}
_TABLES: Final[Mapping[str, Table]] = {
    "classes": CLASS,
    "purposes": _NOTHING,
    "profiles": _NOTHING,
    "commands": COMMAND,
    "retention": RETENTION,
    "roles": ROLE,
    "tools": _NOTHING,
}


@dataclass(frozen=True, slots=True)
class RuleChange:
    """One place of a bundle that says something else: what before and after, `None` where it says nothing."""

    path: str
    before: Any
    after: Any
    direction: Direction


def rule_changes(old: Bundle, new: Bundle) -> tuple[RuleChange, ...]:
    """Answer every place at which `new` differs from `old`, in the order of sections and names.

    Tests decide nothing and are not looked at: bundles that differ in them alone have no change.
    """
    changes: list[RuleChange] = []
    for section, table in _TABLES.items():
        changes += _of_section(section, getattr(old, section), getattr(new, section), table)
    sources = SEEN_SOURCE if _looks_at_standing(new) else SOURCE
    changes += _of_section("sources", _by_name(old), _by_name(new), sources)
    changes += _of_part("stopping", old.stopping, new.stopping, STOPPING)
    changes += _of_part("guards", old.guards, new.guards, GUARDS)
    for path in sorted(old.instructions.keys() | new.instructions.keys()):
        before, after = old.instructions.get(path), new.instructions.get(path)
        if before != after:
            changes.append(RuleChange(path, before, after, Direction.LOOSER))
    return tuple(changes)


def direction_of(changes: tuple[RuleChange, ...]) -> Direction:
    """Answer what changes come to together: looser if any is, neutral where there is none."""
    found = {change.direction for change in changes}
    if Direction.LOOSER in found:
        return Direction.LOOSER
    return Direction.STRICTER if found else Direction.NEUTRAL


def _looks_at_standing(bundle: Bundle) -> bool:
    """Say whether a condition of the bundle asks how far a source is believed, or how much it counts."""
    conditions = [rule.when for one in bundle.classes.values() for rule in one.rules.values()]
    shortcuts = [one.approval.automatic_when for one in bundle.classes.values()]
    conditions += [one.when for one in shortcuts if one is not None and one.when is not None]
    return any(_STANDING.search(condition) for condition in conditions)


def _by_name(bundle: Bundle) -> Mapping[str, BaseModel]:
    return {rule.name: rule for rule in bundle.sources}


def _of_section(
    section: str, old: Mapping[Any, BaseModel], new: Mapping[Any, BaseModel], table: Table
) -> Iterator[RuleChange]:
    for name in sorted(old.keys() | new.keys(), key=str):
        path, before, after = f"{section}.{name}", old.get(name), new.get(name)
        if before is None or after is None:
            is_less = after is None and section in _ONE_LESS_IS_STRICTER
            is_refusal = isinstance(after, MemoryClass) and after.refuses is not None
            direction = Direction.STRICTER if is_less or is_refusal else Direction.LOOSER
            yield RuleChange(path, _plain(before), _plain(after), direction)
        elif isinstance(before, MemoryClass) and isinstance(after, MemoryClass):
            yield from _of_class(path, before, after)
        else:
            yield from _of_part(path, before, after, table)


def _of_class(path: str, before: MemoryClass, after: MemoryClass) -> Iterator[RuleChange]:
    if before.refuses != after.refuses:
        # What a refusing class says beside its refusal counts for nothing.
        direction = Direction.STRICTER if before.refuses is None else Direction.LOOSER
        yield RuleChange(f"{path}.refuses", before.refuses, after.refuses, direction)
        return
    both_of_projects = before.scope is after.scope is ClassScope.PROJECT
    table = PROJECT_CLASS if both_of_projects else CLASS
    yield from _of_part(path, before, after, table, but=frozenset({"rules"}))
    for name in sorted(before.rules.keys() | after.rules.keys()):
        was, now = before.rules.get(name), after.rules.get(name)
        if was != now:
            yield RuleChange(f"{path}.rules.{name}", _plain(was), _plain(now), _of_rule(was, now))


def _of_rule(before: ClassRule | None, after: ClassRule | None) -> Direction:
    """Answer what a rule does that is new, gone or another one: a permit allows, the others keep out."""
    if before is not None and after is not None and before.when != after.when:
        return Direction.LOOSER
    was = None if before is None else before.effect
    now = None if after is None else after.effect
    return Direction.STRICTER if _STRICTNESS[now] > _STRICTNESS[was] else Direction.LOOSER


def _of_part(
    path: str, old: BaseModel, new: BaseModel, table: Table, *, but: frozenset[str] = frozenset()
) -> Iterator[RuleChange]:
    for name in type(old).model_fields:
        before, after = getattr(old, name), getattr(new, name)
        if before == after or name in but:
            continue
        rule, place = table.get(name), f"{path}.{name}"
        if isinstance(rule, Mapping):
            if isinstance(before, BaseModel) and isinstance(after, BaseModel):
                yield from _of_part(place, before, after, rule)
                continue
            rule = rule.get("")
        is_stricter = callable(rule) and rule(before, after)
        direction = Direction.STRICTER if is_stricter else Direction.LOOSER
        yield RuleChange(place, _plain(before), _plain(after), direction)


def _plain(value: Any) -> Any:  # noqa: ANN401 - whatever a bundle is made of
    """Answer a value as JSON has it."""
    match value:
        case BaseModel():
            return value.model_dump(mode="json")
        case tuple() | list():
            return [_plain(one) for one in value]
        case Mapping():
            return {str(name): _plain(one) for name, one in value.items()}
        case None | bool() | int() | float():
            return value
    return str(value)
