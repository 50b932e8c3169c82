"""How commands answer: a table for people or, with `--json`, one JSON document on standard output."""

import json
import sys
from collections.abc import Mapping, Sequence
from typing import Annotated

import typer

AsJson = Annotated[bool, typer.Option("--json", help="Answer one JSON document.")]
TenantName = Annotated[str, typer.Option("--tenant", help="The tenant's name.")]

Fields = Mapping[str, object]
"""One thing's fields, as JSON can carry them."""


def answer(fields: Fields, *, as_json: bool) -> None:
    """Print one thing: its fields, each on a line."""
    if as_json:
        print_json(fields)
        return
    width = max(map(len, fields))
    for name, value in fields.items():
        typer.echo(f"{name:<{width}}  {_shown(value)}")


def answer_list(items: Sequence[Fields], *, as_json: bool, columns: Sequence[str] | None = None) -> None:
    """Print many things: `{"items": […]}`, or a table of some of their fields (`columns`; all without)."""
    if as_json:
        print_json({"items": list(items)})
        return
    if not items:
        typer.echo("none")
        return
    # Drawing tables is needed by people alone, and takes a while to load.
    from rich.console import Console  # noqa: PLC0415
    from rich.table import Table  # noqa: PLC0415

    table = Table(box=None, pad_edge=False)
    names = columns or list(items[0])
    for number, name in enumerate(names):
        # What comes first is what one copies into the next command: it is never cut or broken.
        table.add_column(name, no_wrap=number == 0, overflow="fold")
    for item in items:
        table.add_row(*(_shown(item[name]) for name in names))
    Console(markup=False, highlight=False).print(table)


def say(sentence: str) -> None:
    """Say something on standard output: for answers that are no table."""
    typer.echo(_harmless(sentence))


def note(sentence: str) -> None:
    """Say something beside the answer, on standard error."""
    typer.echo(_harmless(sentence), err=True)


def print_json(document: Fields) -> None:
    """Print one JSON document on standard output."""
    sys.stdout.write(json.dumps(document, ensure_ascii=False, indent=2) + "\n")


def _shown(value: object) -> str:
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return _harmless(", ".join(map(str, value)) if isinstance(value, list) else str(value))


def _harmless(text: str) -> str:
    """Answer text with what a terminal would obey written out: some of it comes from others."""
    return "".join(_written_out(mark) for mark in text)


def _written_out(mark: str) -> str:
    return mark if mark.isprintable() or mark == "\n" else mark.encode("unicode_escape").decode()
