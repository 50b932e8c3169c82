"""The tests of a bundle say what becomes of memories, packages, commands and runs, and tell what differs."""

from typing import Any

import pytest
from policies_bundle import FOLDER, default_bundle, default_files

from service.policies.load import Inspection, inspect_files, load_bundle
from service.policies.run_cases import CaseResult, run_cases

KEPT = '{class: preference, created_at: "2026-11-30T10:00:00Z", purpose: personalisation, consent_given: true'


def inspect(given: str, expect: str, now: str = "2026-12-01T10:00:00Z") -> Inspection:
    text = (
        'now: "2026-11-30T10:00:00Z"\ncases:\n  - name: A case\n'
        f'    now: "{now}"\n    given: {{{given}}}\n    expect: {{{expect}}}\n'
    )
    policies = {path: text for path, text in default_files().items() if not path.startswith("tests/")}
    return inspect_files({**policies, "tests/a.yaml": text})


def run(given: str, expect: str, **moment: Any) -> CaseResult:
    found = inspect(given, expect, **moment)
    assert found.findings == ()
    (result,) = run_cases(default_bundle(), found.cases, found.case_places)
    return result


@pytest.mark.parametrize(
    ("memory", "expect"),
    [
        ("}", "listed: true, readable: true, shown_in_package: true, kept: true, why_not: []"),
        (", reader: user}", "readable: true, shown_in_package: true"),
        (", reader: user, own: false}", "listed: false, readable: false, why_not: [reader]"),
        (", reader: reviewer}", "listed: false, readable: false, why_not: [reader]"),
        (", held: true}", "listed: false, readable: false, kept: true, why_not: [held]"),
        (", held: true, reader: user}", "listed: true, readable: false, why_not: [held]"),
        (', confirmed_at: "2026-12-01T09:00:00Z"}', 'expires_at: "2027-12-01T09:00:00Z"'),
        (', used_at: "2026-12-01T09:00:00Z"}', 'expires_at: "2027-11-30T10:00:00Z"'),
    ],
)
def test_a_memory_is_seen_by_those_whom_its_class_names(memory: str, expect: str) -> None:
    assert run(f"memory: {KEPT}{memory}", expect).differences == ()


@pytest.mark.parametrize(
    ("now", "expect"),
    [
        ("2027-11-30T09:59:59Z", "readable: true"),
        ("2027-11-30T10:00:00Z", "readable: false, listed: false, kept: true, why_not: [expired]"),
        ("2027-12-30T10:00:00Z", "kept: false, why_not: [expired]"),
    ],
)
def test_a_memory_ends_with_the_moment_and_its_words_follow(now: str, expect: str) -> None:
    assert run(f"memory: {KEPT}}}", expect, now=now).differences == ()


def test_all_that_keeps_a_memory_out_is_told_at_once() -> None:
    memory = (
        'memory: {class: preference, created_at: "2024-01-01T00:00:00Z", purpose: contact, reader: grader}'
    )

    result = run(memory, "readable: false, why_not: [expired, purpose, consent, reader]")

    assert result.differences == ()
    assert {"classes.preference.purposes", "classes.preference.consent_needed"} <= result.rules


@pytest.mark.parametrize(
    ("package", "expect"),
    [
        ("purpose: service, max_tokens: 4000, reply_reserve: 1000",
         "minima: {memories: 90, goal: 150}, maxima: {memories: 300}, allowed: true"),
        ("purpose: service, max_tokens: 4000", "classes: [project_convention, workflow_setting]"),
        ("purpose: service, max_tokens: 4000, for_person: false", "classes: [project_convention]"),
        ("purpose: gossip, max_tokens: 4000", "allowed: false, refused: purpose_unknown"),
        ("purpose: service, max_tokens: 4000, profile: x", "allowed: false, refused: profile_unknown"),
        ("purpose: service, max_tokens: 4000, sections: {memories: {min: 9, max: 8}}",
         "allowed: false, refused: request_inconsistent"),
        ("purpose: service, max_tokens: 4000, sections: {memories: {max: 8}}",
         "minima: {memories: 8}, maxima: {memories: 8}"),
    ],
)  # fmt: skip
def test_a_package_is_foreseen_without_a_database(package: str, expect: str) -> None:
    assert run(f"package: {{{package}}}", expect).differences == ()


