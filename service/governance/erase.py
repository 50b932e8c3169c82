"""Erasing, in parts that each fit one transaction: asked for, worked at store by store, verified, completed.

The first transaction gathers what is reached, asks the holds, hides it all and ends the runs. What destroys
it goes on from there in bounded bites, each of which says in the erasure's own row how far it came: so a
crash loses nothing, and of two that work at once neither does anything twice.
"""

from dataclasses import replace
from datetime import datetime
from typing import Final

from service.audit.model import Action
from service.audit.record import record
from service.core.failpoints import hit
from service.core.quarantined import Quarantined
from service.core.tombstones import Right
from service.governance.hold import refuse_held
from service.governance.model import CLOSED_OVER, Erasure, Kind, State, StoreReceipt, Target
from service.governance.registry import INDEX, KEYS, LEDGER_OF_THE_GONE, stores_of
from service.governance.store_erasures import ErasureStore
from service.governance.store_hiding import HidingStore
from service.governance.store_holds import HoldStore
from service.governance.store_reach import ReachStore
from service.identity.unit import Unit

ERASE_TOPIC: Final = "erasure.run"
"""The message that an erasure is to go on; it holds its id."""
BITE_ROWS: Final = 2_000
"""Most rows of a store that one transaction takes: a fraction of a second."""


def begin_erasure(
    kind: Kind,
    ref: str,
    *,
    unit: Unit,
    subject: str | None = None,
    closes_account: bool = False,
    erasure: Erasure | None = None,
    heeds_holds: bool = True,
) -> Erasure:
    """Hide what is reached, for good, and see to it that it is destroyed; answer the erasure.

    The caller has decided who may, and holds the lock of `lock_deletions`. One that runs already is answered
    again, and goes on where it stopped. `erasure` is one whose time of grace is over. Without `heeds_holds`
    it repeats an erasure that no hold kept from being carried out. Raises `Held`.
    """
    store = ErasureStore.of(unit)
    running = store.find_open(kind, ref)
    if erasure is None and running is not None and running.state is not State.PENDING:
        unit.stage(ERASE_TOPIC, erasure_id=running.id)
        return running
    begun = erasure or running or new_erasure(kind, ref, unit=unit, subject=subject, account=closes_account)
    if erasure is None and running is None:
        store.add(begun)
    ReachStore(begun.target, unit).gather()
    if heeds_holds:
        refuse_held(begun.target, unit=unit)
    begun = replace(begun, state=State.RUNNING, stores=_receipts(begun.target))
    _hide(begun, unit)
    if begun.kind is not Kind.SUBJECT:
        # A person's texts are noise as soon as the key is gone; of the rest, most fits into this transaction.
        begun = _first_bites(begun, unit)
    store.update(begun)
    unit.stage(ERASE_TOPIC, erasure_id=begun.id)
    record(unit, Action.ERASURE_BEGUN, kind="erasure", ref=begun.id, target=kind.value)
    return begun


def lock_deletions(unit: Unit) -> None:
    """Let one deletion of the tenant follow another, and none pass a hold that is being placed."""
    HoldStore.of(unit).lock()


def new_erasure(
    kind: Kind, ref: str, *, unit: Unit, subject: str | None = None, account: bool = False
) -> Erasure:
    """Answer an erasure that nothing has been done for yet, asked for by the unit's caller."""
    return Erasure(
        id=unit.ids(),
        kind=kind,
        ref=ref,
        requester=requester_of(unit),
        state=State.RUNNING,
        stores=(),
        created_at=unit.now,
        subject=subject,
        closes_account=account,
    )


def requester_of(unit: Unit) -> str:
    """Answer what an erasure keeps of who asks."""
    return unit.cipher.keyed_hash(unit.caller.principal)


def steps_of(target: Target) -> tuple[str, ...]:
    """Answer the steps of the job, in order: the key first, so that the rest is noise wherever it stops."""
    keys = (KEYS,) if target.kind is Kind.SUBJECT else ()
    # What ends with its time ends again where a copy brings it back, and needs no entry in the ledger.
    ledger = () if target.kind is Kind.RETENTION else (LEDGER_OF_THE_GONE,)
    return (*keys, *ledger, *(store.name for store in stores_of(target.kind)), INDEX)


def erase_stores(erasure_id: str, *, unit: Unit) -> int | None:
    """Erase a bounded part of what the stores of the record hold, store after store from the present step on.

    What is reached is gathered anew first: so what has arrived since is caught. Answers at which step it
    stands then, `None` for an erasure that is not there or over.
    """
    found = ErasureStore.of(unit)
    erasure = found.find(erasure_id, lock=True)
    if erasure is None or erasure.state is State.COMPLETED:
        return None
    stores = {store.name: store for store in stores_of(erasure.kind)}
    if ReachStore(erasure.target, unit).gather():
        _hide(erasure, unit)
    left = BITE_ROWS
    while left and (step := _step_of(erasure)) in stores:
        hit(f"erase.{step}.before")
        erased = stores[step].erase(erasure.target, unit, left)
        is_done = erased < left
        erasure = _noted(erasure, step, removed=erased, is_done=is_done)
        erasure = replace(erasure, step=erasure.step + is_done)
        left -= erased
        if is_done:
            hit(f"erase.{step}.after")
    found.update(erasure)
    return erasure.step


