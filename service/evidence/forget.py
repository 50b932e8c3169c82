"""Deleting evidence: the text is gone from the record at once, and from the index before the answer."""

from service.audit.model import Action
from service.audit.record import record
from service.core.errors import Forbidden, NotFound
from service.core.idempotency import IdempotencyStore
from service.evidence.rules import lock_name, may_delete, may_read
from service.evidence.store import EvidenceStore
from service.identity.unit import Unit


def forget_evidence(evidence_id: str, *, unit: Unit) -> None:
    """Remove the caller's own item with all its versions; its uri is free again, under a new id.

    What it superseded does not come back: that was a statement about the other item. Raises `NotFound` for
    what the caller may not read and `Forbidden` for what is not the caller's own.
    """
    store = EvidenceStore.of(unit)
    evidence = store.find(evidence_id, now=unit.now)
    if evidence is None or evidence.project_id not in unit.caller.project_ids:
        raise NotFound
    if not may_delete(evidence, unit.caller):
        if may_read(unit.caller, project_id=evidence.project_id, labels=evidence.readers):
            raise Forbidden("Evidence is deleted by whoever added it, or by the one person it is about.")
        raise NotFound
    # Whoever adds to this uri at the same moment waits here, and then finds it free.
    store.lock([lock_name(evidence.project_id, evidence.source.uri)])
    if not store.remove(evidence_id):
        # Of two at once the other was first.
        raise NotFound
    IdempotencyStore(unit.session, unit.tenant_id, unit.cipher).erase([evidence_id])
    unit.stage("evidence.deleted", item_id=evidence_id)
    record(unit, Action.EVIDENCE_DELETED, kind="evidence", ref=evidence_id, versions=evidence.current_version)
