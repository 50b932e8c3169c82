"""`muniment projects`: make projects and say who is a member."""

from typing import Annotated

import typer

from service.audit.record import record
from service.core.clock import format_time
from service.entry.cli.opening import every, open_registry
from service.entry.cli.output import AsJson, TenantName, answer, answer_list
from service.identity.projects import (
    add_member,
    create_project,
    get_project,
    list_members,
    list_projects,
    remove_member,
)

app = typer.Typer(help="Make projects and say who is a member.", no_args_is_help=True, add_completion=False)

ProjectName = Annotated[str, typer.Option("--name", "--project", help="The project's name.")]
Subject = Annotated[str, typer.Option("--subject", "--member", help="Who: a user's or agent's name.")]


@app.command("create")
def create(
    *,
    tenant: TenantName,
    name: ProjectName,
    member: Annotated[
        list[str] | None, typer.Option("--member", help="A first member; may be repeated.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Make a project."""
    members = member or []
    with open_registry() as registry, registry.write(registry.tenant(tenant).id) as unit:
        project = create_project(name, unit=unit, trail=record)
        for subject in members:
            add_member(project, subject, unit=unit, trail=record)
    answer(
        {"id": project.id, "name": project.name, "tenant": tenant, "members": sorted(set(members))},
        as_json=as_json,
    )


@app.command("list")
def list_all(*, tenant: TenantName, as_json: AsJson = False) -> None:
    """List the tenant's projects by name."""
    with open_registry() as registry, registry.read(registry.tenant(tenant).id) as unit:
        projects = every(lambda request: list_projects(request, unit=unit))
    answer_list([{"id": each.id, "name": each.name} for each in projects], as_json=as_json)


@app.command("members")
def members_of(*, tenant: TenantName, name: ProjectName, as_json: AsJson = False) -> None:
    """List a project's members by name."""
    with open_registry() as registry, registry.read(registry.tenant(tenant).id) as unit:
        project = get_project(name, unit=unit)
        members = every(lambda request: list_members(project, request, unit=unit))
    items = [{"subject": each.subject, "since": format_time(each.created_at)} for each in members]
    answer_list(items, as_json=as_json)


@app.command("add-member")
def add(*, tenant: TenantName, name: ProjectName, subject: Subject, as_json: AsJson = False) -> None:
    """Make somebody a member, from their next request on."""
    with open_registry() as registry, registry.write(registry.tenant(tenant).id) as unit:
        added = add_member(get_project(name, unit=unit), subject, unit=unit, trail=record)
    answer({"project": name, "subject": subject, "added": added}, as_json=as_json)


@app.command("remove-member")
def remove(*, tenant: TenantName, name: ProjectName, subject: Subject, as_json: AsJson = False) -> None:
    """End a membership, from the next request on. Exit code 1 when there was none."""
    with open_registry() as registry, registry.write(registry.tenant(tenant).id) as unit:
        removed = remove_member(get_project(name, unit=unit), subject, unit=unit, trail=record)
    answer({"project": name, "subject": subject, "removed": removed}, as_json=as_json)
    if not removed:
        raise typer.Exit(1)
