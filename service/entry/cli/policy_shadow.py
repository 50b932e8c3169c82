"""`muniment policy shadow`: watch what a candidate would decide, beside the policy that counts."""

from typing import Annotated

import typer

from service.authoring.shadow import begin_shadow, end_shadow, look_at_shadow
from service.authoring.shadow_model import SHADOW_DAYS_MAX
from service.authoring.store_plans import PlanStore
from service.entry.cli.opening import open_registry
from service.entry.cli.output import AsJson, TenantName, answer, note, print_json
from service.entry.policy_shadow import shadow_answer
from service.identity.matrix import POLICIES_ACTIVATE, POLICIES_READ
from service.wire.policies_shadow import ShadowAnswer


def shadow(
    plan: Annotated[str | None, typer.Argument(metavar="[PLAN]", help="A plan to begin with.")] = None,
    *,
    tenant: TenantName,
    token: Annotated[
        str | None,
        typer.Option(
            "--as", envvar="MUNIMENT_TOKEN", help="The API key of a policy admin, to begin or stop."
        ),
    ] = None,
    days: Annotated[int, typer.Option("--days", min=1, max=SHADOW_DAYS_MAX, help="How long to watch.")] = 14,
    stop: Annotated[bool, typer.Option("--stop", help="Stop watching.")] = False,
    as_json: AsJson = False,
) -> None:
    """Tell what a candidate would have decided otherwise; with PLAN begin to watch it. It decides nothing."""
    if (plan is not None or stop) and token is None:
        raise typer.BadParameter("beginning and stopping need a policy admin's key: --as or MUNIMENT_TOKEN")
    if plan is not None and stop:
        raise typer.BadParameter("name a plan or say --stop, not both")
    with open_registry() as opened:
        scope = POLICIES_READ if plan is None and not stop else POLICIES_ACTIVATE
        registry = opened if token is None else opened.signed_in(token, tenant, scope)
        tenant_id = registry.tenant(tenant).id
        if plan is not None:
            with registry.write(tenant_id) as unit:
                begin_shadow(plan, PlanStore.of(unit).get(plan).hash, days=days, unit=unit)
        if stop:
            with registry.write(tenant_id) as unit:
                end_shadow(unit)
        with registry.read(tenant_id) as unit:
            found = shadow_answer(look_at_shadow(unit), unit)
    if as_json:
        print_json(found.model_dump(mode="json"))
    else:
        _tell(found)


def _tell(found: ShadowAnswer) -> None:
    proposals, packages = found.affected["proposals"], found.affected["packages"]
    answer(
        {
            "id": found.id,
            "plan": found.plan,
            "status": found.status,
            "candidate": found.candidate_version,
            "began_at": found.began_at.isoformat(),
            "until": found.until.isoformat(),
            "proposals": f"{proposals['otherwise']} of {proposals['judged']} would be decided otherwise",
            "packages": f"{packages['otherwise']} of {packages['looked_at']} would be other ones",
        },
        as_json=False,
    )
    for sample in found.samples["proposals"]:
        note(f"{sample['id']} {sample['class']}: {sample['before']} -> {sample['after']}")
