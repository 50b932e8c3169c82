"""What is called stricter allows less, whatever the facts; everything else counts as looser."""

from collections import Counter
from datetime import timedelta
from random import Random
from typing import Any

import pytest
from policies_bundle import NOW, default_bundle, default_files
from policies_random import random_bundle, random_class, random_facts

from service.policies.classes import MemoryClass
from service.policies.differences import direction_of, rule_changes
from service.policies.evaluate import judge_proposal
from service.policies.load import load_bundle
from service.policies.model import Bundle
from service.policies.strictness import Direction
from service.policies.verdict import Outcome
from service.policies.words import Trust

RANK = {Outcome.APPROVED: 2, Outcome.PENDING_REVIEW: 1, Outcome.DENIED: 0}


def _changed(old: str, new: str, file: str = "classes.yaml") -> Bundle:
    files = dict(default_files())
    assert old in files[file]
    files[file] = files[file].replace(old, new, 1)
    return load_bundle(files)


def _of(changed: Bundle) -> dict[str, str]:
    changes = rule_changes(default_bundle(), changed)
    return {change.path: change.direction.value for change in changes}


@pytest.mark.parametrize(
    ("old", "new", "path", "direction"),
    [
        ("days: 365", "days: 30", "expiry.days", "stricter"),
        ("days: 365", "days: 366", "expiry.days", "looser"),
        ("counted_from: confirmation", "counted_from: creation", "expiry.counted_from", "stricter"),
        ("readers: [agent, user]", "readers: [user]", "readers", "stricter"),
        ("readers: [agent, user]", "readers: [agent, user, reviewer]", "readers", "looser"),
        ("readers: [agent, user]", "readers: [user, reviewer]", "readers", "looser"),
        ("quota: 200", "quota: 199", "quota", "stricter"),
        ("lowest_trust: internal_tool", "lowest_trust: first_party", "sources.lowest_trust", "stricter"),
        ("lowest_trust: internal_tool", "lowest_trust: third_party", "sources.lowest_trust", "looser"),
        ("confidence_min: 0.5", "confidence_min: 0.6", "confidence_min", "stricter"),
        ("conflict: supersede", "conflict: review", "conflict", "stricter"),
        ("sensitivity: personal", "sensitivity: ordinary", "sensitivity", "looser"),
        # A right of the person is never given up as strictness.
        ("destinations: [package, search, export]", "destinations: [package]", "destinations", "looser"),
        ("destinations: [package, ", "destinations: [", "destinations", "stricter"),
        ("because: a person", "because: each person", "because", "looser"),
    ],
)  # fmt: skip
def test_each_change_of_a_class_has_its_direction(old: str, new: str, path: str, direction: str) -> None:
    assert _of(_changed(old, new)) == {f"classes.preference.{path}": direction}


def test_a_person_who_may_no_longer_correct_loosens_the_policy() -> None:
    more = _changed("correctors: [user]", "correctors: [user, reviewer]")
    none = more.model_copy(
        update={
            "classes": {
                **more.classes,
                "preference": more.classes["preference"].model_copy(update={"correctors": ()}),
            }
        }
    )

    assert _of(more) == {"classes.preference.correctors": "looser"}
    assert _of(none) == {"classes.preference.correctors": "looser"}


@pytest.mark.parametrize(
    ("rules", "others", "direction"),
    [
        (None, ("deny", "relayed"), "stricter"),
        (None, ("review", "relayed"), "stricter"),
        (None, ("permit", "relayed"), "looser"),
        (("review", "relayed"), ("deny", "relayed"), "stricter"),
        (("deny", "relayed"), ("review", "relayed"), "looser"),
        (("deny", "relayed"), None, "looser"),
        (("permit", "relayed"), None, "stricter"),
        (("deny", "relayed"), ("deny", "consent"), "looser"),
    ],
)  # fmt: skip
def test_a_rule_that_comes_goes_or_changes_has_its_direction(
    rules: tuple[str, str] | None, others: tuple[str, str] | None, direction: str
) -> None:
    def with_rule(rule: tuple[str, str] | None) -> Bundle:
        if rule is None:
            return default_bundle()
        name = "  project_convention:\n"
        line = f"    rules: {{a: {{effect: {rule[0]}, when: {rule[1]}, because: x}}}}\n"
        return _changed(name, name + line)

    changes = rule_changes(with_rule(rules), with_rule(others))

    assert {(change.path, change.direction.value) for change in changes} == {
        ("classes.project_convention.rules.a", direction)
    }


@pytest.mark.parametrize(
    ("file", "old", "new", "path", "direction"),
    [
        ("retention.yaml", "days: 90", "days: 60", "retention.operational.days", "stricter"),
        ("retention.yaml", "text: full", "text: none", "retention.operational.text", "stricter"),
        ("retention.yaml", "days: 7", "days: 8", "retention.short.days", "looser"),
        ("purposes.yaml", "purposes:\n", "purposes:\n  more: {description: x}\n", "purposes.more", "looser"),
        ("sources.yaml", "trust: internal_tool", "trust: third_party", None, "stricter"),
    ],
)  # fmt: skip
def test_other_sections_have_theirs(file: str, old: str, new: str, path: str | None, direction: str) -> None:
    found = _of(_changed(old, new, file))

    assert set(found.values()) == {direction}
    assert path is None or set(found) == {path}


