"""A bundle of thousands of faults costs seconds, not minutes, and its report stays readable."""

import time

from policies_bundle import PURPOSE

from service.policies.findings import FINDINGS_MAX, Severity, at_most, nearest
from service.policies.load import inspect_files

SECONDS_MAX = 4
"""Alone each takes about one; the machine is shared."""

_CLASS = """  {}:
    {{because: x, scope: project, purposes: [{}], lawful_basis: contract, writers: [agent], readers: [agent],
      sources: {{provenance: [turn], from_sources: [s], lowest_trust: internal_tool}}, confidence_min: 0.5,
      approval: {{by: reviewer}}, expiry: {{days: 1}}, quota: 1, destinations: [package],
      consent_needed: false}}
"""
_SOURCE = "sources:\n  s: {uri_prefix: 'turn://', trust: internal_tool, ceiling: conversation}\n"


def test_thousands_of_unknown_names_beside_thousands_of_known_ones_are_told_soon() -> None:
    # A minute and more, before the nearest name was looked for among the likeliest alone.
    purposes = "purposes:\n" + "".join(f"  purpose_long_name_{n}: {{description: d}}\n" for n in range(3_000))
    unknown = [f"purpose_lang_name_{n}" for n in range(1_500)]
    parts = [unknown[start : start + 30] for start in range(0, len(unknown), 30)]
    classes = "classes:\n" + "".join(_CLASS.format(f"c{n}", ", ".join(part)) for n, part in enumerate(parts))
    started = time.process_time()

    found = inspect_files({"a.yaml": purposes, "b.yaml": classes, "c.yaml": _SOURCE})

    assert time.process_time() - started < 2 * SECONDS_MAX
    assert {finding.code for finding in found.findings} == {"undeclared"}
    assert len(found.findings) == FINDINGS_MAX


def test_a_thousand_alike_sources_are_each_told_once() -> None:
    # Each with each were half a million findings.
    source = "  s{}: {{uri_prefix: a, trust: external_tool, ceiling: conversation}}\n"
    alike = "sources:\n" + "".join(source.format(n) for n in range(1_000))

    found = inspect_files({"a.yaml": alike})

    assert len(found.findings) == FINDINGS_MAX
    assert {finding.code for finding in found.findings} == {"ambiguous_source"}


def test_thousands_of_empty_lists_are_refused_soon() -> None:
    classes = "classes:\n" + "".join(f"  c{n}: {{purposes: [], writers: []}}\n" for n in range(3_000))
    started = time.process_time()

    assert inspect_files({"a.yaml": classes}).bundle is None
    assert time.process_time() - started < SECONDS_MAX


def test_no_number_of_warnings_hides_an_error() -> None:
    instructions = {f"instructions/n{n}.md": "Unused.\n" for n in range(150)}
    needs = "capability: nobody_has, approval: not_needed, approver: reviewer, longest_expiry_hours: 1"
    roles = "commands:\n" + "".join(f"  c.n{n}: {{{needs}}}\n" for n in range(600))
    bad = "classes:\n" + _CLASS.format("note", "nowhere")

    found = inspect_files(
        {**instructions, "a.yaml": PURPOSE, "b.yaml": roles, "c.yaml": bad, "d.yaml": _SOURCE}
    )

    assert found.bundle is None
    assert [one.code for one in found.findings if one.severity is Severity.ERROR] == ["undeclared"]
    assert len(at_most(found.findings, 1)) == 2


def test_a_look_alike_letter_is_named() -> None:
    (found,) = inspect_files({"a.yaml": "cl\u0430sses: {}\n", "good.yaml": PURPOSE}).findings

    assert "did you mean `classes`?" in found.message
    assert "U+0430 CYRILLIC SMALL LETTER A" in found.message


def test_of_many_known_names_some_are_listed() -> None:
    hint = nearest("zzz", [f"name_{n}" for n in range(5_000)])

    assert hint.endswith(" and 4970 more")
    assert len(hint) < 1_000
