"""Deletions that somebody asks for: a memory, a run's content, evidence, a person; and who may.

Whoever may not see a thing gets `NotFound`; whoever sees it and may not delete it gets `Forbidden`.
"""

from dataclasses import replace
from datetime import timedelta
from typing import Final

from service.audit.model import Action
from service.audit.record import record
from service.core.errors import Forbidden, NotFound
from service.evidence.rules import lock_name, may_delete, may_read
from service.evidence.store import EvidenceStore
from service.executions.store import ExecutionStore
from service.governance.erase import (
    ERASE_TOPIC,
    begin_erasure,
    is_waiting,
    lock_deletions,
    new_erasure,
    requester_of,
)
from service.governance.hold import refuse_held
from service.governance.model import TAKEN_BACK, Erasure, Kind, State
from service.governance.store_erasures import ErasureStore
from service.governance.store_grace import GraceStore
from service.governance.store_reach import ReachStore
from service.identity.matrix import SUBJECTS_ERASE
from service.identity.model import Role
from service.identity.unit import Unit
from service.memories.correct import lock_readable
from service.memories.model import Memory, MemoryStatus
from service.policies.model import Bundle

_TAKEN_BACK: Final = (MemoryStatus.ACTIVE, MemoryStatus.PAUSED, MemoryStatus.GRACE)
"""What a person may take the deletion of back, so that it counts again."""


def forget_memory(memory_id: str, *, unit: Unit, bundle: Bundle) -> Erasure:
    """Erase a memory from every store; hide what still counts for the time of grace that its class gives.

    In its time of grace it is answered again. Raises `NotFound`, `Forbidden` and `Held`.
    """
    lock_deletions(unit)
    # With its slot: a value that takes its place meanwhile would end it under our hands as superseded.
    memory, _ = lock_readable(memory_id, unit=unit, bundle=bundle)
    _only_theirs(memory, unit, bundle)
    waiting = ErasureStore.of(unit).find_open(Kind.MEMORY, memory.id)
    if memory.status is MemoryStatus.GRACE and waiting is not None:
        return waiting
    rule = bundle.classes.get(memory.class_name)
    # What had ended by itself, or is under quarantine, is not to come back as something that counts.
    if rule is not None and rule.grace_days and memory.status in _TAKEN_BACK:
        return _wait(memory, rule.grace_days, waiting, unit)
    erasure = begin_erasure(Kind.MEMORY, memory.id, unit=unit)
    unit.stage("memory.deleted", item_id=memory.id)
    record(unit, Action.MEMORY_ERASED, kind="memory", ref=memory.id, erasure=erasure.id)
    return erasure


def begin_after_grace(erasure: Erasure, *, unit: Unit) -> Erasure | None:
    """Begin to destroy what waited, once its time has come; `None` while it waits, or was taken back.

    A hold that was placed meanwhile wins: raises `Held`, and the erasure goes on waiting.
    """
    if is_waiting(erasure, unit.now):
        return None
    lock_deletions(unit)
    if not GraceStore.of(unit).is_over(erasure.ref):
        ErasureStore.of(unit).update(replace(erasure, state=State.FAILED, failure=TAKEN_BACK))
        return None
    begun = begin_erasure(erasure.kind, erasure.ref, unit=unit, erasure=erasure)
    record(unit, Action.MEMORY_ERASED, kind="memory", ref=erasure.ref, erasure=erasure.id)
    return begun


