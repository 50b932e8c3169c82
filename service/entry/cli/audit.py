"""`muniment audit`: read a tenant's trail from its first event to its end and say whether it holds."""

import typer

from service.audit.verify import verify_chain
from service.entry.cli.opening import open_registry
from service.entry.cli.output import AsJson, TenantName, answer

app = typer.Typer(help="Check what was written down.", no_args_is_help=True, add_completion=False)


@app.callback()
def _audit() -> None:
    """Check what was written down."""


@app.command("verify")
def verify(*, tenant: TenantName, as_json: AsJson = False) -> None:
    """Verify the tenant's whole chain. Exit code 1 when it does not hold.

    Note the head's hash elsewhere: only that shows an older copy of the entire record put in its place.
    """
    with open_registry() as registry:
        tenant_id = registry.tenant(tenant).id
        with registry.record.database.read(tenant_id) as session:
            cipher = registry.record.ciphers.for_tenant(tenant_id)
            verdict = verify_chain(session, tenant_id, cipher=cipher)
    answer(
        {
            "tenant": tenant,
            "intact": verdict.intact,
            "events": verdict.events,
            "head_hash": verdict.head_hash,
            "fault": None if verdict.fault is None else str(verdict.fault),
            "first_bad_sequence": verdict.first_bad_sequence,
        },
        as_json=as_json,
    )
    if not verdict.intact:
        raise typer.Exit(1)
