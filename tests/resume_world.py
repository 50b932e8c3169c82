"""Going on with a run of the executions' world: what tests of recovery stand on."""

from collections.abc import Mapping
from typing import Any

from executions_world import AGENT, OPERATOR, World

from service.context.references import RecordReferences
from service.core.errors import Refusal
from service.executions.delivery.model import Outcome
from service.executions.lease import give_back
from service.executions.leases.model import LEASE_LIFETIME
from service.executions.ledger.model import Effect
from service.executions.model import Execution
from service.executions.reconcile import Reconciliation, reconcile
from service.executions.recovery.model import Found
from service.executions.resume import Resumption, resume
from service.executions.sources import Drift
from service.identity.model import Caller


def ask(
    world: World,
    run: Execution,
    who: Caller = AGENT,
    *,
    token: int | None = None,
    at_source: Mapping[str, Drift] | None = None,
    **found: Any,
) -> Resumption | Refusal:
    """Resume a run; its contract's hash is given unless the test says otherwise."""
    found.setdefault("contract_hash", run.contract_hash)
    with world.unit(who, token=token) as unit:
        return resume(
            run.id,
            Found(**found),
            unit=unit,
            bundle=world.bundle,
            references=RecordReferences(unit, world.bundle),
            at_source=at_source or {},
            lease_lifetime=LEASE_LIFETIME,
        )


def take(world: World, run: Execution, who: Caller = AGENT, **found: Any) -> Resumption:
    """Resume a run that may be gone on with."""
    resumed = ask(world, run, who, **found)
    assert isinstance(resumed, Resumption)
    return resumed


def decision(world: World, run: Execution, who: Caller = AGENT, **found: Any) -> str:
    """Resume a run, answer the decision as callers read it, and hold the run no longer."""
    resumed = take(world, run, who, **found)
    if resumed.lease is not None:
        with world.unit(who, token=resumed.lease.fencing_token) as unit:
            give_back(run.id, unit=unit)
    return str(resumed.decision)


def settle_by_operator(
    world: World, run: Execution, operation_id: str, outcome: Outcome = Outcome.COMMITTED
) -> Effect:
    """Let an operator say what became of an operation."""
    with world.unit(OPERATOR) as unit:
        return reconcile(
            run.id,
            operation_id,
            Reconciliation(outcome),
            unit=unit,
            bundle=world.bundle,
            references=RecordReferences,
        )
