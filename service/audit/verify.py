"""Reading a tenant's chain from its first event to its end, believing nothing."""

from collections.abc import Collection

from sqlmodel import Session

from service.audit.model import GENESIS_HASH, Checkpoint, Fault, Link, Verdict
from service.audit.rules import hash_event, hash_event_of_first_form, head_text
from service.audit.store import AuditStore
from service.core.cipher import Cipher
from service.core.errors import Conflict


class ChainBroken(Conflict):
    """The chain does not hold, so nothing is signed for it."""

    code = "audit_chain_broken"
    title = "The audit chain does not hold: run `muniment audit verify`"


def verify_chain(
    session: Session, tenant_id: str, *, cipher: Cipher, checkpoints: Collection[Checkpoint] = ()
) -> Verdict:
    """Say whether every event of the tenant is there, unaltered and in its place.

    The seal on the chain's end is a keyed hash under a key that the record does not hold: who can write to
    the record alone cannot rewrite the chain and pass. `checkpoints` are earlier ends that were kept outside
    the record: with one, no older copy of chain *and* end passes either.
    """
    store = AuditStore(session, tenant_id)
    expected: dict[int, set[str]] = {}
    for known in checkpoints:
        expected.setdefault(known.sequence, set()).add(known.hash)
    events, previous_hash = 0, GENESIS_HASH
    for link in store.links():
        fault = _fault_of(link, sequence=events + 1, previous_hash=previous_hash)
        if fault is None and expected.get(link.sequence, {link.hash}) != {link.hash}:
            fault = Fault.CHECKPOINT_MISMATCH
        if fault is not None:
            return Verdict(events, previous_hash, fault, events + 1)
        events, previous_hash = link.sequence, link.hash
    head = store.find_head()
    if head is None:
        # A tenant's creation is its first event, so a chain that never began is one that was removed.
        return Verdict(events, previous_hash, Fault.HEAD_MISSING, 1)
    if (head.sequence, head.hash) != (events, previous_hash):
        return Verdict(events, previous_hash, Fault.HEAD_MISMATCH, min(head.sequence, events) + 1)
    if head.seal != cipher.keyed_hash(head_text(sequence=head.sequence, head_hash=head.hash)):
        return Verdict(events, previous_hash, Fault.SEAL_INVALID, 1)
    if max(expected, default=0) > events:
        return Verdict(events, previous_hash, Fault.BEHIND_CHECKPOINT, events + 1)
    return Verdict(events, previous_hash)


def _fault_of(link: Link, *, sequence: int, previous_hash: str) -> Fault | None:
    if link.sequence != sequence:
        return Fault.SEQUENCE_GAP
    if link.previous_hash != previous_hash:
        return Fault.LINK_BROKEN
    for form in (hash_event, hash_event_of_first_form):
        if link.hash == form(link.event, sequence=sequence, previous_hash=previous_hash):
            return None
    return Fault.CONTENT_ALTERED
