"""`muniment tenants`: found tenants and list them."""

import typer

from service.audit.record import record
from service.core.clock import format_time
from service.entry.cli.opening import every, open_registry
from service.entry.cli.output import AsJson, answer, answer_list
from service.identity.tenants import create_tenant, list_tenants

app = typer.Typer(help="Found tenants and list them.", no_args_is_help=True, add_completion=False)


@app.command("create")
def create(name: str, *, as_json: AsJson = False) -> None:
    """Found a tenant, with the policy bundle of the policies folder as its first version."""
    # Policies are read by this command alone, and take a while to load.
    from service.policies.read_folder import read_folder  # noqa: PLC0415
    from service.policies.seed import seed_bundle  # noqa: PLC0415

    with open_registry() as registry, registry.write(registry.ids()) as unit:
        tenant = create_tenant(name, unit=unit, trail=record)
        files = read_folder(registry.record.settings.policies_dir)
        version = seed_bundle(unit.session, tenant.id, files, now=unit.now)
    answer({"id": tenant.id, "name": tenant.name, "policy_version": version}, as_json=as_json)


@app.command("list")
def list_all(*, as_json: AsJson = False) -> None:
    """List all tenants by name."""
    with open_registry() as registry, registry.record.database.read(None) as session:
        tenants = every(lambda request: list_tenants(request, session=session))
    items = [
        {"id": each.id, "name": each.name, "created_at": format_time(each.created_at)} for each in tenants
    ]
    answer_list(items, as_json=as_json)