def note_removed(erasure_id: str, step: str, removed: int, *, is_done: bool, unit: Unit) -> None:
    """Write down what a step outside the record removed, unless somebody else has done that step before."""
    store = ErasureStore.of(unit)
    erasure = store.find(erasure_id, lock=True)
    if erasure is not None and _step_of(erasure) == step:
        noted = _noted(erasure, step, removed=removed, is_done=is_done)
        store.update(replace(noted, step=erasure.step + is_done))


def verify(
    erasure_id: str, *, unit: Unit, index_left: int, backups_expire_at: datetime | None = None
) -> Erasure | None:
    """Ask every store again, by queries of their own, and complete the erasure where all found nothing.

    Otherwise it goes on from its first step: something has arrived meanwhile, or come back. Answers the
    erasure, `None` for one that is not there. `backups_expire_at` is when the last copy of it does.
    """
    store = ErasureStore.of(unit)
    erasure = store.find(erasure_id, lock=True)
    if erasure is None or erasure.state is State.COMPLETED:
        return erasure
    if erasure.kind in CLOSED_OVER:
        # Whoever looked at a source before it went may be keeping what they make of it: they end first.
        Quarantined(unit.session, unit.tenant_id).lock()
    reach = ReachStore(erasure.target, unit)
    is_more = reach.gather() > 0
    left = {one.name: one.count(erasure.target, unit) for one in stores_of(erasure.kind)} | {
        INDEX: index_left
    }
    receipts = tuple(replace(receipt, verified=not left.get(receipt.store, 0)) for receipt in erasure.stores)
    if is_more or any(left.values()):
        erasure = replace(erasure, stores=receipts, step=0)
        store.update(erasure)
        return erasure
    reach.clear()
    completed = replace(
        erasure,
        stores=receipts,
        state=State.COMPLETED,
        failure=None,
        completed_at=unit.now,
        backups_expire_at=backups_expire_at,
    )
    store.update(completed)
    record(unit, Action.ERASURE_COMPLETED, kind="erasure", ref=erasure.id, target=erasure.kind.value)
    return completed


def note_failure(erasure_id: str, failure: str, *, is_last: bool, unit: Unit) -> None:
    """Write down by its code what stopped the last attempt; after the last one the erasure is `failed`."""
    store = ErasureStore.of(unit)
    erasure = store.find(erasure_id, lock=True)
    if erasure is not None and erasure.state is not State.COMPLETED:
        state = State.FAILED if is_last else erasure.state
        store.update(replace(erasure, failure=failure[:64], state=state))


def count_overdue(unit: Unit) -> int:
    """Count the tenant's erasures that should have been complete by now and are not."""
    return ErasureStore.of(unit).count_overdue(unit.now)


def is_waiting(erasure: Erasure, now: datetime) -> bool:
    """Say whether its time of grace has not ended."""
    return erasure.state is State.PENDING and erasure.starts_at is not None and now < erasure.starts_at


def _hide(erasure: Erasure, unit: Unit) -> None:
    hiding = HidingStore(erasure.target, unit)
    hiding.hide_memories()
    for execution_id in hiding.end_runs():
        record(unit, Action.EXECUTION_CANCELLED, kind="execution", ref=execution_id, by="erased")
    if erasure.closes_account:
        for key_id in hiding.close_account(erasure.due_at):
            unit.end_right(Right.KEY, key_id)
            record(unit, Action.KEY_REVOKED, kind="key", ref=key_id)


def _first_bites(erasure: Erasure, unit: Unit) -> Erasure:
    for store in stores_of(erasure.kind):
        erased = store.erase(erasure.target, unit, BITE_ROWS)
        erasure = _noted(erasure, store.name, removed=erased, is_done=False)
    return erasure


def _receipts(target: Target) -> tuple[StoreReceipt, ...]:
    return tuple(StoreReceipt(step, 0, verified=False, is_done=False) for step in steps_of(target))


def _noted(erasure: Erasure, step: str, *, removed: int, is_done: bool) -> Erasure:
    stores = [
        replace(one, removed=one.removed + removed, is_done=one.is_done or is_done)
        if one.store == step
        else one
        for one in erasure.stores
    ]
    return replace(erasure, stores=tuple(stores))


def _step_of(erasure: Erasure) -> str | None:
    steps = steps_of(erasure.target)
    return steps[erasure.step] if erasure.step < len(steps) else None
