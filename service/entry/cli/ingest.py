"""`muniment ingest`: sends files and folders to a running service as evidence."""

import hashlib
import json
import os
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from itertools import islice
from pathlib import Path
from typing import Annotated, Final
from urllib.parse import quote

import httpx
import typer
from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

from service.client import Muniment, Problem
from service.entry.cli.output import AsJson
from service.evidence.files import file_media_type
from service.evidence.ports import FileUnreadable
from service.wire.evidence import AddEvidence, SourceFields

FILE_BYTES_MAX: Final = 32 * 1024 * 1024
LINES_PER_REQUEST: Final = 10_000
_LINES_SUFFIXES: Final = frozenset({".jsonl", ".ndjson"})


@dataclass(frozen=True, slots=True)
class Skipped:
    """A file that was not sent, or that the service refused; `line` for one line of a JSON Lines file."""

    path: str
    reason: str
    detail: str
    line: int | None = None


@dataclass(slots=True)
class Summary:
    """What became of everything. `unchanged` of the accepted stood already in the same version."""

    accepted: int = 0
    unchanged: int = 0
    skipped: list[Skipped] = field(default_factory=list)
    skipped_count: int = 0
    seconds: float = 0.0

    def skip(self, skipped: Skipped) -> None:
        """Note what was left out."""
        self.skipped.append(skipped)
        self.skipped_count += 1


@dataclass(frozen=True, slots=True)
class Found:
    """A file to send. `name` is its path below what was named on the command line, with `/`."""

    path: Path
    name: str
    size_bytes: int


def ingest(
    paths: Annotated[list[Path], typer.Argument(exists=True, help="Files and folders.")],
    *,
    project: Annotated[str, typer.Option(help="The project's name.")],
    token: Annotated[
        str, typer.Option(envvar="MUNIMENT_TOKEN", help="An API key.", show_envvar=True, show_default=False)
    ],
    url: Annotated[str, typer.Option(help="Where the service is.")] = "http://127.0.0.1:8080",
    reader: Annotated[
        list[str] | None, typer.Option(help="project:NAME, user:ID or role:ROLE; may be repeated.")
    ] = None,
    uri_prefix: Annotated[str, typer.Option(help="What the uris of files begin with.")] = "doc://",
    as_json: AsJson = False,
) -> None:
    """Send files as evidence: text, Markdown, HTML, PDF, JSON, CSV; JSON Lines as one item a line.

    A file's uri is its path below the folder that was named, so that sending a folder again adds versions of
    what changed and nothing else. Exit code 1 when anything was left out.
    """
    begun = time.monotonic()
    summary = Summary()
    with Muniment(url, token) as client, _progress(quiet=as_json) as progress:
        sender = _Sender(client, summary, project, tuple(reader or ()), uri_prefix)
        found = list(find_files(paths, summary))
        task = progress.add_task("Sending", total=sum(each.size_bytes for each in found))
        for each in found:
            try:
                sender.send(each)
            except httpx.TransportError as failure:
                typer.echo(f"The service does not answer: {type(failure).__name__}", err=True)
                raise typer.Exit(1) from None
            progress.advance(task, each.size_bytes)
    summary.seconds = round(time.monotonic() - begun, 3)
    _print(summary, as_json=as_json)
    raise typer.Exit(1 if summary.skipped_count else 0)


def find_files(paths: Sequence[Path], summary: Summary) -> Iterator[Found]:
    """Answer the files to send, in order of name; hidden ones and links are passed over silently."""
    for path in paths:
        if path.is_file():
            yield from _found(path, path.name, summary)
            continue
        base = path.resolve()
        for folder, folders, files in os.walk(base, followlinks=False):
            folders[:] = sorted(name for name in folders if not name.startswith("."))
            for name in sorted(name for name in files if not name.startswith(".")):
                file = Path(folder, name)
                if not file.is_symlink():
                    yield from _found(file, f"{base.name}/{file.relative_to(base).as_posix()}", summary)


