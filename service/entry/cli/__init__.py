"""The command line. Commands are loaded when they are called, so that each starts fast.

Exit codes: 0 done, 1 no (refused, not found, not well), 2 asked in a way that means nothing.
"""

import sys
from collections.abc import Sequence
from types import MappingProxyType
from typing import Final

import typer

from service.core.errors import Invalid, Refusal
from service.entry.cli.on_demand import commands_on_demand

_LINES_MAX: Final = 30
COMMANDS: Final = MappingProxyType(
    {
        "serve": "service.entry.cli.serve:serve",
        "demo": "service.entry.cli.demo:demo",
        "rehearse": "service.entry.cli.rehearse:rehearse",
        "evaluate": "service.entry.cli.evaluate:evaluate",
        "tenants": "service.entry.cli.tenants:app",
        "projects": "service.entry.cli.projects:app",
        "keys": "service.entry.cli.keys:app",
        "ingest": "service.entry.cli.ingest:ingest",
        "handoff": "service.entry.cli.handoff:app",
        "reindex": "service.entry.cli.index:reindex",
        "index": "service.entry.cli.index:app",
        "import": "service.entry.cli.import_export:import_export",
        "backup": "service.entry.cli.backup:app",
        "restore": "service.entry.cli.backup:restore",
        "audit": "service.entry.cli.audit:app",
        "bundle": "service.entry.cli.bundle:app",
        "data-map": "service.entry.cli.data_map:data_map",
        "policy": "service.entry.cli.policy_commands:app",
        "settings": "service.entry.cli.settings_list:settings",
    }
)
"""Each command's name and where it stands: a `typer.Typer`, or a function that is the command itself."""


app = typer.Typer(
    cls=commands_on_demand(COMMANDS),
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


@app.callback()
def _muniment() -> None:
    """Context packages, resumable executions and governed memory for agents."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and answer its exit code; whatever goes wrong is one sentence on standard error."""
    try:
        app(args=arguments)
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(bool(end.code))
    except Refusal as refusal:
        return _say(_sentence(refusal), 2 if isinstance(refusal, Invalid) else 1)
    except OSError as failure:
        return _say(failure.strerror or type(failure).__name__, 1)
    except Exception as failure:
        known = _known_failure(failure)
        if known is None:
            raise
        return _say(*known)
    return 0


def _sentence(refusal: Refusal) -> str:
    errors = refusal.extra.get("errors")
    faults = errors if isinstance(errors, list) else []
    lines = [
        refusal.detail,
        *(f"  {fault['message']}" for fault in faults if fault["message"] != refusal.detail),
    ]
    return "\n".join(lines[:_LINES_MAX])


def _known_failure(failure: Exception) -> tuple[str, int] | None:
    # Imported only when something went wrong: most commands need none of these.
    from pydantic import ValidationError  # noqa: PLC0415
    from pydantic_settings import SettingsError  # noqa: PLC0415
    from sqlalchemy.exc import OperationalError  # noqa: PLC0415

    from service.adapters.master_key import MasterKeyError  # noqa: PLC0415
    from service.adapters.tokens_registered import TokenizerUnusable  # noqa: PLC0415
    from service.settings_outside import HeaderFileUnreadable  # noqa: PLC0415

    match failure:
        case ValidationError() if failure.title == "Settings":
            # pydantic's own text repeats the input, which may be a secret.
            return "; ".join(_setting_fault(fault["loc"], fault["msg"]) for fault in failure.errors()), 2
        case SettingsError() | MasterKeyError() | HeaderFileUnreadable() | TokenizerUnusable():
            return str(failure), 2
        case OperationalError():
            return "The database does not answer.", 1
    return None


def _setting_fault(place: tuple[int | str, ...], message: str) -> str:
    names = [f"MUNIMENT_{str(place[0]).upper()}", ".".join(map(str, place[1:]))] if place else []
    return ": ".join([*filter(None, names), message.removeprefix("Value error, ")])


def _say(sentence: str, code: int) -> int:
    print(sentence, file=sys.stderr)  # noqa: T201 - what a command line is for
    return code
