"""`muniment policy lint | schema`: look for faults in a bundle, print the schema of its files.

Neither needs a database, a key or a tenant: an author runs them where the files are.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer

from service.entry.cli.output import AsJson
from service.policies.findings import BundleInvalid, Finding
from service.policies.load import Inspection, inspect_files
from service.policies.read_folder import read_folder
from service.policies.schema import bundle_schema, case_schema

Folder = Annotated[
    Path, typer.Argument(metavar="DIR", exists=True, file_okay=False, help="The bundle's folder.")
]


def lint(folder: Folder, *, as_json: AsJson = False) -> None:
    """Say what is wrong in a bundle, as FILE:LINE:COLUMN, and what would be right. Exit 1 for errors."""
    found = _inspect(folder)
    if as_json:
        _print_json(
            {
                "valid": found.bundle is not None,
                "version": found.bundle.version if found.bundle else None,
                "findings": [_finding_fields(finding) for finding in found.findings],
            }
        )
    else:
        _print_findings(folder, found)
        if found.bundle is not None:
            typer.echo(f"valid: {found.bundle.version}")
    raise typer.Exit(0 if found.bundle is not None else 1)


def schema(
    *,
    tests: Annotated[bool, typer.Option("--tests", help="Of the files under tests/ instead.")] = False,
    as_json: AsJson = False,
) -> None:
    """Print the JSON Schema of policy files, for editors."""
    del as_json  # it is JSON in any case
    _print_json(case_schema() if tests else bundle_schema())


def _inspect(folder: Path) -> Inspection:
    try:
        return inspect_files(read_folder(folder))
    except BundleInvalid as fault:
        return Inspection(None, fault.findings, {})


def _print_findings(folder: Path, found: Inspection) -> None:
    for finding in found.findings:
        typer.echo(f"{folder}/{finding}" if finding.file else f"{folder}: {finding.message}")


def _finding_fields(finding: Finding) -> Mapping[str, object]:
    return {
        "file": finding.file,
        "line": finding.place.line,
        "column": finding.place.column,
        "severity": finding.severity.value,
        "code": finding.code,
        "message": finding.message,
    }


def _print_json(document: Mapping[str, object]) -> None:
    typer.echo(json.dumps(document, ensure_ascii=False, indent=2))