def _found(path: Path, name: str, summary: Summary) -> Iterator[Found]:
    try:
        size_bytes = path.stat().st_size
        if path.suffix.lower() not in _LINES_SUFFIXES:
            file_media_type(name, "")
            if size_bytes > FILE_BYTES_MAX:
                summary.skip(Skipped(name, "too_large", f"larger than {FILE_BYTES_MAX} bytes"))
                return
    except FileUnreadable as refusal:
        summary.skip(Skipped(name, refusal.code, refusal.detail))
    except OSError as failure:
        summary.skip(Skipped(name, "unreadable", type(failure).__name__))
    else:
        yield Found(path, name, size_bytes)


class _Sender:
    """Sends one file after the other and tells the summary."""

    def __init__(
        self, client: Muniment, summary: Summary, project: str, readers: tuple[str, ...], uri_prefix: str
    ) -> None:
        self._client = client
        self._summary = summary
        self._project = project
        self._readers = readers
        self._uri_prefix = uri_prefix

    def send(self, found: Found) -> None:
        """Send a file; what the service refuses is noted, and what it lacks a credential for ends all."""
        try:
            if found.path.suffix.lower() in _LINES_SUFFIXES:
                self._send_lines(found)
            else:
                self._send_file(found)
        except Problem as problem:
            if problem.code == "unauthenticated":
                typer.echo("The service does not know this token.", err=True)
                raise typer.Exit(1) from None
            self._summary.skip(Skipped(found.name, problem.code, problem.detail))
        except OSError as failure:
            self._summary.skip(Skipped(found.name, "unreadable", type(failure).__name__))

    def _send_file(self, found: Found) -> None:
        content = found.path.read_bytes()
        source = SourceFields(
            uri=self._uri_prefix + quote(found.name),
            kind="document",
            source_version=f"sha256:{hashlib.sha256(content).hexdigest()}",
        )
        new = AddEvidence(project=self._project, source=source, readers=self._readers)
        kept = self._client.add_evidence_file(new, content, name=found.path.name)
        self._summary.accepted += 1
        self._summary.unchanged += not kept.created

    def _send_lines(self, found: Found) -> None:
        with found.path.open("rb") as file:
            sent = 0
            while part := list(islice(file, LINES_PER_REQUEST)):
                kept = self._client.add_evidence_batch(self._with_project(line) for line in part)
                self._summary.accepted += kept.accepted
                self._summary.unchanged += kept.unchanged
                for rejected in kept.rejected:
                    self._summary.skip(
                        Skipped(found.name, rejected.code, rejected.detail, sent + rejected.line)
                    )
                self._summary.skipped_count += kept.rejected_count - len(kept.rejected)
                sent += len(part)

    def _with_project(self, line: bytes) -> bytes:
        """Answer the line with our project and readers where it names none; others go as they are."""
        try:
            fields = json.loads(line)
        except (ValueError, RecursionError):
            return line.rstrip(b"\r\n")
        if not isinstance(fields, dict):
            return line.rstrip(b"\r\n")
        fields.setdefault("project", self._project)
        if self._readers:
            fields.setdefault("readers", list(self._readers))
        return json.dumps(fields).encode()


def _progress(*, quiet: bool) -> Progress:
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        DownloadColumn(),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        disable=quiet,
        transient=True,
    )


def _print(summary: Summary, *, as_json: bool) -> None:
    if as_json:
        typer.echo(json.dumps(asdict(summary)))
        return
    for skipped in summary.skipped:
        line = "" if skipped.line is None else f":{skipped.line}"
        typer.echo(f"left out {skipped.path}{line}: {skipped.detail} ({skipped.reason})", err=True)
    typer.echo(
        f"{summary.accepted} kept, {summary.unchanged} of them unchanged,"
        f" {summary.skipped_count} left out, {summary.seconds:.1f} s"
    )