def forget_evidence(evidence_id: str, *, derived: bool, unit: Unit) -> Erasure:
    """Erase the caller's own item with all its versions, and with `derived` all that was made from it.

    An item's uri is free again, under a new id. What it superseded does not come back: that was a statement
    about the other item. Only a person's own sign-in or an administrator takes along what was made from it:
    that may be others'. Raises `NotFound`, `Forbidden` and `Held`.
    """
    lock_deletions(unit)
    store = EvidenceStore.of(unit)
    evidence = store.find(evidence_id, now=unit.now)
    caller = unit.caller
    if evidence is None or evidence.project_id not in caller.project_ids:
        raise NotFound
    if derived and SUBJECTS_ERASE in caller.scopes:
        return begin_erasure(Kind.SOURCE, evidence.id, unit=unit)
    if not may_delete(evidence, caller):
        if may_read(caller, project_id=evidence.project_id, labels=evidence.readers):
            raise Forbidden("Evidence is deleted by whoever added it, or by the one person it is about.")
        raise NotFound
    if derived and (caller.act is not None or caller.role is not Role.USER):
        raise Forbidden("Only a person's own sign-in deletes what was made from evidence, too.")
    # Whoever adds to this uri at the same moment waits here, and then finds it free.
    store.lock([lock_name(evidence.project_id, evidence.source.uri)])
    erasure = begin_erasure(Kind.SOURCE if derived else Kind.EVIDENCE, evidence.id, unit=unit)
    unit.stage("evidence.deleted", item_id=evidence_id)
    record(unit, Action.EVIDENCE_DELETED, kind="evidence", ref=evidence_id, versions=evidence.current_version)
    return erasure


def forget_content(execution_id: str, *, unit: Unit) -> Erasure:
    """Erase what was said, observed and kept in a run, and all that was made from it; the run ends.

    Raises `NotFound`, `Held`, and `Forbidden` for all but the run's own person and an administrator.
    """
    lock_deletions(unit)
    execution = ExecutionStore.of(unit).get(execution_id)
    is_own = unit.caller.act is None and execution.acting_user == unit.caller.subject
    if not is_own and SUBJECTS_ERASE not in unit.caller.scopes:
        raise Forbidden("Only the person whom it acts for, or an administrator, deletes a run's content.")
    return begin_erasure(Kind.EXECUTION, execution.id, unit=unit)


def forget_subject(subject: str, *, closes_account: bool, unit: Unit) -> Erasure:
    """Erase a person: all about them, all they said, and all that was made from either.

    Raises `Held`, and `NotFound` for all but the person's own sign-in and an administrator.
    """
    caller = unit.caller
    is_own = caller.role is Role.USER and caller.act is None and caller.subject == subject
    if not is_own and SUBJECTS_ERASE not in caller.scopes:
        raise NotFound
    lock_deletions(unit)
    return begin_erasure(
        Kind.SUBJECT,
        unit.cipher.keyed_hash(subject),
        unit=unit,
        subject=subject,
        closes_account=closes_account,
    )


def get_erasure(erasure_id: str, *, unit: Unit) -> Erasure:
    """Answer an erasure that the caller asked for, to an administrator any. Raises `NotFound` for others."""
    erasure = ErasureStore.of(unit).find(erasure_id)
    if erasure is None:
        raise NotFound
    # Where the account was closed, the credential of who asked bears the pseudonym by now.
    is_own = erasure.requester == requester_of(unit) or unit.caller.subject == erasure.target.pseudonym
    if not is_own and SUBJECTS_ERASE not in unit.caller.scopes:
        raise NotFound
    return erasure


def _wait(memory: Memory, days: int, waiting: Erasure | None, unit: Unit) -> Erasure:
    starts_at = unit.now + timedelta(days=days)
    asked = waiting or new_erasure(Kind.MEMORY, memory.id, unit=unit)
    erasure = replace(asked, state=State.PENDING, starts_at=starts_at)
    store = ErasureStore.of(unit)
    if waiting is None:
        store.add(erasure)
    else:
        store.update(erasure)
    ReachStore(erasure.target, unit).gather()
    refuse_held(erasure.target, unit=unit)
    GraceStore.of(unit).begin(memory.id, until=starts_at)
    unit.stage("memory.changed", item_id=memory.id, version=memory.version)
    unit.stage_at(ERASE_TOPIC, starts_at, erasure_id=erasure.id)
    record(unit, Action.ERASURE_BEGUN, kind="erasure", ref=erasure.id, target=Kind.MEMORY.value)
    return erasure


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
