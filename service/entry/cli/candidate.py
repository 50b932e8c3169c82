"""A candidate bundle as commands take it: a folder, and what is wrong with it where it is none."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from shlex import quote
from typing import Annotated

import typer

from service.entry.cli.output import note, print_json, say
from service.entry.cli.shown_findings import finding_fields, finding_line
from service.policies.findings import BundleInvalid, Severity
from service.policies.lint.lint import lint_files
from service.policies.load import load_bundle
from service.policies.model import Bundle
from service.policies.read_folder import read_folder
from service.policies.run_cases import run_cases

Folder = Annotated[
    Path, typer.Argument(metavar="DIR", exists=True, file_okay=False, help="The candidate's folder.")
]


@dataclass(frozen=True, slots=True)
class Candidate:
    """A bundle that was read, and its files' text by path."""

    bundle: Bundle
    files: Mapping[str, str]


def read_candidate(folder: Path, *, as_json: bool) -> Candidate:
    """Answer the bundle in a folder; where it has errors print each with its place and exit with 1.

    A file that cannot be read says nothing about the bundle: 2, as for whatever keeps a command from working.
    """
    try:
        files = read_folder(folder)
        return Candidate(load_bundle(files), files)
    except BundleInvalid as fault:
        _print_findings(folder, fault, as_json=as_json)
        is_read = all(finding.code != "unreadable" for finding in fault.findings)
        raise typer.Exit(1 if is_read else 2) from None


def tell_doubts(folder: Folder, candidate: Candidate) -> None:
    """Say beside the answer what would not keep this bundle from counting, and yet speaks against it."""
    found = lint_files(candidate.files)
    results = run_cases(candidate.bundle, found.cases, found.case_places)
    failed = sum(not result.passed for result in results)
    if failed:
        note(
            f"{failed} of {len(results)} tests of this bundle fail: muniment policy test {quote(str(folder))}"
        )
    errors = sum(finding.severity is Severity.ERROR for finding in found.findings)
    if errors:
        note(f"Errors that lint finds in this bundle: {errors}. muniment policy lint {quote(str(folder))}")


def _print_findings(folder: Path, fault: BundleInvalid, *, as_json: bool) -> None:
    if not as_json:
        for finding in fault.findings:
            say(finding_line(folder, finding))
        return
    findings = [finding_fields(finding) for finding in fault.findings]
    print_json({"valid": False, "version": None, "findings": findings})
