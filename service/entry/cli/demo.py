"""`muniment demo`: the worked example, from nothing to a printed context package."""

from typing import Annotated

import typer
from rich.console import Console

from service.entry.demo.local_service import LocalServiceFailed
from service.entry.demo.play import play
from service.settings import Settings


def demo(
    *,
    keep_running: Annotated[
        bool, typer.Option("--keep-running", help="Leave the service up until Ctrl+C.")
    ] = False,
) -> None:
    """Start a service on empty data, play the worked example over HTTP, print the packages it builds."""
    try:
        play(Console(), policies_dir=Settings().policies_dir, keep_running=keep_running)
    except LocalServiceFailed as failure:
        typer.echo(str(failure), err=True)
        raise typer.Exit(1) from None
