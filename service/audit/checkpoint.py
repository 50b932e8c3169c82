"""Where a tenant's chain ended at some moment, signed, and kept where the record cannot reach it.

The record's own note of the end is sealed under a key that the record does not hold. It does not show that an
older copy of the chain *and* of that note were put back together. A memory outside the record does.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from sqlmodel import Session

from service.audit.model import Checkpoint, Fault, Rewind, Verdict
from service.audit.ports import HeadMemory
from service.audit.rules import head_text
from service.audit.store import AuditStore
from service.core.cipher import Cipher
from service.core.clock import format_time
from service.core.errors import Invalid
from service.core.hashing import canonical_json
from service.core.signing import Signer, signature_fault, signed

FORMAT: Final = "muniment-checkpoint/1"
_DOCUMENT_LENGTH_MAX: Final = 10_000
_REWINDS_MAX: Final = 50
"""Restores that are remembered of a chain: the newest."""


class CheckpointMalformed(Invalid):
    """What was given is no checkpoint of this service."""

    code = "checkpoint_malformed"
    title = "This is not a checkpoint of an audit chain"


@dataclass(frozen=True, slots=True)
class Witness:
    """Who signs where chains end, and who remembers it."""

    signer: Signer
    memory: HeadMemory

    def remember(self, checkpoint: Checkpoint) -> None:
        """Keep the checkpoint, signed, unless one that stands for more events is known."""
        document = write_checkpoint(checkpoint, self.signer)
        self.memory.remember(checkpoint.tenant_id, checkpoint.sequence, document)

    def rewind(self, checkpoint: Checkpoint) -> None:
        """Keep the checkpoint, signed, in place of one that stands for more: a restore put the chain back."""
        document = write_checkpoint(checkpoint, self.signer)
        self.memory.replace(checkpoint.tenant_id, checkpoint.sequence, document)

    def recall(self, tenant_id: str) -> Checkpoint | None:
        """Answer the checkpoint that is remembered. Raises `CheckpointMalformed` when somebody altered it."""
        document = self.memory.recall(tenant_id)
        if document is None:
            return None
        checkpoint, is_ours = read_checkpoint(document, trusted=self.signer.public_key)
        if not is_ours or checkpoint.tenant_id != tenant_id:
            raise CheckpointMalformed("What the key store remembers of the audit chain has been altered.")
        return checkpoint


def note_head(
    session: Session, tenant_id: str, *, cipher: Cipher, witness: Witness, now: datetime
) -> Verdict:
    """Show the memory where the chain ends now, if the chain goes on from what is remembered.

    Looks at the two places alone, whatever the chain's length: `verify` reads all of it. The verdict says
    whether they fit; what does not is not remembered.
    """
    store = AuditStore(session, tenant_id)
    head, known = store.find_head(), witness.recall(tenant_id)
    if head is None:
        # A tenant's creation is its first event: only what was never begun has no end.
        return Verdict(0, "") if known is None else Verdict(0, "", Fault.HEAD_MISSING, 1)
    verdict = Verdict(head.sequence, head.hash)
    if head.seal != cipher.keyed_hash(head_text(sequence=head.sequence, head_hash=head.hash)):
        return Verdict(head.sequence, head.hash, Fault.SEAL_INVALID, 1)
    if known is not None:
        if known.sequence > head.sequence:
            return Verdict(head.sequence, head.hash, Fault.BEHIND_CHECKPOINT, head.sequence + 1)
        if known.hash != store.hash_at(known.sequence):
            return Verdict(head.sequence, head.hash, Fault.CHECKPOINT_MISMATCH, known.sequence)
        if known.sequence == head.sequence:
            return verdict
    rewinds = () if known is None else known.rewinds
    witness.remember(Checkpoint(tenant_id, head.sequence, head.hash, now, rewinds))
    return verdict


def note_rewind(session: Session, tenant_id: str, *, sequence: int, witness: Witness, now: datetime) -> None:
    """Show the memory that a restore put the chain back to `sequence` events, and where it ends since.

    From then on what was remembered of the chain beyond them is no sign of tampering. Only who holds the
    key store's signing key can say so: whoever writes to the record alone cannot.
    """
    head = AuditStore(session, tenant_id).find_head()
    assert head is not None, "the restore itself is an event"
    try:
        known = witness.recall(tenant_id)
    except CheckpointMalformed:
        known = None
    former = sequence if known is None else max(known.sequence, sequence)
    rewinds = () if known is None else known.rewinds
    rewind = Rewind(sequence, former, now)
    witness.rewind(Checkpoint(tenant_id, head.sequence, head.hash, now, (*rewinds, rewind)[-_REWINDS_MAX:]))


def left_behind(given: Checkpoint, remembered: Checkpoint | None) -> Rewind | None:
    """Answer the restore since which the given checkpoint says nothing of the chain, `None` where it does."""
    for rewind in () if remembered is None else remembered.rewinds:
        if given.at < rewind.at and given.sequence > rewind.sequence:
            return rewind
    return None


def write_checkpoint(checkpoint: Checkpoint, signer: Signer) -> str:
    """Answer the checkpoint as a signed document: one line of canonical JSON."""
    return canonical_json(signed(_document(checkpoint), signer)).decode()


def read_checkpoint(document: str, *, trusted: bytes) -> tuple[Checkpoint, bool]:
    """Read a document, and say whether it was signed with the trusted key and not changed since.

    Raises `CheckpointMalformed` for what is none.
    """
    if len(document) > _DOCUMENT_LENGTH_MAX:
        raise CheckpointMalformed
    try:
        found = json.loads(document)
        checkpoint = _checkpoint(found)
    except (ValueError, KeyError, TypeError, RecursionError):
        raise CheckpointMalformed from None
    return checkpoint, signature_fault(found, trusted=trusted) is None


def _document(checkpoint: Checkpoint) -> dict[str, Any]:
    document: dict[str, Any] = {
        "format": FORMAT,
        "tenant_id": checkpoint.tenant_id,
        "sequence": checkpoint.sequence,
        "hash": checkpoint.hash,
        "at": format_time(checkpoint.at),
    }
    if checkpoint.rewinds:
        document["rewinds"] = [
            {"sequence": one.sequence, "former_sequence": one.former_sequence, "at": format_time(one.at)}
            for one in checkpoint.rewinds
        ]
    return document


def _checkpoint(found: Mapping[str, Any]) -> Checkpoint:
    if found["format"] != FORMAT or not isinstance(found["sequence"], int):
        raise ValueError("another document")
    at = datetime.fromisoformat(found["at"])
    rewinds = tuple(
        Rewind(int(one["sequence"]), int(one["former_sequence"]), datetime.fromisoformat(one["at"]))
        for one in found.get("rewinds", ())
    )
    return Checkpoint(str(found["tenant_id"]), found["sequence"], str(found["hash"]), at, rewinds)
