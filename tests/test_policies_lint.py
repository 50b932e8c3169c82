"""Lint tells what is provably not meant, with its place, its path and what would be right."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

import pytest
from policies_bundle import FOLDER
from policies_lint_files import RULES, bundle_with, codes_of, findings_of, rule, with_rules

from service.policies.findings import Severity
from service.policies.lint.ending import LiveHolds
from service.policies.lint.lint import lint_files
from service.policies.read_folder import read_folder

EXAMPLES: Final = sorted((Path(__file__).parents[1] / "docs" / "examples" / "policies").iterdir())
NOW: Final = datetime(2026, 11, 30, 10, 0, tzinfo=UTC)


@pytest.mark.parametrize("folder", [FOLDER, *EXAMPLES], ids=lambda folder: folder.name)
def test_the_default_bundle_and_each_example_have_no_finding(folder: Path) -> None:
    found = lint_files(read_folder(folder))

    assert found.bundle is not None
    assert found.findings == ()


def test_the_small_bundle_of_these_tests_has_no_finding() -> None:
    assert lint_files(bundle_with()).findings == ()


@pytest.mark.parametrize(
    ("rules", "code", "message"),
    [
        ([rule("deny", "confidence > 0.9 && confidence < 0.1")], "never_holds", "this never holds"),
        ([rule("permit", "agent in []")], "never_holds", "leave the rule out"),
        (
            [rule("review", 'role == "agnet"')],
            "strange_word",
            "`role` is never `agnet`: did you mean `agent`?",
        ),
        ([rule("deny", 'sources.exists(s, s.trust == "third")')], "strange_word", "the `trust` of a source"),
        ([rule("deny", "'\"emial\" in detections'")], "strange_word", "did you mean `email`?"),
        ([rule("deny", 'class_name == "other"')], "strange_word", "did you mean `note`?"),
        ([rule("deny", "own_words || !own_words")], "takes_nothing", "the class takes nothing"),
        (
            [rule("deny", "confidence >= 0.5")],
            "takes_nothing",
            "that the other keys of the class let through",
        ),
        ([rule("permit", '"true"')], "always_holds", "by: auto"),
        ([rule("review", "confidence > 0.4")], "always_holds", "for every proposal that the other keys"),
        ([rule("permit", "confidence < 0.3")], "unreachable_rule", "`confidence_min` denies"),
        ([rule("permit", 'purpose == "other"')], "unreachable_rule", "`purposes` denies"),
        ([rule("review", 'role == "reviewer"')], "unreachable_rule", "`writers` denies"),
        ([rule("review", "quota_used > 10 && existing == 'none'")], "unreachable_rule", "`quota` denies"),
        ([rule("deny", "text_characters > 500")], "shadowed_rule", "adds a reason and decides nothing"),
        (
            [rule("deny", 'agent in ["a", "b"]', "wide"), rule("permit", 'agent == "a"', "narrow")],
            "unreachable_rule",
            "rule `wide` denies all that this would hold for",
        ),
        (
            [rule("review", "relayed", "wide"), rule("permit", "relayed && own_words", "narrow")],
            "unreachable_rule",
            "rule `wide` sends to a person",
        ),
        (
            [rule("deny", 'agent == "a"', "narrow"), rule("deny", 'agent in ["a", "b"]', "wide")],
            "shadowed_rule",
            "rule `wide` holds wherever this does",
        ),
        (
            [rule("deny", 'agent == "a"', "first"), rule("deny", "'\"a\" == agent'", "second")],
            "shadowed_rule",
            "rule `first` holds for exactly the same",
        ),
    ],
)
def test_a_condition_that_is_not_meant_so_is_told(rules: list[str], code: str, message: str) -> None:
    (finding,) = findings_of(with_rules(*rules))

    assert (finding.code, finding.path) == (code, f"classes.note.rules.{_name(finding.path)}.when")
    assert message in finding.message
    assert RULES.count("\n") < finding.place.line <= RULES.count("\n") + 1 + 4 * len(rules)
    errors = ("never_holds", "strange_word", "takes_nothing", "unreachable_rule")
    assert finding.severity is (Severity.ERROR if code in errors else Severity.WARNING)


def _name(path: str) -> str:
    return path.split(".")[3]


@pytest.mark.parametrize(
    "rules",
    [
        [rule("deny", 'agent == "a"'), rule("permit", 'agent in ["a", "b"]', "two")],
        [rule("deny", "1 / quota_used == 1"), rule("deny", "1 / quota_used == 2", "two")],
        [rule("review", 'now > timestamp("2027-01-01T00:00:00Z")')],
        [rule("deny", "sources.exists(s, s.relayed)"), rule("review", "sources.exists(s, s.own)", "two")],
        [rule("deny", 'project.matches("a.*")'), rule("deny", 'project == "a"', "two")],
    ],
)
def test_what_may_be_meant_so_is_left_alone(rules: list[str]) -> None:
    assert codes_of(with_rules(*rules)) == []


def test_a_word_that_a_fact_never_is_has_its_own_place() -> None:
    (finding,) = findings_of(with_rules(rule("deny", "role == 'agnet' && consent")))
    line = finding.place.line - RULES.count("\n")

    assert (line, finding.place.column) == (4, len("        when: role == ") + 1)


def test_the_condition_of_a_shortcut_is_looked_at_too() -> None:
    by = "approval: {by: subject, automatic_when: {confidence_min: 0.7, when: 'relayed && !relayed'}}"

    (finding,) = findings_of(bundle_with("approval: {by: subject}", by))

    assert (finding.code, finding.path) == ("never_holds", "classes.note.approval.automatic_when.when")


@pytest.mark.parametrize(
    ("old", "new", "expected", "path"),
    [
        ("writers: [agent, user]", "writers: []", "nobody_writes", "writers"),
        ("writers: [agent, user]", "writers: [auditor]", "nobody_writes", "writers"),
        ("writers: [agent, user]", "writers: [agent, auditor]", "nobody", "writers[1]"),
        ("quota: 10", "quota: 0", "nobody_writes", "quota"),
        ("readers: [agent, user]", "readers: []", "nobody_reads", "readers"),
        ("readers: [agent, user]", "readers: [agent, operator]", "nobody", "readers[1]"),
        ("destinations: [package, search]", "destinations: [export]", "goes_nowhere", "destinations"),
        ("    destinations: [package, search]\n", "", "goes_nowhere", ""),
        ("trust: internal_tool", "trust: third_party", "no_source", "sources.from_sources[1]"),
        ("[conversation, bank]", "[bank]", "no_source", "sources.provenance[0]"),
        ("[turn, evidence]", "[turn]", "no_source", "sources.from_sources[1]"),
        ("internal_tool}", "internal_tool, own_words: turn}", None, ""),
        ("expiry: {days: 90}", "expiry: {days: 90, idle_days: 90}", "dead_key", "expiry.idle_days"),
        ("expiry: {days: 90}", "expiry: {days: 7}\n    grace_days: 30", "expiry_before_hold", "expiry.days"),
    ],
)
def test_keys_that_cannot_do_what_they_say_are_told(
    old: str, new: str, expected: str | None, path: str
) -> None:
    found = findings_of(bundle_with(old, new))

    where = f"classes.note.{path}".removesuffix(".")
    told = [(one.code, one.path) for one in found if one.code not in ("unreachable_rule", "never_holds")]
    assert told == ([] if expected is None else [(expected, where)])


@pytest.mark.parametrize(
    ("more", "path"),
    [
        (
            (
                "  web: {uri_prefix: 'https://', trust: third_party, ceiling: document}\n"
                "  page: {uri_prefix: 'https://x', trust: third_party, ceiling: document}\n"
            ),
            "sources.page",
        ),
        ("  more: {description: Something else.}\n", "purposes.more"),
    ],
)
def test_what_nothing_uses_is_told(more: str, path: str) -> None:
    section = f"{path.partition('.')[0]}:\n"

    (finding,) = findings_of(bundle_with(section, section + more))

    assert (finding.code, finding.path, finding.severity) == ("unused", path, Severity.WARNING)


def test_a_profile_that_says_the_same_and_a_capability_that_nothing_needs_are_told() -> None:
    files = dict(read_folder(FOLDER))
    head, _, default = files["profiles.yaml"].partition("  default:\n")
    default = default.partition("\n  handoff:")[0]
    files["profiles.yaml"] = f"{head}  default:\n{default}\n  copy:\n{default}\n"
    files["access.yaml"] = files["access.yaml"].replace(
        "user: {capabilities: [", "user: {capabilities: [sing, "
    )

    told = {(one.code, one.path) for one in findings_of(files) if one.code == "unused"}

    assert told >= {("unused", "profiles.copy"), ("unused", "roles.user.capabilities[0]")}


def test_a_rule_without_a_test_is_told_at_its_name() -> None:
    files = {**with_rules(rule("review", "relayed && own_words && confidence > 0.9"))}

    (finding,) = lint_files(files).findings

    assert (finding.code, finding.path) == ("untested", "classes.note.rules.one")
    assert (finding.place.line, finding.place.column) == (RULES.count("\n") + 2, 7)
    assert lint_files(files).bundle is not None


def test_live_holds_that_last_longer_than_a_memory_are_told() -> None:
    days = (None, NOW + timedelta(days=100), NOW + timedelta(days=400))

    (finding,) = findings_of(bundle_with(), LiveHolds(NOW, days))

    assert (finding.code, finding.path) == ("expiry_before_hold", "classes.note.expiry.days")
    assert finding.message.startswith("2 live legal holds of the tenant last longer than these 120 days")
    assert codes_of(bundle_with(), LiveHolds(NOW, (NOW + timedelta(days=120),))) == []


def test_a_class_for_project_that_nobody_reads_is_an_error_and_for_a_person_a_warning() -> None:
    project = bundle_with("scope: user", "scope: project")
    files: Mapping[str, str] = {
        **project,
        "rules.yaml": project["rules.yaml"]
        .replace("readers: [agent, user]", "readers: []")
        .replace("by: subject", "by: reviewer"),
    }

    assert [(one.code, one.severity) for one in findings_of(files)] == [("nobody_reads", Severity.ERROR)]
    assert [one.severity for one in findings_of(bundle_with("readers: [agent, user]", "readers: []"))] == [
        Severity.WARNING
    ]
