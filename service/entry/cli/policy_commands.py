"""`muniment policy`: its commands and where each stands. Those for authors start fast, without a database."""

from types import MappingProxyType
from typing import Final

import typer

from service.entry.cli.on_demand import commands_on_demand

POLICY_COMMANDS: Final = MappingProxyType(
    {
        "lint": "service.entry.cli.policy_lint:lint",
        "test": "service.entry.cli.policy_test:run_tests",
        "schema": "service.entry.cli.policy_schema:schema",
        "set": "service.entry.cli.policy_edit:set_value",
        "unset": "service.entry.cli.policy_edit:unset",
        "diff": "service.entry.cli.policy_plan:diff",
        "simulate": "service.entry.cli.policy_plan:simulate",
        "explain": "service.entry.cli.policy_explain:explain",
        "shadow": "service.entry.cli.policy_shadow:shadow",
        "activate": "service.entry.cli.policy_activate:activate",
        "approve": "service.entry.cli.policy_activate:approve",
        "cancel": "service.entry.cli.policy_activate:cancel",
        "rollback": "service.entry.cli.policy_activate:rollback",
        "history": "service.entry.cli.policy_activate:history",
    }
)

app = typer.Typer(
    cls=commands_on_demand(POLICY_COMMANDS),
    help="Write policies, see what they would do, make them count.",
    no_args_is_help=True,
    add_completion=False,
)


@app.callback()
def _policy() -> None:
    """Write policies, see what they would do, make them count."""
