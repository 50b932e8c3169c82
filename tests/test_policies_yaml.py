"""Policy files are read one way only: what readers of YAML differ about is refused where it stands."""

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from policies_bundle import PURPOSE, default_files, findings_of, only_finding

from service.policies.load import inspect_files
from service.policies.read_yaml import FINDINGS_MAX, read_yaml
from service.policies.scalars import Ambiguous, read_plain

ALIAS_BOMB = "a: &a [x, x]\nb: &b [*a, *a]\nc: &c [*b, *b]\nd: &d [*c, *c]\ne: [*d, *d]\n"


@pytest.mark.parametrize(
    "word",
    [
        "NO", "no", "Yes", "on", "OFF", "y", "N", "True", "FALSE", "~", "", "Null", "1.10", "22:30",
        "010", "0x1F", "0o17", "1_000", "1,000", "1e3", ".5", "+1", ".inf", "-.NaN", "2026-11-30", "<<", "=",
        "1.2.3", "12345678901234567890",
    ],
)  # fmt: skip
def test_a_word_that_readers_differ_about_is_refused(word: str) -> None:
    with pytest.raises(Ambiguous, match=r"write|quote"):
        read_plain(word)


@pytest.mark.parametrize(
    ("word", "value"),
    [("true", True), ("false", False), ("null", None), ("0", 0), ("-12", -12), ("0.7", 0.7), ("1.0", 1.0)],
)
def test_the_one_plain_spelling_is_read(word: str, value: object) -> None:
    assert read_plain(word) == value


@pytest.mark.parametrize("word", ["none", "nobody", "12 days", "v1", "a:b", "north", "2026", "10-20"])
def test_ordinary_words_stay_words_and_years_numbers(word: str) -> None:
    assert str(read_plain(word)) == word


@pytest.mark.parametrize(
    ("text", "code", "line", "column"),
    [
        ("purposes:\n  a:\n    description: NO\n", "ambiguous", 3, 18),
        ("purposes:\n  a:\n    description: 22:30\n", "ambiguous", 3, 18),
        (PURPOSE + "purposes: {}\n", "duplicate_key", 4, 1),
        ("purposes: &x {}\n", "anchor", 1, 11),
        ("purposes: *x\n", "alias", 1, 11),
        ("purposes: !!map {}\n", "tag", 1, 11),
        ("<<: {}\n", "ambiguous", 1, 1),
        ("1: {}\n", "key", 1, 1),
        ("? [a]\n: b\n", "key", 1, 3),
        ("%YAML 1.1\n---\npurposes: {}\n", "directive", 2, 1),
        ("purposes: {}\n---\npurposes: {}\n", "document", 2, 1),
        ("purposes:\n\ta: b\n", "tab", 2, 1),
        ("\ufeffpurposes: {}\n", "byte_order_mark", 1, 1),
        ("purposes: \x00\n", "nul", 1, 11),
        ('purposes: "\\0"\n', "character", 1, 11),
        ('purposes: "\\ud800"\n', "character", 1, 11),
        ("purposes: \u202eevil\n", "invisible_character", 1, 11),
        ("purposes: \U000e0041\n", "invisible_character", 1, 11),
        ("purposes: a: b\n", "syntax", 1, 12),
        ("purposes: 'a\n", "syntax", 2, 1),
        ("# nothing\n", "empty", 2, 1),
        ("just words\n", "not_a_mapping", 1, 1),
        ("- a list\n", "not_a_mapping", 1, 1),
    ],
)
def test_each_fault_is_told_with_its_place(text: str, code: str, line: int, column: int) -> None:
    finding = only_finding(text)

    assert (finding.code, finding.place.line, finding.place.column) == (code, line, column)


@pytest.mark.parametrize(
    "text", ["[" * 3_000, "a: " + "{" * 3_000, "- " * 3_000, "[" * 3_000 + "]" * 3_000], ids=range(4)
)
def test_three_thousand_brackets_are_a_finding(text: str) -> None:
    assert only_finding(text).code in {"depth", "key"}


def test_depth_up_to_the_limit_is_read() -> None:
    document, faults = read_yaml("a.yaml", "[" * 32 + "]" * 32)

    assert faults == ()
    assert document.content is not None


def test_an_alias_bomb_is_a_finding_before_it_is_expanded() -> None:
    started = time.perf_counter()

    assert only_finding(ALIAS_BOMB).code == "anchor"
    assert time.perf_counter() - started < 1


def test_a_file_full_of_faults_is_reported_up_to_a_limit() -> None:
    assert len(findings_of("a: NO\n" * 5_000)) == FINDINGS_MAX


def test_a_file_and_a_bundle_have_a_largest_size() -> None:
    too_large = "purposes: {}\n#" + "x" * 256 * 1024
    big = {f"f{number}.yaml": "#" + "x" * 200_000 for number in range(11)}

    assert only_finding(too_large).code == "file_too_large"
    assert [finding.code for finding in inspect_files(big).findings] == ["bundle_too_large"]


@given(st.text(max_size=200))
@settings(max_examples=200, deadline=None)
def test_no_text_makes_reading_crash_or_becomes_a_bundle_by_chance(text: str) -> None:
    found = inspect_files({"a.yaml": text, "instructions/a.md": text})

    assert found.bundle is None or not found.bundle.classes
    assert all(str(finding).isprintable() for finding in found.findings)


@given(st.data())
@settings(max_examples=40, deadline=None)
def test_a_damaged_default_bundle_is_refused_or_still_whole(data: st.DataObject) -> None:
    files = {path: text for path, text in default_files().items() if not path.startswith("tests/")}
    path = data.draw(st.sampled_from(sorted(files)))
    text = files[path]
    position = data.draw(st.integers(0, len(text) - 1))
    files[path] = text[:position] + data.draw(st.sampled_from("[]{}:&*!-#\"'\t 0NO\n")) + text[position + 1 :]

    found = inspect_files(files)

    assert (found.bundle is None) == any(finding.severity.value == "error" for finding in found.findings)
