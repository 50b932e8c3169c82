"""`muniment import`: hands the memories of an export to a running service, each as a proposal."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Final

import httpx
import typer
from pydantic import ValidationError

from service.client import Muniment, Problem
from service.core.errors import Invalid
from service.entry.cli.output import AsJson, answer, note
from service.wire.imports import ImportMemory

_FORMAT: Final = "muniment-export/1"
_TAKEN: Final = ("project", "class", "subject", "key", "text", "value", "confidence", "purpose")
_VALIDITY: Final = ("valid_from", "valid_until")


class ExportUnreadable(Invalid):
    """The file is no export of this service."""

    code = "export_unreadable"
    title = "This is not an export of this service"


def import_export(
    file: Annotated[Path, typer.Argument(exists=True, dir_okay=False, help="What an export answered.")],
    *,
    token: Annotated[
        str,
        typer.Option("--as", envvar="MUNIMENT_TOKEN", help="The person's own API key.", show_default=False),
    ],
    url: Annotated[str, typer.Option(help="Where the service is.")] = "http://127.0.0.1:8080",
    project: Annotated[str | None, typer.Option(help="The project to import into, if another.")] = None,
    as_json: AsJson = False,
) -> None:
    """Propose every active memory of an export again. Exit code 1 when any was refused or denied."""
    counts: Counter[str] = Counter()
    with Muniment(url, token) as client:
        for memory in _active(_read(file)):
            try:
                new = _import_of(memory, project)
                outcome: str = client.import_memory(new).decision
            except ValidationError:
                outcome = "unreadable"
            except Problem as problem:
                outcome = problem.code
            except httpx.TransportError as failure:
                note(f"The service does not answer: {type(failure).__name__}")
                raise typer.Exit(1) from None
            counts[outcome] += 1
    answer(dict(sorted(counts.items())) or {"approved": 0}, as_json=as_json)
    if set(counts) - {"approved", "pending_review"}:
        raise typer.Exit(1)


def _read(file: Path) -> Mapping[str, Any]:
    try:
        found = json.loads(file.read_bytes())
        if found["format"] != _FORMAT or not isinstance(found["contents"]["memories"], list):
            raise ExportUnreadable
    except (ValueError, KeyError, TypeError, RecursionError):
        raise ExportUnreadable from None
    return dict(found)


def _active(document: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    for memory in document["contents"]["memories"]:
        if isinstance(memory, dict) and memory.get("status") == "active":
            yield memory


def _import_of(memory: Mapping[str, Any], project: str | None) -> ImportMemory:
    fields = {name: memory.get(name) for name in _TAKEN}
    fields |= {name: memory[name] for name in _VALIDITY if memory.get(name) is not None}
    fields["imported_from"] = memory.get("id")
    if project is not None:
        fields["project"] = project
    return ImportMemory.model_validate(fields)
