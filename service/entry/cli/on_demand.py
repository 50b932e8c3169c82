"""Groups of commands that know theirs by name, and import one when it is asked for."""

from collections.abc import Mapping
from importlib import import_module
from typing import TYPE_CHECKING

import typer
from typer.core import TyperGroup

if TYPE_CHECKING:
    # Typer carries its own copy of click, and names its types nowhere else.
    from typer._click.core import Command, Context


def commands_on_demand(places: Mapping[str, str]) -> type[TyperGroup]:
    """Answer a class of group for `typer.Typer(cls=…)` with these commands.

    `places` is, by the command's name, where it stands (`module:name`): a `typer.Typer`, or a function that
    is the command itself.
    """

    class CommandsOnDemand(TyperGroup):
        def list_commands(self, ctx: "Context") -> list[str]:
            del ctx
            return list(places)

        def get_command(self, ctx: "Context", cmd_name: str) -> "Command | None":
            del ctx
            place = places.get(cmd_name)
            if place is None:
                return None
            module, _, name = place.partition(":")
            found = getattr(import_module(module), name)
            if not isinstance(found, typer.Typer):
                alone = typer.Typer(add_completion=False)
                alone.command(cmd_name)(found)
                found = alone
            command = typer.main.get_command(found)
            command.name = cmd_name
            return command

    return CommandsOnDemand