def test_tests_decide_nothing_and_instructions_may_say_anything() -> None:
    files = dict(default_files())
    told = {**files, "instructions/acting.md": files["instructions/acting.md"] + "\nObey.\n"}
    tested = {name: text for name, text in files.items() if name != "tests/preference.yaml"}

    assert rule_changes(default_bundle(), load_bundle(tested)) == ()
    assert direction_of(()) is Direction.NEUTRAL
    assert _of(load_bundle(told)) == {"instructions/acting.md": "looser"}


def test_a_class_that_comes_is_looser_and_one_that_goes_or_refuses_is_stricter() -> None:
    bundle = default_bundle()
    without = bundle.model_copy(
        update={"classes": {name: rule for name, rule in bundle.classes.items() if name != "preference"}}
    )
    refusing = MemoryClass.model_validate(
        {"name": "preference", "because": "x", "scope": "user", "refuses": "business_fact"}
    )
    refused = bundle.model_copy(update={"classes": {**bundle.classes, "preference": refusing}})

    assert _of(without) == {"classes.preference": "stricter"}
    assert [one.direction for one in rule_changes(without, bundle)] == [Direction.LOOSER]
    assert _of(refused) == {"classes.preference.refuses": "stricter"}
    assert [one.direction for one in rule_changes(refused, bundle)] == [Direction.LOOSER]


def test_what_stands_beside_a_refusal_counts_for_nothing() -> None:
    said = default_bundle().classes["preference"].model_dump(mode="json", exclude={"rules"})
    bare = {"name": "preference", "because": "x", "scope": "user", "refuses": "business_fact"}
    longer = {**said["expiry"], "days": 36_500}

    refusing = MemoryClass.model_validate({**said, **bare, "expiry": longer, "grace_days": 90})

    # Else a memory of before the refusal would end later by a change that is called stricter.
    assert refusing == MemoryClass.model_validate(bare)
    assert refusing.expiry is None


def _with_approval(by: str, **more: Any) -> Bundle:
    bundle = default_bundle()
    name = "project_convention" if more else "preference"
    said = bundle.classes[name].model_dump(mode="json") | {"approval": {"by": by}} | more
    return bundle.model_copy(update={"classes": {**bundle.classes, name: MemoryClass.model_validate(said)}})


@pytest.mark.parametrize(
    ("to", "direction"), [("subject", "stricter"), ("both", "stricter"), ("reviewer", "looser")]
)
def test_a_reviewer_stands_in_for_no_person_who_decided(to: str, direction: str) -> None:
    changes = rule_changes(_with_approval("auto"), _with_approval(to))

    assert direction_of(changes).value == direction


def test_a_reviewer_in_place_of_policy_alone_is_stricter_for_a_project() -> None:
    before, after = (_with_approval(by, scope="project") for by in ("auto", "reviewer"))

    assert direction_of(rule_changes(before, after)) is Direction.STRICTER


@pytest.mark.parametrize("effect", ["deny", "permit"])
def test_a_source_believed_less_may_loosen_what_a_condition_asks_of_it(effect: str) -> None:
    name = "  project_convention:\n"
    rule = f"{{effect: {effect}, when: 'sources.exists(s, s.trust == \"first_party\")', because: x}}"
    asked = _changed(name, f"{name}    rules: {{a: {rule}}}\n")
    first, *others = asked.sources
    lower = first.model_copy(update={"trust": Trust.THIRD_PARTY})
    believed = asked.model_copy(
        update={"sources": (first.model_copy(update={"trust": Trust.FIRST_PARTY}), *others)}
    )

    changes = rule_changes(believed, asked.model_copy(update={"sources": (lower, *others)}))

    assert [(one.path, one.direction.value) for one in changes] == [(f"sources.{first.name}.trust", "looser")]


def _mixed(random: Random, one: MemoryClass, other: MemoryClass) -> MemoryClass | None:
    """Answer the class with a few of the other one's fields, if that is a class."""
    names = random.sample(sorted(set(MemoryClass.model_fields) - {"name"}), random.randint(1, 3))
    fields: dict[str, Any] = {name: getattr(one, name) for name in one.model_fields_set}
    fields |= {name: getattr(other, name) for name in names if name in other.model_fields_set}
    try:
        return MemoryClass.model_validate(fields)
    except ValueError:
        return None


def test_what_is_called_stricter_never_lets_more_in_and_nothing_live_longer() -> None:
    random = Random(11)  # noqa: S311 - no secret hangs on it
    seen: Counter[str] = Counter()
    while seen["stricter"] < 150:
        old = random_bundle(random)
        changed = _mixed(random, old.classes["alpha"], random_class(random, "alpha"))
        if changed is None:
            continue
        new = old.model_copy(update={"classes": {**old.classes, "alpha": changed}})
        changes = rule_changes(old, new)
        direction = direction_of(changes)
        seen[direction.value] += 1
        if direction is not Direction.STRICTER:
            continue
        for _ in range(20):
            facts = random_facts(random)
            before, after = judge_proposal(facts, old, NOW), judge_proposal(facts, new, NOW)
            assert RANK[after.outcome] <= RANK[before.outcome], (changes, facts)
        was, now = old.classes["alpha"], changed
        if was.expiry is not None and now.expiry is not None:
            assert _end(now) <= _end(was), changes
        assert set(now.readers) <= set(was.readers)
        assert now.refuses is not None or set(now.purposes) <= set(was.purposes)

    assert seen["looser"] > 100


def _end(rule: MemoryClass) -> Any:
    assert rule.expiry is not None
    confirmed = NOW + timedelta(days=3)
    return rule.expiry.expires_at(created_at=NOW, confirmed_at=confirmed, used_at=confirmed)
