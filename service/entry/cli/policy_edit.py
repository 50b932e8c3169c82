"""`muniment policy set | unset`: change one value of a bundle's files; all else in them stays as it is.

Exit codes: 0 done (or nothing to do), 1 refused: nothing is written.
"""

from pathlib import Path
from typing import Annotated, Final

import typer

from service.entry.cli.output import AsJson, print_json, say
from service.policies.edit import Edit, Edited, edit_files
from service.policies.findings import BundleInvalid, Finding
from service.policies.read_folder import read_folder
from service.policies.read_yaml import Value, read_yaml
from service.policies.write_folder import replace_file

Folder = Annotated[
    Path, typer.Argument(metavar="DIR", exists=True, file_okay=False, help="The bundle's folder.")
]
Where = Annotated[
    str,
    typer.Argument(metavar="PATH", help='As `classes.note.quota` or `commands."orders.create".approval`.'),
]
File = Annotated[
    str | None, typer.Option("--file", help="The file, where more than one could be meant, or a test.")
]
_VALUE: Final = "VALUE"
DryRun = Annotated[bool, typer.Option("--dry-run", help="Show what would change; write nothing.")]


def set_value(
    folder: Folder,
    path: Where,
    value: Annotated[
        str, typer.Argument(metavar="VALUE", help="As a policy file has it: 180, [a, b], text.")
    ],
    *,
    file: File = None,
    as_text: Annotated[
        bool, typer.Option("--text", help="Take VALUE as text, whatever it looks like.")
    ] = False,
    dry_run: DryRun = False,
    as_json: AsJson = False,
) -> None:
    """Set or add one value. Comments, order and quotes stay; what would not load is not written."""
    read: Value = value
    if not as_text:
        document, faults = read_yaml(_VALUE, value)
        if faults:
            _answer(folder, Edited(None, faults, {}), dry_run=dry_run, as_json=as_json)
        read = document.content
    _edit(folder, Edit(path, read, file=file), dry_run=dry_run, as_json=as_json)


def unset(
    folder: Folder, path: Where, *, file: File = None, dry_run: DryRun = False, as_json: AsJson = False
) -> None:
    """Take one value or entry out. What would not load without it is not written."""
    _edit(folder, Edit(path, remove=True, file=file), dry_run=dry_run, as_json=as_json)


def _edit(folder: Path, edit: Edit, *, dry_run: bool, as_json: bool) -> None:
    try:
        files = read_folder(folder)
    except BundleInvalid as fault:
        _answer(folder, Edited(None, fault.findings, {}), dry_run=dry_run, as_json=as_json)
        return
    edited = edit_files(files, [edit])
    if edited.files is not None and not dry_run:
        for name in edited.differences:
            replace_file(folder, name, files[name], edited.files[name])
    _answer(folder, edited, dry_run=dry_run, as_json=as_json)


def _answer(folder: Path, edited: Edited, *, dry_run: bool, as_json: bool) -> None:
    is_good = edited.files is not None
    is_written = is_good and bool(edited.differences) and not dry_run
    bundle = edited.found.bundle if edited.found is not None else None
    if as_json:
        print_json(
            {
                "valid": is_good,
                "written": is_written,
                "version": bundle.version if bundle is not None else None,
                "changes": [{"file": name, "diff": diff} for name, diff in edited.differences.items()],
                "findings": [_fields(finding) for finding in edited.findings],
            }
        )
        raise typer.Exit(0 if is_good else 1)
    for diff in edited.differences.values():
        for line in diff.splitlines():
            say(line)
    for finding in edited.findings:
        if finding.file == _VALUE:
            say(str(finding))
        else:
            say(f"{folder}/{finding}" if finding.file else f"{folder}: {finding.message}")
    if not is_good:
        say("refused: nothing is written")
    elif not edited.differences:
        say("it says so already: nothing is written")
    else:
        say("written" if is_written else "it would load: nothing is written")
    raise typer.Exit(0 if is_good else 1)


def _fields(finding: Finding) -> dict[str, object]:
    return {
        "file": finding.file,
        "line": finding.place.line,
        "column": finding.place.column,
        "severity": finding.severity.value,
        "code": finding.code,
        "message": finding.message,
    }
