"""Keeping a run's lease, and giving it back."""

from dataclasses import replace
from datetime import timedelta

from service.audit.model import Action
from service.audit.record import record
from service.executions.leases.model import Lease
from service.executions.leases.refusals import FencingTokenStale, LeaseLapsed
from service.executions.let_go import release_lease
from service.executions.refusals import ActingUserOnly
from service.executions.store import ExecutionStore
from service.identity.unit import Unit


def renew(execution_id: str, *, unit: Unit, lifetime: timedelta) -> Lease:
    """Answer the caller's lease with a new end.

    Raises `LeaseLapsed` when none lives: what it was given for may have changed, so only a resume gives
    another. Raises `FencingTokenStale` when it lives under another token.
    """
    store = ExecutionStore.of(unit)
    lease = _own(execution_id, store, unit)
    renewed = replace(lease, expires_at=unit.now + lifetime)
    store.leases.keep(renewed)
    return renewed


def give_back(execution_id: str, *, unit: Unit) -> None:
    """End the caller's lease, so that the next resume need not wait for its end. Twice changes nothing."""
    store = ExecutionStore.of(unit)
    execution = store.get(execution_id, lock=True)
    if execution.acting_user != unit.caller.sub:
        raise ActingUserOnly
    lease = store.leases.find(execution_id)
    if lease is None or unit.fencing_token != lease.fencing_token:
        raise FencingTokenStale
    if lease.lives(unit.now):
        release_lease(store, execution)
        record(
            unit,
            Action.LEASE_GIVEN_BACK,
            kind="execution",
            ref=execution_id,
            fencing_token=lease.fencing_token,
        )


def _own(execution_id: str, store: ExecutionStore, unit: Unit) -> Lease:
    execution = store.get(execution_id, lock=True)
    if execution.acting_user != unit.caller.sub:
        raise ActingUserOnly
    lease = store.leases.find(execution_id)
    if lease is None or not lease.lives(unit.now):
        raise LeaseLapsed
    if unit.fencing_token != lease.fencing_token:
        raise FencingTokenStale
    return lease
