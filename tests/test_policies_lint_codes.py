"""Every code of lint has a smallest bundle that has it, a row in the guide, and is told in one place only."""

import ast
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

import pytest
from policies_lint_files import RULES, bundle_with, rule, with_rules
from test_policies_laws import BEHIND, TRIES

from service.policies.characters import FILE_BYTES_MAX
from service.policies.finding_codes import CODES
from service.policies.findings import BundleInvalid
from service.policies.lint.lint import lint_files
from service.policies.read_folder import read_folder
from service.policies.read_yaml import VALUES_MAX

ROOT: Final = Path(__file__).parents[1]
TELLERS: Final = [
    *(ROOT / "service" / "policies" / "lint").glob("*.py"),
    *(
        ROOT / "service" / "policies" / f"{name}.py"
        for name in ("characters", "cross_check", "laws", "load", "read_folder", "read_yaml", "validate_file")
    ),
]
OF_TEXTS: Final = {
    "alias": "purposes: *a\n", "ambiguous": "purposes: NO\n", "anchor": "purposes: &a {}\n",
    "bad_key": "purposes:\n  Big: {description: Big.}\n", "bad_value": "purposes:\n  a: {description: 1}\n",
    "byte_order_mark": "\ufeffpurposes: {}\n", "character": 'purposes: "\\0"\n',
    "control_character": "purposes: \x01\n", "depth": "a: " + "[" * 40, "directive": "%YAML 1.1\n---\na: b\n",
    "document": "purposes: {}\n---\npurposes: {}\n", "duplicate_key": "purposes: {}\npurposes: {}\n",
    "empty": "# nothing\n", "file_too_large": "#" * (FILE_BYTES_MAX + 1),
    "invisible_character": "purposes: \u202e\n", "key": "1: {}\n", "missing_key": "purposes:\n  a: {}\n",
    "not_a_mapping": "- a\n", "nul": "purposes: \x00\n", "surrogate": "purposes: \ud800\n",
    "syntax": "purposes: [\n", "tab": "purposes:\t{}\n", "tag": "purposes: !!map {}\n",
    "too_many_values": "a: [" + "1, " * (VALUES_MAX + 1) + "1]\n", "unknown_key": "purpose: {}\n",
}  # fmt: skip
BIG: Final = "#" * FILE_BYTES_MAX
OF_BUNDLES: Final[Mapping[str, Mapping[str, str]]] = {
    **{code: {"a.yaml": text} for code, text in OF_TEXTS.items()},
    "ambiguous_source": bundle_with(
        "sources:\n", "sources:\n  b: {uri_prefix: 'bank://', trust: third_party, ceiling: document}\n"
    ),
    "always_holds": with_rules(rule("permit", '"true"')),
    "bundle_too_large": {f"a{number}.yaml": BIG for number in range(9)},
    "condition": with_rules(rule("deny", "agnet == 'a'")),
    "contradiction": bundle_with("lawful_basis: contract", "lawful_basis: consent"),
    "dead_key": bundle_with("{days: 90}", "{days: 90, idle_days: 91}"),
    "defined_twice": {"a.yaml": RULES, "b.yaml": RULES},
    "expiry_before_hold": bundle_with("{days: 90}", "{days: 1}\n    grace_days: 30"),
    "goes_nowhere": bundle_with("[package, search]", "[]"),
    "never_holds": with_rules(rule("deny", "confidence > 0.9 && confidence < 0.1")),
    "no_files": {"instructions/a.md": "Read this."},
    "no_source": bundle_with("[conversation, bank]", "[bank]"),
    "nobody": bundle_with("readers: [agent, user]", "readers: [agent, admin]"),
    "nobody_reads": bundle_with("readers: [agent, user]", "readers: []"),
    "nobody_writes": bundle_with("writers: [agent, user]", "writers: []"),
    "shadowed_rule": with_rules(rule("deny", "text_characters > 500")),
    "strange_word": with_rules(rule("deny", "role == 'agnet'")),
    "takes_nothing": with_rules(rule("deny", '"true"')),
    "too_many_files": {f"a{number}.yaml": RULES for number in range(201)},
    "undeclared": bundle_with("purposes: [service]", "purposes: [servce]"),
    "unexpected_file": {"A.yaml": RULES},
    "unreachable_rule": with_rules(rule("permit", "confidence < 0.1")),
    "untested": {"rules.yaml": RULES},
    "unused": bundle_with("purposes:\n", "purposes:\n  more: {description: More.}\n"),
    **{law: bundle_with(old, new) for law, _, old, new in TRIES},
    **{law: bundle_with(more=more) for law, _, more in BEHIND},
}


