"""Lint at the command line and over HTTP: formats, exit codes, and the same findings by both doors."""

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final
from xml.etree import ElementTree as ET

import jsonschema_rs
import pytest
from conftest import FixedClock
from http_support import Site, open_site
from policies_bundle import FOLDER, default_files
from policies_lint_files import TESTS, rule, with_rules

from service.core.database import Database
from service.entry.cli import main
from service.entry.http import app, policies
from service.identity.model import Role
from service.policies.findings import Finding, Place, Severity
from service.policies.lint.lint import lint_files
from service.policies.sarif import SCHEMA_URI, write_sarif

ESSENTIALS: Final[dict[str, Any]] = {
    # What the published schema (SARIF 2.1.0) and GitHub's code scanning ask of a log.
    "type": "object",
    "required": ["$schema", "version", "runs"],
    "additionalProperties": False,
    "properties": {
        "$schema": {"const": SCHEMA_URI},
        "version": {"const": "2.1.0"},
        "runs": {
            "type": "array",
            "minItems": 1,
            "items": {
                "type": "object",
                "required": ["tool", "results"],
                "properties": {
                    "columnKind": {"enum": ["utf16CodeUnits", "unicodeCodePoints"]},
                    "tool": {
                        "type": "object",
                        "required": ["driver"],
                        "properties": {
                            "driver": {
                                "type": "object",
                                "required": ["name", "rules"],
                                "properties": {
                                    "rules": {
                                        "type": "array",
                                            "items": {"$ref": "#/$defs/rule"},
                                    }
                                },
                            }
                        },
                    },
                    "results": {"type": "array", "items": {"$ref": "#/$defs/result"}},
                },
            },
        },
    },
    "$defs": {
        "text": {
            "type": "object",
            "required": ["text"],
            "properties": {"text": {"type": "string", "minLength": 1}},
        },
        "rule": {
            "type": "object",
            "required": ["id", "shortDescription", "fullDescription", "help"],
            "properties": {
                name: {"$ref": "#/$defs/text"} for name in ("shortDescription", "fullDescription", "help")
            },
        },
        "result": {
            "type": "object",
            "required": ["ruleId", "ruleIndex", "level", "message", "locations", "partialFingerprints"],
            "properties": {
                "level": {"enum": ["none", "note", "warning", "error"]},
                "message": {"$ref": "#/$defs/text"},
                "partialFingerprints": {"type": "object", "required": ["primaryLocationLineHash"]},
                "locations": {
                    "type": "array",
                    "minItems": 1,
                    "maxItems": 1,
                    "items": {
                        "required": ["physicalLocation"],
                        "properties": {"physicalLocation": {"$ref": "#/$defs/place"}},
                    },
                },
            },
        },
        "place": {
            "required": ["artifactLocation", "region"],
            "properties": {
                "artifactLocation": {
                    "required": ["uri"],
                    "properties": {"uri": {"type": "string", "pattern": "^[A-Za-z0-9._~/%:+@!$&'()*,;=-]+$"}},
                },
                "region": {
                    "required": ["startLine", "startColumn"],
                    "properties": {
                        name: {"type": "integer", "minimum": 1} for name in ("startLine", "startColumn")
                    },
                },
            },
        },
    },
}  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A bundle with one error and one warning."""
    made = tmp_path / "my rules"
    (made / "tests").mkdir(parents=True)
    (made / "rules.yaml").write_text(with_rules(rule("deny", "agent in []"))["rules.yaml"])
    (made / "tests" / "rules.yaml").write_text(TESTS)
    return made


@pytest.fixture
def warned(tmp_path: Path) -> Path:
    """A bundle with one warning."""
    made = tmp_path / "warned"
    made.mkdir()
    (made / "rules.yaml").write_text("purposes:\n  service: {description: Doing the work.}\n")
    return made


def run(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str]:
    code = main(["policy", "lint", *map(str, arguments)])
    return code, capsys.readouterr().out


def test_text_tells_place_severity_code_what_is_wrong_and_path(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out = run(capsys, folder)
    first, second = out.splitlines()

    assert code == 1
    assert first.startswith(f"{folder}/rules.yaml:22:7: warning untested: no test that passes decides by")
    assert first.endswith("(classes.note.rules.one)")
    assert second.startswith(f"{folder}/rules.yaml:24:15: error never_holds: this never holds")
    assert second.endswith("(classes.note.rules.one.when)")


def test_warnings_fail_under_strict_alone(warned: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out = run(capsys, warned)

    assert (code, out.splitlines()[1].partition(":")[0]) == (0, "valid")
    assert run(capsys, warned, "--strict") == (1, out)


@pytest.mark.parametrize("arguments", [[], ["nowhere"], [".", "--format", "yaml"], [".", "--stern"]])
def test_a_wrong_question_is_told_apart_from_a_bad_answer(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(capsys, *arguments)[0] == 2


def test_a_folder_that_cannot_be_read_is_no_bad_bundle(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(path: Path) -> Iterator[Path]:
        raise PermissionError(path)

    monkeypatch.setattr(Path, "iterdir", refuse)  # whoever is root may read everything

    code, out = run(capsys, folder, "--json")

    assert (code, [one["code"] for one in json.loads(out)["findings"]]) == (2, ["unreadable"])


def test_json_has_every_field(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out = run(capsys, folder, "--format", "json")
    answer = json.loads(out)

    assert (code, answer["valid"], answer["version"]) == (1, False, None)
    assert answer["findings"][1] == {
        "file": "rules.yaml", "line": 24, "column": 15, "path": "classes.note.rules.one.when",
        "severity": "error", "code": "never_holds",
        "message": "this never holds, whatever is proposed: the rule does nothing;"
        " put it right, or leave the rule out",
    }  # fmt: skip
    assert run(capsys, folder, "--json") == (code, out)


def test_sarif_is_what_its_schema_and_github_ask_for(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out = run(capsys, folder, "--format", "sarif")
    log = json.loads(out)
    (run_,) = log["runs"]
    first, second = run_["results"]

    jsonschema_rs.validate(ESSENTIALS, log)
    assert code == 1
    assert [one["id"] for one in run_["tool"]["driver"]["rules"]] == ["never_holds", "untested"]
    assert (first["ruleId"], first["level"], second["ruleIndex"], second["level"]) == (
        "untested",
        "warning",
        0,
        "error",
    )
    place = second["locations"][0]
    assert place["physicalLocation"]["artifactLocation"]["uri"].endswith("/my%20rules/rules.yaml")
    assert place["physicalLocation"]["region"] == {"startLine": 24, "startColumn": 15}
    assert place["logicalLocations"] == [{"fullyQualifiedName": "classes.note.rules.one.when"}]


def test_sarif_of_nothing_and_of_the_strangest_is_sarif_too() -> None:
    strange = Finding("a:b c\u202e%.yaml", Place(3, 4), "nul", "x", Severity.ERROR, "a.b")

    for findings in ([], [strange], [Finding("", Place(), "no_files", "none")]):
        jsonschema_rs.validate(ESSENTIALS, json.loads(write_sarif("policies", findings)))
    assert "policies/a%3Ab%20c" in write_sarif("policies", [strange])


def suite_of(text: str) -> ET.Element:
    return ET.fromstring(text)[0]  # noqa: S314 - our own


def test_junit_has_a_failure_for_each_finding_and_a_case_for_none(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    suites = [suite_of(run(capsys, where, "--format", "junit")[1]) for where in (folder, FOLDER)]

    assert [(suite.get("tests"), suite.get("failures")) for suite in suites] == [("2", "2"), ("1", "0")]
    case = suites[0][1]
    assert (case.get("line"), case.get("file")) == ("24", f"{folder}/rules.yaml")
    assert "classes.note.rules.one.when" in (case[0].text or "")


@pytest.fixture
def site(database: Database, tmp_path: Path, clock: FixedClock) -> Iterator[Site]:
    routers = [] if policies.router in app.ROUTERS else [policies.router]
    with open_site(database, tmp_path / "data", clock, routers=routers) as opened:
        yield opened


def test_over_http_the_same_is_found(site: Site, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = {"rules.yaml": (folder / "rules.yaml").read_text(), "tests/rules.yaml": TESTS}

    answer = site.client.post(
        "/v1/policies/validate",
        headers=site.headers(Role.POLICY_AUTHOR, subject="author-1"),
        json={"files": files},
    )

    capsys.readouterr()
    assert answer.status_code == 200
    assert answer.json() == json.loads(run(capsys, folder, "--json")[1])


def test_the_default_bundle_is_linted_in_less_than_a_second() -> None:
    lint_files(default_files())  # what is loaded once is not the bundle's
    started = time.process_time()  # whatever else the machine is doing

    lint_files(default_files())

    assert time.process_time() - started < 1
