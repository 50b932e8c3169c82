"""Edits change the lines that they are about; what the schema refuses is refused with its place."""

from copy import deepcopy
from typing import Any

import pytest
from policies_bundle import PURPOSE, default_bundle, default_files
from policies_edit_files import LAID_OUT, at, content_of

from service.policies.edit import Edit, edit_files
from service.policies.load import load_bundle
from service.policies.read_yaml import Value
from service.policies.rewrite import rewrite


def edit(text: str, path: str, value: Value = None, **how: Any) -> str:
    """Answer the one file after an edit that is made."""
    done = edit_files({"a.yaml": text}, [Edit(path, value, **how)])
    assert done.files is not None, done.findings
    return done.files["a.yaml"]


def finding(path: str, value: Value = None, *, text: str = LAID_OUT, **how: Any) -> str:
    """Answer what is said about an edit that is refused."""
    done = edit_files({"a.yaml": text}, [Edit(path, value, **how)])
    assert done.files is None
    return str(done.findings[0])


@pytest.mark.parametrize(
    ("path", "value", "before", "after"),
    [
        ("guards.max_affected", 11, "max_affected: 10, # ten", "max_affected: 11, # ten"),
        ("purposes.service.description", "More.", '"Doing the work."}   #', '"More."}   #'),
        ("purposes.other.description", "it's: more", "'it''s: quoted'", "'it''s: more'"),
        ("purposes.other.description", "plain", "'it''s: quoted'", "plain"),
        ("classes.note.scope", "NO", "scope: project", "scope: 'NO'"),
        ("classes.note.because", "short", "a long sentence that\n      is folded", "short"),
        ("classes.note.purposes", ["service"], "      # between\n      - other\n", "      # between\n"),
        ("classes.note.purposes.2", "third", "      - other\n", "      - other\n      - third\n"),
        ("classes.note.purposes", ["new", "service", "other"], "- service ", "- new\n      - service "),
        ("classes.note.rules.one.because", "a\nb\n", "it is so.\n          Really.", "a\n          b"),
        ("classes.note.rules.one.when", "true", 'agent == "a" ||\n          agent == "b"', "true"),
        ("guards.max_affected_percent", 7, "percent: 5}", "percent: 5, max_affected_percent: 7}"),
    ],
)  # fmt: skip
def test_an_edit_is_what_a_careful_person_would_write(
    path: str, value: Value, before: str, after: str
) -> None:
    assert LAID_OUT.count(before) == 1
    content = content_of(LAID_OUT)
    # The bundle of this text would not load in all of these cases, so its file alone is looked at.
    words = tuple(int(word) if word.isdecimal() else word for word in path.split("."))
    wanted: Any = deepcopy(content)
    parent = at(wanted, words[:-1])
    if isinstance(parent, list) and words[-1] == len(parent):
        parent.append(value)
    else:
        parent[words[-1]] = value

    assert rewrite(LAID_OUT, content, wanted) == LAID_OUT.replace(before, after)


def test_an_expiry_is_changed_in_place_and_nothing_else() -> None:
    done = edit_files(default_files(), [Edit("classes.preference.expiry.days", 180)])

    assert done.files is not None
    assert list(done.differences) == ["classes.yaml"]
    changed = [line for line in done.differences["classes.yaml"].splitlines() if line[:1] in "+-"]
    assert changed == [
        "--- classes.yaml", "+++ classes.yaml",
        "-    expiry: {days: 365, counted_from: confirmation}",
        "+    expiry: {days: 180, counted_from: confirmation}",
    ]  # fmt: skip
    assert load_bundle(done.files).classes["preference"].expiry.days == 180  # type: ignore[union-attr]
    assert {path for path in done.files if done.files[path] != default_files()[path]} == {"classes.yaml"}


def test_a_class_that_is_added_stands_apart_as_the_others_do() -> None:
    new: Value = {
        "because": "a person should be called by the name that they like.",
        "scope": "user", "refuses": "business_fact",
    }  # fmt: skip

    done = edit_files(default_files(), [Edit("classes.nickname", new)])

    assert done.files is not None
    assert done.files["classes.yaml"].endswith(
        "\n\n  nickname:\n    because: a person should be called by the name that they like.\n"
        "    scope: user\n    refuses: business_fact\n"
    )
    again = edit_files(done.files, [Edit("classes.nickname", remove=True)])
    assert again.files == default_files()


def test_keys_with_dots_are_found_as_findings_print_them() -> None:
    done = edit_files(default_files(), [Edit("commands.payments.*.longest_expiry_hours", 3)])
    quoted = edit_files(default_files(), [Edit('commands."payments.*".longest_expiry_hours', 3)])

    assert done.files is not None
    assert load_bundle(done.files).commands["payments.*"].longest_expiry_hours == 3
    assert quoted == done


def test_mappings_between_are_made() -> None:
    text = PURPOSE + "classes:\n  note: {because: x, scope: project, refuses: business_fact}\n"

    assert edit(text, "classes.note.expiry.days", 3).endswith("refuses: business_fact, expiry: {days: 3}}\n")
    assert edit(text, "guards.max_affected", 3, file="a.yaml") == text + "guards: {max_affected: 3}\n"