def _nowhere(folder: Path) -> Path:
    return folder / "nowhere"


def _linked(folder: Path) -> Path:
    (folder / "a.yaml").symlink_to(folder / "b.yaml")
    return folder


def _latin(folder: Path) -> Path:
    (folder / "a.yaml").write_bytes(b"purposes: {} # \xe9\n")
    return folder


OF_FOLDERS: Final[Mapping[str, Callable[[Path], Path]]] = {
    "encoding": _latin,
    "no_folder": _nowhere,
    "not_a_file": _linked,
}
ELSEWHERE: Final = {"unreadable": "test_policies_lint_output.py"}
"""Codes that need a machine that says no: where their test is."""


@pytest.mark.parametrize("code", OF_BUNDLES)
def test_each_code_has_a_smallest_bundle_with_a_place_in_a_file(code: str) -> None:
    files = OF_BUNDLES[code]
    found = [one for one in lint_files(files).findings if one.code == code]

    assert found
    for finding in found:
        assert finding.file in ("", *files)
        assert finding.place.line <= len(files.get(finding.file, "").split("\n"))
        assert finding.message
        assert len(finding.message) < 400


@pytest.mark.parametrize("code", OF_FOLDERS)
def test_each_code_of_a_folder_has_a_folder(code: str, tmp_path: Path) -> None:
    with pytest.raises(BundleInvalid) as caught:
        read_folder(OF_FOLDERS[code](tmp_path))

    assert [one.code for one in caught.value.findings] == [code]


def test_no_code_is_without_a_test() -> None:
    assert {*OF_BUNDLES, *OF_FOLDERS, *ELSEWHERE} == set(CODES)
    assert all(code in (ROOT / "tests" / file).read_text() for code, file in ELSEWHERE.items())


def test_each_code_has_a_row_in_the_guide_with_its_meaning_and_no_row_is_without_a_code() -> None:
    guide = (ROOT / "docs" / "policies.md").read_text().partition("### Codes")[2].partition("\n## ")[0]
    rows = dict(re.findall(r"^\| `([a-z_]+)` \| (?:error|warning|either) \| (.*) \|$", guide, re.MULTILINE))

    assert rows == CODES
    assert list(rows) == sorted(rows)


def test_every_code_that_is_told_is_known() -> None:
    told = {
        text
        for path in TELLERS
        for call in ast.walk(ast.parse(path.read_text()))
        if isinstance(call, ast.Call)
        for text in _codes_told(call)
    }

    assert told <= set(CODES), told - set(CODES)
    assert len(told) > 30


def _codes_told(call: ast.Call) -> list[str]:
    name = call.func.id if isinstance(call.func, ast.Name) else getattr(call.func, "attr", "")
    number = {
        "Finding": 2,
        "Fault": 1,
        "error": 1,
        "warning": 1,
        "finding": 0,
        "note": 1,
        "add": 1,
        "stop": 1,
    }
    place = number.get(name)
    if place is None or len(call.args) <= place:
        return []
    argument = call.args[place]
    return [argument.value] if isinstance(argument, ast.Constant) and isinstance(argument.value, str) else []