@pytest.mark.parametrize(
    ("command", "expect"),
    [
        (
            "kind: payments.pay",
            "allowed: true, approval_needed: true, approver: reviewer, evidence_needed: 1",
        ),
        ("kind: orders.create", "approval_needed: false, rules: [commands.*]"),
        ("kind: orders.create, role: reviewer", "allowed: false, refused: capability_missing"),
    ],
)
def test_a_command_says_who_may_and_who_decides(command: str, expect: str) -> None:
    assert run(f"command: {{{command}}}", expect).differences == ()


def test_a_run_s_content_goes_after_its_class_s_days() -> None:
    run_over = 'execution: {retention: no_text, ended_at: "2026-11-30T10:00:00Z"}'
    unknown = 'execution: {retention: for_ever, ended_at: "2026-11-30T10:00:00Z"}'

    assert run(run_over, 'text: none, destroyed_at: "2027-02-28T10:00:00Z"').differences == ()
    assert run(unknown, "allowed: false, refused: retention_class_unknown").differences == ()


def test_what_differs_is_told_with_its_place_and_why() -> None:
    proposal = "proposal: {class: preference, purpose: personalisation, consent_given: true}"

    result = run(proposal, "decision: approved, reasons: [consent_missing]")

    assert (result.place.line, result.place.column) == (3, 5)
    decision, reasons = result.differences
    assert decision == "decision: expected approved, found denied"
    assert reasons.startswith("reasons: expected [consent_missing], found [provenance_missing]")
    assert reasons.endswith("(missing consent_missing; not expected provenance_missing)")
    assert result.because == ("provenance_missing: no source was cited (provenance)",)


def test_only_the_sections_that_are_named_are_compared() -> None:
    result = run("package: {purpose: service, max_tokens: 1000}", "maxima: {memories: 7}")

    assert result.differences == ("maxima of memories: expected 7, found 200",)


@pytest.mark.parametrize(
    ("given", "expect", "told"),
    [
        ("command: {kind: a}", "decision: denied", "`decision` is not what comes out of a given command"),
        ("command: {kind: a}, evidence: {uri: a}", "allowed: true", "give one of proposal, evidence, memory"),
        ("command: {kind: a, role: user, delegated: true}", "allowed: true", "only an agent's credential"),
        ("command: {kind: a}", "", "expects nothing always holds"),
        ('memory: {class: a, purpose: b, created_at: "2026-01-02T00:00Z", used_at: "2026-01-01T00:00Z"}',
         "kept: true", "used_at is before created_at"),
        ("package: {purpose: service, max_tokens: -1}", "allowed: true", "greater than or equal to 0"),
        ("command: {kind: a}", "aproved: true", "did you mean"),
    ],
)  # fmt: skip
def test_a_case_that_means_nothing_is_a_finding_with_a_place(given: str, expect: str, told: str) -> None:
    found = inspect(given, expect)

    assert found.bundle is None
    assert told in found.findings[0].message
    assert (found.findings[0].file, found.findings[0].place.line >= 3) == ("tests/a.yaml", True)


def test_the_folder_s_own_cases_know_their_places() -> None:
    found = inspect_files(default_files())
    text = (FOLDER / "tests" / "preference.yaml").read_text().splitlines()

    for case, place in zip(
        found.cases["tests/preference.yaml"].cases, found.case_places["tests/preference.yaml"], strict=True
    ):
        assert case.name in text[place.line - 1]


@pytest.mark.parametrize(
    ("destinations", "expect"),
    [
        ("[search]", "readable: true, shown_in_package: false, why_not: [destination]"),
        ("[package]", "readable: false, shown_in_package: true, why_not: [destination]"),
        ("[export]", "listed: true, readable: false, shown_in_package: false"),
    ],
)
def test_a_memory_goes_where_its_class_lets_it_go(destinations: str, expect: str) -> None:
    classes = default_files()["classes.yaml"]
    text = classes.replace("destinations: [package, search, export]", f"destinations: {destinations}")
    found = inspect(f"memory: {KEPT}}}", expect)

    bundle = load_bundle({**default_files(), "classes.yaml": text})

    assert run_cases(bundle, found.cases)[0].differences == ()
