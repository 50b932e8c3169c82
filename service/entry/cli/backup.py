"""`muniment backup` and `muniment restore`: copy the record, and put a copy back."""

from pathlib import Path
from typing import Annotated

import typer

from service.core.clock import format_time, system_clock
from service.entry.cli.opening import open_registry
from service.entry.cli.output import AsJson, Fields, answer, answer_list, note
from service.governance.backups.model import KEEP_DAYS_DEFAULT, Backup
from service.settings import Settings
from service.wiring_backup import build_backup, build_restorer

app = typer.Typer(help="Copy the record into a folder.", add_completion=False)


@app.callback(invoke_without_command=True)
def backup(
    context: typer.Context,
    *,
    to: Annotated[Path | None, typer.Option("--to", help="The folder to write; new or empty.")] = None,
    keep_days: Annotated[
        int, typer.Option("--keep-days", help="After so many days you will have deleted it.")
    ] = KEEP_DAYS_DEFAULT,
    as_json: AsJson = False,
) -> None:
    """Copy the record into a folder, beside whoever works with it.

    Neither the key store nor the master key nor the index is in it: keep the first two apart.
    """
    if context.invoked_subcommand is not None:
        return
    if to is None:
        raise typer.BadParameter("name the folder with --to", ctx=context)
    with open_registry() as registry:
        manifest = build_backup(registry.record)(to, keep_days=keep_days)
    answer(
        {
            "id": manifest.id,
            "at": format_time(manifest.at),
            "expires_at": format_time(manifest.expires_at),
            "schema_revision": manifest.schema_revision,
            "rows": sum(table.rows for table in manifest.tables),
            "size_bytes": sum(table.size_bytes for table in manifest.tables),
        },
        as_json=as_json,
    )


@app.command("list")
def list_all(*, as_json: AsJson = False) -> None:
    """List every backup that was made, oldest first. Delete the folders of those that have expired."""
    with open_registry() as registry:
        found = build_backup(registry.record).list_all()
    answer_list([_fields(each) for each in found], as_json=as_json)


def restore(
    *,
    source: Annotated[Path, typer.Option("--from", help="The folder that `backup` wrote.")],
    replace: Annotated[bool, typer.Option("--replace", help="Put it in the place of what is there.")] = False,
    as_json: AsJson = False,
) -> None:
    """Put a backup back, without what was erased since, and without rights that ended since.

    Stop every process of the service first. Needs the key store that the backup was made with, as it is now.
    Exit code 1 when a trail in the backup does not hold.
    """
    # Everything that serving needs is needed here too, and takes a while to load.
    from service.wiring import build  # noqa: PLC0415

    runtime = build(Settings(), is_restoring=True)
    try:
        manifest, done = build_restorer(runtime)(source, replaces=replace)
    finally:
        runtime.close()
    if manifest.expires_at <= system_clock():
        note("This backup has expired: receipts of erasures say that it is deleted. Delete its folder.")
    answer(
        {
            "backup_id": manifest.id,
            "at": format_time(manifest.at),
            "tenants": len(done),
            "erased": sum(each.erased for each in done),
            "rights_ended": sum(each.rights_ended for each in done),
            "broken_chains": [each.tenant_id for each in done if each.chain_fault is not None],
        },
        as_json=as_json,
    )
    if any(each.chain_fault is not None for each in done):
        raise typer.Exit(1)


def _fields(backup: Backup) -> Fields:
    return {
        "id": backup.id,
        "at": format_time(backup.at),
        "expires_at": format_time(backup.expires_at),
        "expired": backup.expires_at <= system_clock(),
        "folder": backup.folder,
    }
