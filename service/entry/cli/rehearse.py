"""`muniment rehearse`: the interruption test for anybody's agent."""

import json
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Annotated, Final, NoReturn, Self

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
from rich.progress import Progress as Bar

from service.entry.cli.output import note
from service.entry.demo.calls import UnexpectedAnswer
from service.entry.demo.local_service import LocalServiceFailed
from service.entry.rehearse.manifest import Manifest
from service.entry.rehearse.read_manifest import ManifestInvalid, read_manifest
from service.entry.rehearse.rehearsal import Wish
from service.entry.rehearse.rehearsal import rehearse as run_rehearsal
from service.entry.rehearse.report_json import report_fields
from service.entry.rehearse.report_junit import report_junit
from service.entry.rehearse.report_table import print_report
from service.entry.rehearse.session import absolute_command
from service.entry.rehearse.summary import all_passed
from service.settings import Settings

_WORKERS_MAX: Final = 64
_TRIALS_MAX: Final = 100
_USAGE: Final = 2

Named = Annotated[
    list[str] | None, typer.Option("--profile", help="A context profile to compare; may be repeated.")
]


def rehearse(
    command: Annotated[list[str], typer.Argument(metavar="-- COMMAND...", help="Your agent.")],
    *,
    manifest: Annotated[Path, typer.Option("--manifest", help="What to rehearse (YAML or JSON).")],
    trials: Annotated[
        int | None,
        typer.Option("--trials", min=1, max=_TRIALS_MAX, help="How often each; else the manifest's."),
    ] = None,
    seed: Annotated[int, typer.Option("--seed", help="Draws the same places again.")] = 0,
    workers: Annotated[
        int, typer.Option("--workers", min=1, max=_WORKERS_MAX, help="Trials at the same time.")
    ] = 1,
    profile: Named = None,
    json_file: Annotated[
        Path | None, typer.Option("--json", dir_okay=False, help="Write the report there as JSON.")
    ] = None,
    junit_file: Annotated[
        Path | None, typer.Option("--junit", dir_okay=False, help="Write it there as JUnit XML.")
    ] = None,
) -> None:
    """Kill your agent where it hurts, start it again with nothing but the run's id, and compare.

    Exit code 0 when every trial passed, 1 when something was found, 2 when the manifest cannot be used.
    """
    read = _read(manifest)
    _refuse_lost_reports(json_file, junit_file)
    wish = Wish(
        manifest=read,
        folder=manifest.absolute().parent,
        policies=Settings().policies_dir if read.policies is None else manifest.parent / read.policies,
        command=absolute_command(command, folder=Path.cwd()),
        trials=trials or read.trials,
        seed=seed,
        workers=workers,
        profiles=tuple(dict.fromkeys(profile or [])),
    )
    console = Console(highlight=False)
    try:
        with _ends_in_order(), _Shown(Console(stderr=True)) as shown:
            rehearsed = run_rehearsal(wish, shown)
    except (LocalServiceFailed, UnexpectedAnswer) as failure:
        note(str(failure))
        raise typer.Exit(1) from None
    except KeyboardInterrupt:
        note("Interrupted: every process is stopped and every folder removed.")
        raise typer.Exit(1) from None
    print_report(console, rehearsed)
    if json_file is not None:
        json_file.write_text(json.dumps(report_fields(rehearsed), ensure_ascii=False, indent=2) + "\n")
    if junit_file is not None:
        junit_file.write_bytes(report_junit(rehearsed))
    raise typer.Exit(0 if all_passed(rehearsed) else 1)


def _read(file: Path) -> Manifest:
    try:
        return read_manifest(file)
    except ManifestInvalid as fault:
        for finding in fault.findings:
            note(str(finding))
        raise typer.Exit(_USAGE) from None


def _refuse_lost_reports(*files: Path | None) -> None:
    """Look before hours have been spent whether the reports can be written."""
    for file in files:
        if file is not None and not file.absolute().parent.is_dir():
            note(f"{file}: there is no such folder")
            raise typer.Exit(_USAGE)


@contextmanager
def _ends_in_order() -> Iterator[None]:
    """Let SIGTERM end the rehearsal as Ctrl-C does: with every process stopped."""

    def interrupt(_signal: int, _frame: FrameType | None) -> NoReturn:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


class _Shown:
    """Progress as a bar on standard error, where somebody watches."""

    def __init__(self, console: Console) -> None:
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
        self._bar = Bar(*columns, console=console, disable=not sys.stderr.isatty(), transient=True)
        self._planned = 0
        self._task = self._bar.add_task("trials", total=None)

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(self, *_error: object) -> None:
        self._bar.stop()

    def planned(self, more: int) -> None:
        """So many more trials are to come."""
        self._planned += more
        self._bar.update(self._task, total=self._planned)

    def played(self) -> None:
        """One is done."""
        self._bar.advance(self._task)
