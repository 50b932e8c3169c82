"""`muniment reindex` and `muniment index`: rebuild, verify and repair the search index from the record.

They need an embedded index to themselves: stop `serve` first. Beside a Qdrant server they run along.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from service.entry.cli.opening import every
from service.entry.cli.output import AsJson, Fields, TenantName, answer_list
from service.identity.tenants import get_tenant, list_tenants
from service.jobs import reindex as work
from service.settings import Settings
from service.wiring import Runtime, build

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

app = typer.Typer(help="Verify and repair the search index.", no_args_is_help=True, add_completion=False)
AnyTenant = Annotated[
    str | None, typer.Option("--tenant", help="The tenant's name; without it, all of them.")
]


@app.callback()
def _index() -> None:
    """Verify and repair the search index."""


def reindex(*, tenant: AnyTenant = None, as_json: AsJson = False) -> None:
    """Write every passage of the record anew and remove what the record does not hold."""
    # Drawing a bar is needed here alone, and takes a while to load.
    from rich.console import Console  # noqa: PLC0415
    from rich.progress import Progress  # noqa: PLC0415

    done: list[Fields] = []
    with _runtime() as runtime, Progress(console=Console(stderr=True), disable=as_json) as progress:
        for name, tenant_id in _tenants(runtime, tenant):
            for indexer in runtime.indexers:
                bar = progress.add_task(f"{name}: {indexer.kind.value}", total=None)
                written = work.reindex(tenant_id, indexer, progress=partial(_show, progress, bar))
                progress.update(bar, total=written, completed=written)
                done.append({"tenant": name, "kind": indexer.kind.value, "passages": written})
    answer_list(done, as_json=as_json)


@app.command("verify")
def verify(*, tenant: TenantName, as_json: AsJson = False) -> None:
    """Compare the index with the record, changing nothing. Exit code 1 when they differ."""
    with _runtime() as runtime:
        [(name, tenant_id)] = _tenants(runtime, tenant)
        reports = [work.verify(tenant_id, indexer) for indexer in runtime.indexers]
    answer_list([_shown(name, report) for report in reports], as_json=as_json)
    if not all(report.is_whole for report in reports):
        raise typer.Exit(1)


@app.command("repair")
def repair(*, tenant: TenantName, as_json: AsJson = False) -> None:
    """Bring the index in line with the record; answer what was found to differ."""
    with _runtime() as runtime:
        [(name, tenant_id)] = _tenants(runtime, tenant)
        reports = [work.repair(tenant_id, indexer) for indexer in runtime.indexers]
    answer_list([_shown(name, report) for report in reports], as_json=as_json)


def _show(progress: "Progress", bar: "TaskID", passages: int) -> None:
    progress.update(bar, completed=passages)


def _shown(tenant: str, report: work.IndexReport) -> Fields:
    return {
        "tenant": tenant,
        "kind": report.kind.value,
        "expected": report.expected,
        "missing": len(report.missing),
        "stray": len(report.stray),
    }


@contextmanager
def _runtime() -> Iterator[Runtime]:
    runtime = build(Settings())
    try:
        yield runtime
    finally:
        runtime.close()


def _tenants(runtime: Runtime, name: str | None) -> list[tuple[str, str]]:
    with runtime.database.read(None) as session:
        if name is not None:
            return [(name, get_tenant(name, session=session).id)]
        return [(tenant.name, tenant.id) for tenant in every(partial(list_tenants, session=session))]
