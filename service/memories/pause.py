"""`pause` and `resume`: a memory counts for nothing for a while without being deleted, and counts again.

`resume` also takes a deletion back while its class gives time for that.
"""

from service.audit.model import Action
from service.audit.record import record
from service.core.errors import Conflict, Forbidden
from service.core.quarantined import Quarantined
from service.core.tombstones import Right
from service.identity.unit import Unit
from service.memories.correct import lock_readable
from service.memories.hide import hide_from_answers
from service.memories.model import Memory, MemoryStatus
from service.memories.rules import may_change
from service.memories.store import MemoryStore
from service.memories.store_changes import ChangeStore, Locked
from service.memories.store_slots import SlotStore
from service.policies.model import Bundle


class NotPausable(Conflict):
    """The memory counts for nothing already, for another reason than a pause."""

    code = "memory_not_pausable"
    title = "Only an active memory can be paused"


class NotResumable(Conflict):
    """The memory has ended, or is put aside by somebody else."""

    code = "memory_not_resumable"
    title = "Only what is paused, or deleted with time to take that back, can be resumed"


class SlotTaken(Conflict):
    """Another value of the same subject, class and key is active meanwhile."""

    code = "memory_slot_taken"
    title = "Another value is remembered under this key meanwhile"


class NoRoomLeft(Conflict):
    """As many memories of the class are kept as the policy lets one subject have."""

    code = "memory_quota_used"
    title = "The class keeps no more memories of this subject"


def pause_memory(memory_id: str, *, unit: Unit, bundle: Bundle) -> Memory:
    """Let a memory count for nothing from now on; its person still sees it listed. Repeating is fine.

    Raises `NotFound`, `Forbidden` for one that is not theirs, `NotPausable`.
    """
    memory, _locked = _locked_own(memory_id, unit, bundle)
    if memory.status is MemoryStatus.PAUSED:
        return memory
    if memory.status is not MemoryStatus.ACTIVE:
        raise NotPausable
    ChangeStore.of(unit).set_status(memory.id, MemoryStatus.PAUSED)
    unit.end_right(Right.USE, memory.id)
    hide_from_answers([memory.id], unit=unit)
    return _changed(memory, Action.MEMORY_PAUSED, unit, bundle)


def resume_memory(memory_id: str, *, unit: Unit, bundle: Bundle) -> Memory:
    """Let a paused memory count again, or take its deletion back. Repeating is fine.

    Raises `NotFound`, `Forbidden` for one that is not theirs, `NotResumable`, and where it would be a second
    value in its slot, or one more than the class keeps, `SlotTaken` and `NoRoomLeft`.
    """
    memory, locked = _locked_own(memory_id, unit, bundle)
    if memory.status is MemoryStatus.ACTIVE:
        return memory
    if memory.status not in (MemoryStatus.PAUSED, MemoryStatus.GRACE) or memory.expires_at <= unit.now:
        raise NotResumable
    if Quarantined(unit.session, unit.tenant_id).holds("memory", memory.id):
        # Its deletion could be taken back, and what it was made from is under quarantine.
        raise NotResumable
    if ChangeStore.of(unit).is_slot_taken(locked.slot, now=unit.now):
        raise SlotTaken("Delete or pause that one first, or correct it.")
    if memory.status is MemoryStatus.GRACE:
        _require_room(locked, unit, bundle)
    # What ran out in the slot would stand in the way of the database's own rule of one active value.
    SlotStore.of(unit).vacate(locked.slot, now=unit.now, conflict_group=None)
    ChangeStore.of(unit).set_status(memory.id, MemoryStatus.ACTIVE)
    return _changed(memory, Action.MEMORY_RESUMED, unit, bundle)


def _locked_own(memory_id: str, unit: Unit, bundle: Bundle) -> tuple[Memory, Locked]:
    memory, locked = lock_readable(memory_id, unit=unit, bundle=bundle)
    if not may_change(memory, unit.caller, bundle):
        raise Forbidden("Only the person pauses and resumes what is remembered about them.")
    return memory, locked


def _require_room(locked: Locked, unit: Unit, bundle: Bundle) -> None:
    """Raise `NoRoomLeft` where others took the place of what was deleted."""
    rule = bundle.classes.get(locked.slot.class_name)
    if rule is None or SlotStore.of(unit).count_active(locked.slot, now=unit.now) >= rule.quota:
        raise NoRoomLeft


def _changed(memory: Memory, action: Action, unit: Unit, bundle: Bundle) -> Memory:
    unit.stage("memory.changed", item_id=memory.id, version=memory.version)
    record(unit, action, kind="memory", ref=memory.id, version=memory.version)
    found = MemoryStore.of(unit, bundle).find(memory.id, now=unit.now)
    assert found is not None
    return found
