"""`policy test` tells which rules no test decides by, for people and for build servers, and fast."""

import json
import shutil
import time
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from policies_bundle import FOLDER, default_bundle, default_files

from service.entry.cli import main
from service.policies.coverage import coverage, uncovered
from service.policies.junit import JUnitCase, write_junit
from service.policies.load import inspect_files
from service.policies.run_cases import run_cases

FILES = default_files()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return Path(shutil.copytree(FOLDER, tmp_path / "policies"))


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str]:
    code = main(["policy", "test", *arguments])
    return code, capsys.readouterr().out


def parse(text: str) -> ET.Element:
    return ET.fromstring(text)  # noqa: S314 - our own output


def without(*names: str) -> dict[str, str]:
    return {path: text for path, text in FILES.items() if path not in names}


def test_the_default_bundle_decides_by_every_rule_and_key_of_its_own() -> None:
    found = inspect_files(FILES)
    measured = coverage(default_bundle(), found.cases, run_cases(default_bundle(), found.cases))

    assert (measured.missing, measured.percent) == ((), 100)
    assert uncovered(default_bundle(), found.cases) == ()


def test_a_rule_without_a_test_is_named_by_its_path() -> None:
    found = inspect_files(without("tests/effects.yaml", "tests/business_fact.yaml"))
    assert found.bundle is not None

    assert uncovered(found.bundle, found.cases) == (
        "classes.business_fact",
        *("commands.*", "commands.payments.*"),
        *("retention.operational", "retention.short", "retention.no_text"),
    )


def test_a_test_that_fails_proves_nothing() -> None:
    text = FILES["tests/business_fact.yaml"].replace("trust: first_party}\n", "trust: third_party}\n")
    found = inspect_files({**FILES, "tests/business_fact.yaml": text})
    assert found.bundle is not None

    assert uncovered(found.bundle, found.cases) == ("classes.business_fact",)


def test_an_end_that_no_test_expects_is_not_tested() -> None:
    text = FILES["tests/kept.yaml"].replace('expires_at: "2027-05-29T10:00:00Z", ', "")
    found = inspect_files({**FILES, "tests/kept.yaml": text})
    assert found.bundle is not None

    measured = coverage(found.bundle, found.cases, run_cases(found.bundle, found.cases))

    assert measured.missing == ("classes.contact_detail.expiry",)


def test_coverage_below_the_minimum_is_a_no(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "tests" / "effects.yaml").unlink()

    lenient, out = run(capsys, str(folder), "--coverage", "--min", "90")
    strict, _ = run(capsys, str(folder), "--min", "100")

    assert (lenient, strict) == (0, 1)
    assert "no test decides by commands.payments.*" in out


def test_a_failure_is_told_with_file_line_and_column(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    classes = folder / "classes.yaml"
    classes.write_text(classes.read_text().replace("quota: 20\n", "quota: 21\n"))
    path = folder / "tests" / "contact_detail.yaml"
    line = path.read_text().splitlines().index("  - name: Twenty addresses are enough") + 1

    code, out = run(capsys, str(folder))

    assert code == 1
    assert f"{path}:{line}:5: Twenty addresses are enough\n    decision: expected denied" in out
    assert "because review_required: the subject decides (classes.contact_detail.approval.by)" in out


def test_build_servers_read_the_same_results(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    classes = folder / "classes.yaml"
    classes.write_text(classes.read_text().replace("quota: 20\n", "quota: 21\n"))

    _, as_json = run(capsys, str(folder), "--format", "json", "--coverage")
    code, as_xml = run(capsys, str(folder), "--format", "junit")

    answer, suite = json.loads(as_json), parse(as_xml)[0]
    assert code == 1
    assert (suite.get("tests"), suite.get("failures")) == (str(len(answer["cases"])), "1")
    assert answer["coverage"]["keys"]["classes.contact_detail.quota"] is False
    (failed,) = [case for case in answer["cases"] if not case["passed"]]
    assert [case.get("name") for case in suite if len(case)] == [failed["name"]]


def test_a_bundle_with_errors_is_a_failure_for_build_servers(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "purposes.yaml").write_text("purposes: {a: {description: NO}}\n")

    code, out = run(capsys, str(folder), "--format", "junit")

    assert (code, parse(out)[0].get("failures") != "0") == (1, True)


def test_what_xml_cannot_carry_does_not_break_it() -> None:
    text = write_junit('a "b" <c>', [JUnitCase("\x00\x1b ]]> é", "f&g", 3, ("\x08<x>", "y"))])

    failure = parse(text)[0][0][0]
    assert failure.text == "\ufffd<x>\ny"


def test_200_tests_are_read_and_run_in_less_than_a_second_of_work() -> None:
    head, _, cases = FILES["tests/preference.yaml"].partition("cases:\n")
    many = head + "cases:\n" + cases * (200 // cases.count("- name:") + 1)
    started = time.process_time()

    found = inspect_files({**FILES, "tests/preference.yaml": many})
    assert found.bundle is not None
    results = run_cases(found.bundle, found.cases, found.case_places)

    assert len(results) > 200
    assert time.process_time() - started < 1