@pytest.mark.parametrize(
    ("path", "value", "said"),
    [
        ("guards.max_affected", "many", "a.yaml:9:24: error bad_value: "),
        ("guards.max_afected", 1, "a.yaml:10:25: error unknown_key: `max_afected` is not known here: did"),
        ("classes.note.rules.one.when", "3", "a.yaml:29:11: error condition: this answers int"),
        ("classes.note.purposes.5", "x", "a.yaml:18:7: error bad_edit: a list's entries are counted: 2 adds"),
        ("classes.note.scope.deep", "x", "a.yaml:16:12: error bad_edit: `deep` cannot stand inside"),
        ("sources.web.trust", "x", ":1:1: error bad_edit: no file has `sources`"),
        ("../etc/passwd", "x", ":1:1: error bad_edit: `../etc/passwd`: a path is like"),
        ("", "x", ":1:1: error bad_edit: ``: a path is like"),
        ("a" * 600, "x", ":1:1: error bad_edit: "),
        (".".join("a" * 40), "x", "nothing stands deeper"),
        ("guards.max_affected", 1e300, "a.yaml:9:24: error bad_edit: 1e+300 is no plain number"),
        ("guards.max_affected", 10**20, "a.yaml:9:24: error bad_edit: 100000000000000000000 is no plain"),
        ("purposes.other.description", "a\x00b", "a.yaml:8:18: error bad_edit: no policy file"),
        ("purposes.other.description", "a\u202eb", "a.yaml:8:18: error bad_edit: no policy file"),
        ("purposes.other.description", "a\ud800b", "a.yaml:8:18: error bad_edit: no policy file"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_refused_with_its_place(path: str, value: Value, said: str) -> None:
    assert said in finding(path, value)


def test_what_is_taken_out_must_be_there_and_must_leave_something() -> None:
    text = PURPOSE + "guards: {max_affected: 1}\n"

    assert "there is no `b` to take out: known here: max_affected" in finding(
        "guards.b", remove=True, text=text
    )
    assert edit(text, "guards.max_affected", remove=True) == PURPOSE + "guards: {}\n"
    assert edit(text, "guards", remove=True) == PURPOSE
    assert "`description` is missing" in finding("purposes.service.description", remove=True, text=text)
    assert "nothing would be left" in finding("purposes", remove=True, text=PURPOSE)


def test_a_comment_that_lost_what_stood_below_it_is_named() -> None:
    text = PURPOSE + "  # For those who pay.\n  paid: {description: Paying.}\n  more: {description: More.}\n"

    done = edit_files({"a.yaml": text}, [Edit("purposes.paid", remove=True)])

    assert done.files == {"a.yaml": PURPOSE + "  # For those who pay.\n  more: {description: More.}\n"}
    (told,) = done.findings
    assert str(told).startswith(
        "a.yaml:4:3: warning comment_left: this comment stood above what was taken out"
    )


def test_where_two_files_could_be_meant_one_is_named() -> None:
    files = {"a.yaml": PURPOSE, "b.yaml": PURPOSE.replace("service", "other")}
    new: Value = {"description": "More."}

    vague = edit_files(files, [Edit("purposes.more", new)])
    named = edit_files(files, [Edit("purposes.more", new, file="b.yaml")])
    wrong = edit_files(files, [Edit("purposes.more", new, file="../b.yaml")])

    assert "stands in a.yaml, b.yaml: say which" in str(vague.findings[0])
    assert named.files == {**files, "b.yaml": files["b.yaml"] + "  more: {description: More.}\n"}
    assert "there is no such policy file" in str(wrong.findings[0])


def test_several_edits_are_all_made_or_none() -> None:
    good, bad = Edit("classes.preference.quota", 7), Edit("classes.preference.quota", "many")

    both = edit_files(default_files(), [good, Edit("classes.preference.expiry.days", 7)])
    broken = edit_files(default_files(), [good, bad])

    assert both.files is not None
    assert load_bundle(both.files).classes["preference"].quota == 7
    assert broken.files is None
    assert [one.code for one in broken.findings] == ["bad_value"]
    assert load_bundle(default_files()) == default_bundle()


def test_a_test_beside_the_rules_is_edited_by_its_file() -> None:
    file = "tests/preference.yaml"

    done = edit_files(default_files(), [Edit("cases.0.name", "Another name", file=file)])

    assert done.files is not None
    changed = [line for line in done.differences[file].splitlines()[2:] if line[:1] in "+-"]
    assert len(changed) == 2
    assert changed[1] == "+  - name: Another name"


def test_a_bundle_with_errors_elsewhere_is_not_edited() -> None:
    files = {**default_files(), "more.yaml": "classes: [\n"}

    done = edit_files(files, [Edit("classes.preference.quota", 7)])

    assert done.files is None
    assert done.findings[0].file == "more.yaml"
