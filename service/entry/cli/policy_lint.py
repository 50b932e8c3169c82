"""`muniment policy lint`: what is wrong in a bundle, for people and for build servers."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Final

import typer

from service.entry.cli.output import AsJson, print_json
from service.entry.cli.shown_findings import finding_fields, finding_line
from service.policies.findings import BundleInvalid
from service.policies.lint.ending import LiveHolds
from service.policies.lint.lint import lint_files
from service.policies.load import Inspection
from service.policies.read_folder import read_folder

_CANNOT_BE_READ: Final = frozenset({"no_folder", "unreadable"})
"""Codes that say nothing about a bundle: nobody could look at it."""


class Format(StrEnum):
    """How findings are written."""

    TEXT = "text"
    JSON = "json"
    SARIF = "sarif"
    JUNIT = "junit"


Folder = Annotated[
    Path, typer.Argument(metavar="DIR", exists=True, file_okay=False, help="The bundle's folder.")
]
OutputFormat = Annotated[Format, typer.Option("--format", help="How findings are written.")]
Strict = Annotated[bool, typer.Option("--strict", help="Exit 1 for warnings too.")]
Tenant = Annotated[
    str | None, typer.Option("--tenant", help="Compare times with this tenant's live legal holds too.")
]


def lint(
    folder: Folder,
    *,
    output: OutputFormat = Format.TEXT,
    strict: Strict = False,
    tenant: Tenant = None,
    as_json: AsJson = False,
) -> None:
    """Say what is wrong in a bundle, as FILE:LINE:COLUMN, and what would be right.

    Exit 1 for errors, and for warnings under --strict; 2 where the folder cannot be read.
    """
    found = _lint(folder, None if tenant is None else _live_holds(tenant))
    match Format.JSON if as_json else output:
        case Format.JSON:
            _print_json(found)
        case Format.SARIF:
            # Writing for build servers is needed by them alone.
            from service.policies.sarif import write_sarif  # noqa: PLC0415

            typer.echo(write_sarif(folder.as_posix(), found.findings), nl=False)
        case Format.JUNIT:
            _print_junit(folder, found)
        case Format.TEXT:
            _print_text(folder, found)
    if any(finding.code in _CANNOT_BE_READ for finding in found.findings):
        raise typer.Exit(2)
    raise typer.Exit(0 if found.bundle is not None and not (strict and found.findings) else 1)


def _lint(folder: Path, holds: LiveHolds | None) -> Inspection:
    try:
        return lint_files(read_folder(folder), holds)
    except BundleInvalid as fault:
        return Inspection(None, fault.findings, {})


def _live_holds(tenant: str) -> LiveHolds:
    # The record is opened for this question alone.
    from service.entry.cli.opening import open_registry  # noqa: PLC0415
    from service.governance.hold import list_live_ends  # noqa: PLC0415

    with open_registry() as registry, registry.read(registry.tenant(tenant).id) as unit:
        return LiveHolds(unit.now, list_live_ends(unit=unit))


def _print_text(folder: Path, found: Inspection) -> None:
    for finding in found.findings:
        typer.echo(finding_line(folder, finding))
    if found.bundle is not None:
        typer.echo(f"valid: {found.bundle.version}")


def _print_json(found: Inspection) -> None:
    document = {
        "valid": found.bundle is not None,
        "version": found.bundle.version if found.bundle else None,
        "findings": [finding_fields(finding) for finding in found.findings],
    }
    print_json(document)


def _print_junit(folder: Path, found: Inspection) -> None:
    from service.policies.junit import JUnitCase, write_junit  # noqa: PLC0415

    cases = [
        JUnitCase(
            f"{finding.code} at column {finding.place.column}",
            str(folder / finding.file),
            finding.place.line,
            (f"{finding.severity.value}: {finding.message}", *([finding.path] if finding.path else [])),
        )
        for finding in found.findings
    ]
    # A suite without a case looks to a build server as if nothing had been looked at.
    typer.echo(write_junit("policy lint", cases or [JUnitCase("no finding", str(folder), 1)]), nl=False)
