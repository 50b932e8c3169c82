"""`muniment policy test`: run the tests beside a bundle, and say which of its rules none decides by."""

import json
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from service.entry.cli.output import AsJson, note
from service.policies.coverage import Coverage, coverage
from service.policies.findings import BundleInvalid
from service.policies.load import Inspection, inspect_files
from service.policies.read_folder import read_folder
from service.policies.run_cases import CaseResult, run_cases


class Format(StrEnum):
    """How results are written."""

    TEXT = "text"
    JSON = "json"
    JUNIT = "junit"


Folder = Annotated[
    Path, typer.Argument(metavar="DIR", exists=True, file_okay=False, help="The bundle's folder.")
]
ShowCoverage = Annotated[
    bool, typer.Option("--coverage", help="Say which rules and keys no test decides by.")
]
Minimum = Annotated[
    int | None, typer.Option("--min", min=0, max=100, help="Exit 1 where coverage is below so many percent.")
]
OutputFormat = Annotated[Format, typer.Option("--format", help="How results are written.")]


def run_tests(
    folder: Folder,
    *,
    show_coverage: ShowCoverage = False,
    percent_min: Minimum = None,
    output: OutputFormat = Format.TEXT,
    as_json: AsJson = False,
) -> None:
    """Run the tests under DIR/tests. Exit 1 when one fails, when there is none, or when DIR has errors."""
    found = _inspect(folder)
    results = run_cases(found.bundle, found.cases, found.case_places) if found.bundle is not None else ()
    measured = coverage(found.bundle, found.cases, results) if found.bundle is not None else Coverage({}, {})
    is_told = show_coverage or percent_min is not None
    match Format.JSON if as_json else output:
        case Format.JSON:
            _print_json(found, results, measured if is_told else None)
        case Format.JUNIT:
            _print_junit(folder, found, results)
        case Format.TEXT:
            _print_text(folder, found, results, measured if is_told else None)
    if found.bundle is not None and not results:
        note("there is no test in this bundle")
    too_little = percent_min is not None and measured.percent < percent_min
    if too_little and found.bundle is not None:
        note(f"coverage is {measured.percent} %, less than {percent_min} %")
    is_good = bool(results) and all(result.passed for result in results) and not too_little
    raise typer.Exit(0 if is_good else 1)


def _inspect(folder: Path) -> Inspection:
    try:
        return inspect_files(read_folder(folder))
    except BundleInvalid as fault:
        return Inspection(None, fault.findings, {})


def _print_text(
    folder: Path, found: Inspection, results: tuple[CaseResult, ...], measured: Coverage | None
) -> None:
    for finding in found.findings:
        typer.echo(f"{folder}/{finding}" if finding.file else f"{folder}: {finding.message}")
    for result in results:
        if result.passed:
            continue
        typer.echo(f"{folder / result.file}:{result.place.line}:{result.place.column}: {result.name}")
        for line in (*result.differences, *(f"because {reason}" for reason in result.because)):
            typer.echo(f"    {line}")
    if found.bundle is None:
        return
    failed = sum(not result.passed for result in results)
    typer.echo(f"{len(results) - failed} passed, {failed} failed")
    if measured is None:
        return
    rules, keys = (f"{sum(part.values())} of {len(part)}" for part in (measured.rules, measured.keys))
    typer.echo(f"coverage: {rules} rules and {keys} keys, {measured.percent} %")
    for path in measured.missing:
        typer.echo(f"    no test decides by {path}")


def _print_json(found: Inspection, results: tuple[CaseResult, ...], measured: Coverage | None) -> None:
    failed = sum(not result.passed for result in results)
    document: dict[str, object] = {
        "version": found.bundle.version if found.bundle else None,
        "passed": len(results) - failed,
        "failed": failed,
        "cases": [
            {
                "file": result.file,
                "line": result.place.line,
                "name": result.name,
                "passed": result.passed,
                "differences": list(result.differences),
                "because": list(result.because),
            }
            for result in results
        ],
        "findings": [
            {
                "file": finding.file,
                "line": finding.place.line,
                "column": finding.place.column,
                "severity": finding.severity.value,
                "code": finding.code,
                "message": finding.message,
            }
            for finding in found.findings
        ],
    }
    if measured is not None:
        document["coverage"] = {
            "percent": measured.percent,
            "rules": dict(measured.rules),
            "keys": dict(measured.keys),
        }
    typer.echo(json.dumps(document, ensure_ascii=False, indent=2))


def _print_junit(folder: Path, found: Inspection, results: tuple[CaseResult, ...]) -> None:
    # Writing XML is needed by build servers alone.
    from service.policies.junit import JUnitCase, write_junit  # noqa: PLC0415

    cases = [
        JUnitCase(
            result.name,
            str(folder / result.file),
            result.place.line,
            (*result.differences, *result.because) if result.differences else (),
        )
        for result in results
    ]
    cases += [
        JUnitCase(
            f"{finding.code} at column {finding.place.column}",
            str(folder / finding.file),
            finding.place.line,
            (finding.message,),
        )
        for finding in found.findings
    ]
    typer.echo(write_junit("policy test", cases), nl=False)
