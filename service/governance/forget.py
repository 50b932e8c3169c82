"""`forget`: erase one memory from every store, and say for each what a query of its own finds afterwards.

The record and what hangs on it go in one transaction; the index follows from the outbox. Between the two the
index may still hold a vector: nothing returns it, since every hit is read again in the record.
"""

from dataclasses import replace

from service.audit.model import Action
from service.audit.record import record
from service.core.errors import Forbidden, NotFound
from service.core.idempotency import IdempotencyStore
from service.governance.model import Erasure, StoreReceipt
from service.governance.store_erasures import ErasureStore
from service.identity.model import Role
from service.identity.unit import Unit
from service.memories.model import Memory
from service.memories.store import MemoryStore
from service.memories.store_proposals import ProposalStore
from service.memories.store_slots import SlotStore
from service.policies.model import Bundle

INDEX = "index"
"""The one store that is not part of the transaction."""


def forget_memory(memory_id: str, *, passages_held: int | None, unit: Unit, bundle: Bundle) -> Erasure:
    """Remove a memory and everything that holds its words; the index is told and checked afterwards.

    `passages_held` is what the index was found to hold of it before; `None` says that it did not answer.

    Raises `NotFound` for one that the caller may not read, `Forbidden` for one that is not theirs to delete.
    """
    store = MemoryStore.of(unit, bundle)
    memory = store.get_readable(memory_id, caller=unit.caller, now=unit.now)
    if memory is None:
        raise NotFound
    _only_theirs(memory, unit, bundle)
    slots = SlotStore.of(unit)
    versions = slots.remove(memory.id)
    if not versions:
        # Of two at once the other was first, and its receipt is the one that is true.
        raise NotFound
    proposals = ProposalStore.of(unit)
    emptied = proposals.forget_memory(memory.id)
    answers = IdempotencyStore(unit.session, unit.tenant_id, unit.cipher)
    erased = answers.erase([memory.id])
    unit.stage("memory.deleted", item_id=memory.id)
    erasure = Erasure(
        id=unit.ids(),
        kind="memory",
        ref=memory.id,
        requester=unit.caller.principal,
        stores=(
            _receipt("memories", versions, left=slots.count_versions(memory.id)),
            _receipt("proposals", len(emptied), left=proposals.count_holding(emptied)),
            _receipt("idempotency", erased, left=answers.count_holding([memory.id])),
            StoreReceipt(INDEX, passages_held or 0, verified=False, is_done=False),
        ),
        created_at=unit.now,
        completed_at=None,
    )
    ErasureStore.of(unit).add(erasure)
    record(unit, Action.MEMORY_ERASED, kind="memory", ref=memory.id, erasure=erasure.id)
    return erasure


def settle_erasure(erasure: Erasure, *, passages_left: int | None, unit: Unit) -> Erasure:
    """Write down what the index was found to hold still; `None` says that it did not answer."""
    is_gone = passages_left == 0
    stores = tuple(
        replace(store, verified=is_gone, is_done=is_gone) if store.store == INDEX else store
        for store in erasure.stores
    )
    settled = replace(erasure, stores=stores)
    settled = replace(settled, completed_at=unit.now if settled.is_complete else None)
    ErasureStore.of(unit).update(settled)
    return settled


def get_erasure(erasure_id: str, *, unit: Unit) -> Erasure:
    """Answer an erasure that the caller asked for. Raises `NotFound` for any other."""
    erasure = ErasureStore.of(unit).find(erasure_id)
    if erasure is None or erasure.requester != unit.caller.principal:
        raise NotFound
    return erasure


def _receipt(store: str, removed: int, *, left: int) -> StoreReceipt:
    """Answer what was done in a store that is part of the transaction; `left` is what it was asked after."""
    return StoreReceipt(store, removed, verified=left == 0, is_done=left == 0)


def _only_theirs(memory: Memory, unit: Unit, bundle: Bundle) -> None:
    caller = unit.caller
    if caller.act is not None or caller.role is not Role.USER:
        raise Forbidden("Only the person deletes what is remembered about them.")
    if memory.content.subject is not None:
        if memory.content.subject != caller.person:
            raise Forbidden("Only the person deletes what is remembered about them.")
        return
    rule = bundle.classes.get(memory.class_name)
    if rule is None or caller.role not in rule.correctors:
        raise Forbidden("The policy does not let this role delete what is remembered for the project.")
