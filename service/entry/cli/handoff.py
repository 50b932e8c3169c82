"""`muniment handoff`: keeps a run in a folder, for agents that live in one."""

import json
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Annotated, Final, NoReturn

import httpx
import typer

from service.client import Muniment, Problem
from service.core.failpoints import arm
from service.entry.cli.output import AsJson, answer, note
from service.entry.handoff.calls import Calls
from service.entry.handoff.folder import LOG, NEXT_STEPS, Folder, FolderBusy, FolderUnfit
from service.entry.handoff.follow import Stop, follow
from service.entry.handoff.lines import LineUnreadable
from service.entry.handoff.pull import Pulled
from service.entry.handoff.pull import pull as pull_into
from service.entry.handoff.push import push as push_from
from service.entry.handoff.state import FolderState
from service.settings import Settings

app = typer.Typer(no_args_is_help=True, add_completion=False)

_TIMEOUT_SECONDS: Final = 30.0

Directory = Annotated[Path, typer.Option("--dir", help="The folder. `pull` makes it where it is missing.")]
ExecutionId = Annotated[str | None, typer.Option("--execution", help="The run's id.")]
ExternalRef = Annotated[
    str | None, typer.Option("--external-ref", help="The run's external reference, with --project.")
]
Project = Annotated[str | None, typer.Option("--project", help="The project's name.")]
Token = Annotated[
    str, typer.Option(envvar="MUNIMENT_TOKEN", help="An API key.", show_envvar=True, show_default=False)
]
Url = Annotated[str, typer.Option("--url", help="Where the service is.")]
_URL: Final = "http://127.0.0.1:8080"


@app.command()
def pull(
    *,
    folder: Directory,
    token: Token,
    execution: ExecutionId = None,
    external_ref: ExternalRef = None,
    project: Project = None,
    url: Url = _URL,
    watch: Annotated[bool, typer.Option("--watch", help="Go on until told to stop.")] = False,
    as_json: AsJson = False,
) -> None:
    """Bring `next-steps.txt` and `execution.jsonl` in step with the service.

    Lines that were written there are left alone. Without --execution or --external-ref, the run that the
    folder holds already is pulled.
    """
    with ExitStack() as stack:
        client = stack.enter_context(_working(url, token))
        named = _find(client, execution, external_ref, project)
        opened = stack.enter_context(Folder(folder, create=True))
        execution_id = FolderState.of(opened, named).execution_id
        stop = Stop()

        def told(pulled: Pulled) -> None:
            fields = {
                "execution_id": execution_id,
                "lines_added": pulled.lines,
                "next_steps_changed": pulled.next_steps,
                "next_steps": str(folder / NEXT_STEPS),
                "log": str(folder / LOG),
            }
            if watch and as_json:
                # One line for each change, for whoever reads along.
                typer.echo(json.dumps(fields))
            else:
                answer(fields, as_json=as_json)

        if not watch:
            told(pull_into(opened, Calls(client, execution_id)))
            return
        stop.listen()
        calls = Calls(client, execution_id, breakable=stop.breakable)
        follow(lambda: pull_into(opened, calls), stop, tell=told, warn=note)


@app.command()
def push(
    *,
    folder: Directory,
    token: Token,
    execution: ExecutionId = None,
    external_ref: ExternalRef = None,
    project: Project = None,
    url: Url = _URL,
    fencing_token: Annotated[
        int | None,
        typer.Option(
            min=1, envvar="MUNIMENT_FENCING_TOKEN", help="The token of the run's lease.", show_envvar=True
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Send the lines of `execution.jsonl` that were written there, each once.

    A line that is refused is named by its number and does not stop the others; then the exit code is 1.
    """
    with _working(url, token) as client, Folder(folder, create=False) as opened:
        named = _find(client, execution, external_ref, project)
        execution_id = FolderState.of(opened, named).execution_id
        pushed = push_from(opened, Calls(client, execution_id, fencing_token))
    refused = [{"line": line.number, "code": line.code, "detail": line.detail} for line in pushed.refused]
    for line in pushed.refused:
        note(f"{folder / LOG}:{line.number}: {line.detail} ({line.code})")
    fields = {"execution_id": execution_id, "sent": pushed.sent, "already": pushed.already}
    answer({**fields, "refused": refused if as_json else len(refused)}, as_json=as_json)
    raise typer.Exit(1 if refused else 0)


@contextmanager
def _working(url: str, token: str) -> Iterator[Muniment]:
    """Open a client, and say in a sentence what goes wrong while it is used."""
    if not url.startswith(("http://", "https://")):
        raise typer.BadParameter("needs an address that begins with http:// or https://", param_hint="--url")
    if not (token.isascii() and token.isprintable()):
        raise typer.BadParameter("holds characters that no key has", param_hint="--token")
    arm(Settings().failpoints)
    try:
        with Muniment(url, token, timeout_seconds=_TIMEOUT_SECONDS) as client:
            yield client
    except Problem as problem:
        _end(f"The service refuses: {problem.detail or problem.code} ({problem.code})")
    except httpx.TransportError as failure:
        _end(f"The service does not answer: {type(failure).__name__}")
    except httpx.InvalidURL:
        raise typer.BadParameter("is no address that can be called", param_hint="--url") from None
    except (FolderUnfit, FolderBusy) as failure:
        _end(str(failure))
    except LineUnreadable:
        _end("What answers there is no service of this kind.")


def _end(sentence: str) -> NoReturn:
    note(sentence)
    raise typer.Exit(1) from None


def _find(
    client: Muniment, execution: str | None, external_ref: str | None, project: str | None
) -> str | None:
    """Answer the named run's id, `None` when none is named."""
    if (external_ref is None) != (project is None) or (external_ref is not None and execution is not None):
        raise typer.BadParameter("give --execution, or --external-ref with --project")
    if external_ref is None or project is None:
        return execution
    found = client.find_execution(project, external_ref)
    if found is None:
        _end("The project has no run of that external reference.")
    return found.id
