"""`muniment policy activate | approve | cancel | rollback | history`: which version counts, on whose word.

They work on the record as the service does, with a credential where they change something.
"""

import shlex
from collections.abc import Mapping
from typing import Annotated, Final

import typer

from service.authoring.activate import activate_plan, approve_activation, cancel_activation, expect_active
from service.authoring.activation import Activation, ActivationStatus
from service.authoring.measure import measure_activation, measure_plan
from service.authoring.rollback import roll_back
from service.authoring.store_activations import ActivationStore
from service.authoring.store_plans import PlanStore
from service.core.clock import format_time
from service.entry.cli.opening import every, open_registry
from service.entry.cli.output import AsJson, TenantName, answer, answer_list, note
from service.identity.matrix import POLICIES_ACTIVATE
from service.policies.store import PolicyStore

Token = Annotated[
    str,
    typer.Option("--as", envvar="MUNIMENT_TOKEN", help="The API key of a policy admin.", show_default=False),
]
_COLUMNS: Final = ("id", "revision", "kind", "status", "direction", "to_version", "activated_at")


def activate(
    plan: Annotated[str, typer.Argument(metavar="PLAN", help="The id of a plan that was simulated.")],
    *,
    tenant: TenantName,
    token: Token,
    plan_hash: Annotated[
        str | None, typer.Option("--hash", help="The hash of the plan that was looked at, to be compared.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Make a plan's version count. What may allow more than before waits for a second person: `approve`."""
    with open_registry() as opened:
        registry = opened.signed_in(token, tenant, POLICIES_ACTIVATE)
        tenant_id = registry.tenant(tenant).id
        with registry.read(tenant_id) as unit:
            kept = PlanStore.of(unit).get(plan)
            measured = measure_plan(kept.id, unit=unit)
        with registry.write(tenant_id) as unit:
            done = activate_plan(
                kept.id,
                plan_hash or kept.hash,
                measured=measured,
                expected_revision=kept.base_revision,
                unit=unit,
            )
    _tell(done, tenant, as_json=as_json)


def approve(
    activation: Annotated[str, typer.Argument(metavar="ID", help="The activation that waits.")],
    *,
    tenant: TenantName,
    token: Token,
    as_json: AsJson = False,
) -> None:
    """Say yes to an activation as the second person. Its version counts from then on."""
    with open_registry() as opened:
        registry = opened.signed_in(token, tenant, POLICIES_ACTIVATE)
        tenant_id = registry.tenant(tenant).id
        with registry.read(tenant_id) as unit:
            measured = measure_activation(activation, unit=unit)
        with registry.write(tenant_id) as unit:
            done = approve_activation(activation, measured=measured, unit=unit)
    _tell(done, tenant, as_json=as_json)


def cancel(
    activation: Annotated[str, typer.Argument(metavar="ID", help="The activation that waits.")],
    *,
    tenant: TenantName,
    token: Token,
    as_json: AsJson = False,
) -> None:
    """Call off an activation that waits for a second person."""
    with open_registry() as opened:
        registry = opened.signed_in(token, tenant, POLICIES_ACTIVATE)
        with registry.write(registry.tenant(tenant).id) as unit:
            done = cancel_activation(activation, unit=unit)
    _tell(done, tenant, as_json=as_json)


def rollback(
    *,
    tenant: TenantName,
    token: Token,
    to_version: Annotated[
        str | None, typer.Option("--to", help="The version to go back to; without it, the one before.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Go back to a version that counted before, and say what that does not bring back."""
    with open_registry() as opened:
        registry = opened.signed_in(token, tenant, POLICIES_ACTIVATE)
        with registry.write(registry.tenant(tenant).id) as unit:
            active = PolicyStore.of(unit).find_active()
            revision = 0 if active is None else expect_active(active.revision, unit).revision
            done = roll_back(to_version, expected_revision=revision, unit=unit)
    _tell(done.activation, tenant, as_json=as_json, cannot_be_undone=done.cannot_be_undone)


def history(*, tenant: TenantName, as_json: AsJson = False) -> None:
    """List how the policy came to be what it is, the newest first. The first version is no activation."""
    with open_registry() as registry, registry.read(registry.tenant(tenant).id) as unit:
        found = every(ActivationStore.of(unit).page)
    answer_list([_fields(one) for one in found], as_json=as_json, columns=_COLUMNS)


def _tell(
    done: Activation, tenant: str, *, as_json: bool, cannot_be_undone: Mapping[str, int] | None = None
) -> None:
    fields = _fields(done)
    if cannot_be_undone is not None:
        shown = [f"{number} {name.replace('_', ' ')}" for name, number in cannot_be_undone.items()]
        fields |= {"cannot_be_undone": dict(cannot_be_undone) if as_json else shown}
    answer(fields, as_json=as_json)
    if done.status is ActivationStatus.PENDING_SECOND_PERSON:
        note(
            "It may allow more than before, so nothing has changed yet. Another policy admin says yes with:"
            f" {shlex.join(['muniment', 'policy', 'approve', done.id, '--tenant', tenant])}"
        )


def _fields(one: Activation) -> dict[str, object]:
    return {
        "id": one.id,
        "kind": one.kind.value,
        "status": one.status.value,
        "direction": one.direction,
        "from_version": one.from_version,
        "to_version": one.to_version,
        "revision": one.revision,
        "plan": one.plan_id,
        "requested_by": one.requester[:16],
        "second_person": one.second_person and one.second_person[:16],
        "created_at": format_time(one.created_at),
        "activated_at": one.activated_at and format_time(one.activated_at),
        "effective_at": one.effective_at and format_time(one.effective_at),
    }
