"""`correct`: a memory says something else from now on, as a new version of itself, if the policy keeps it.

The version before leaves search, packages and kept answers in the same transaction; it stays as history.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from service.audit.model import Action
from service.audit.record import record
from service.core.errors import Conflict, Forbidden, Invalid, NotFound, Stale
from service.core.hashing import Json
from service.core.quarantined import Quarantined
from service.identity.unit import Unit
from service.memories.hide import hide_from_answers
from service.memories.model import (
    OWN_ACT,
    Citation,
    Cited,
    Memory,
    MemoryStatus,
    NewProposal,
    Proposal,
    shown_text,
)
from service.memories.ports import Citations
from service.memories.propose import (
    content_of,
    gather_facts,
    keep_proposal,
    note_sources,
    provenance_of,
)
from service.memories.rules import expires_at_of, is_in_person, lawful_basis_of, may_change, newest, own_act
from service.memories.store import MemoryStore
from service.memories.store_changes import ChangeStore, Locked
from service.memories.valid import Validity
from service.policies.evaluate import judge_proposal
from service.policies.model import Bundle
from service.policies.verdict import Outcome, Reason, Verdict
from service.policies.words import Approver


class NothingToCorrect(Invalid):
    """A correction changes neither words nor the time in which they are true."""

    code = "correction_empty"
    title = "A correction changes the text, the value or the time in which it is true"


class NotCorrectable(Conflict):
    """The memory has ended, is under quarantine, or is about to be destroyed."""

    code = "memory_not_correctable"
    title = "Only what is active or paused can be corrected"


@dataclass(frozen=True, slots=True)
class Correction:
    """What is to be different. Text and value replace the old ones together, if either is given.

    `validity` and `confidence` stay as they are where they are `None`; the subject's own word is certain.
    """

    text: str | None = None
    value: Json = None
    validity: Validity | None = None
    confidence: float | None = None
    citations: tuple[Citation, ...] = ()
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Corrected:
    """The decision on a correction. `version` is the memory's current one; `proposal` is kept of a no."""

    memory_id: str
    version: int
    outcome: Outcome
    reasons: Sequence[Reason]
    policy_version: str
    proposal: Proposal | None


def correct_memory(
    memory_id: str, correction: Correction, version: int, *, unit: Unit, bundle: Bundle, citations: Citations
) -> Corrected:
    """Judge a correction as a proposal is judged, and keep it as a new version if it may be kept.

    By the subject's own sign-in it needs no other source, and no other approval where the class wants the
    subject's. What waits for another person is decided as a proposal is.

    Raises `NotFound` for one that the caller may not read, `Forbidden` for one that is not theirs to correct,
    `Stale` unless `version` is the current one, `NotCorrectable`, `NothingToCorrect`.
    """
    if correction.text is None and correction.value is None and correction.validity is None:
        raise NothingToCorrect("Give a text, a value, or when it is true.", pointer="/text")
    Quarantined(unit.session, unit.tenant_id).share()
    memory, locked = lock_readable(memory_id, unit=unit, bundle=bundle)
    if not may_change(memory, unit.caller, bundle):
        raise Forbidden("The policy does not let this credential correct it.")
    if locked.version != version:
        raise Stale(locked.version)
    in_person = is_in_person(unit.caller, memory.content.subject)
    new = _as_proposal(correction, memory, is_certain=in_person)
    cited = cite(new, citations=citations, act=own_act(unit.now) if in_person else None)
    require_correctable(memory)
    facts = gather_facts(new, locked.slot, cited, unit=unit, corrects=locked.standing)
    verdict = judge_proposal(facts, bundle, unit.now)
    approvals = (Approver.SUBJECT.value,) if in_person and verdict.outcome is not Outcome.DENIED else ()
    if verdict.outcome is Outcome.PENDING_REVIEW and in_person and verdict.approver is Approver.SUBJECT:
        # They would be asked whether they mean what they have just done.
        verdict = replace(verdict, outcome=Outcome.APPROVED, reasons=())
    if verdict.outcome is Outcome.APPROVED:
        kept = keep_correction(
            new,
            memory,
            locked,
            cited,
            verdict,
            unit=unit,
            bundle=bundle,
            by=unit.caller.principal,
            reason=correction.reason,
        )
        return Corrected(memory.id, kept.version, verdict.outcome, (), verdict.policy_version, None)
    proposal = keep_proposal(
        new,
        locked.slot,
        facts,
        verdict,
        unit=unit,
        bundle=bundle,
        memory_id=locked.id,
        approvals=approvals,
        reason=correction.reason,
    )
    return Corrected(
        memory.id, locked.version, verdict.outcome, verdict.reasons, verdict.policy_version, proposal
    )


def lock_readable(memory_id: str, *, unit: Unit, bundle: Bundle) -> tuple[Memory, Locked]:
    """Answer a memory that the caller may look at, with its slot locked. Raises `NotFound`."""
    store = MemoryStore.of(unit, bundle)
    # Looked at first, so that nobody holds up what is not theirs to see, and again once it stands still.
    if store.get_readable(memory_id, caller=unit.caller, now=unit.now) is None:
        raise NotFound
    locked = ChangeStore.of(unit).lock(memory_id)
    memory = store.get_readable(memory_id, caller=unit.caller, now=unit.now)
    if locked is None or memory is None:
        raise NotFound
    return memory, locked


def require_correctable(memory: Memory) -> None:
    """Raise `NotCorrectable` for a memory that has ended or that is put aside."""
    if memory.status not in (MemoryStatus.ACTIVE, MemoryStatus.PAUSED):
        raise NotCorrectable("Propose it anew.")


def cite(new: NewProposal, *, citations: Citations, act: Cited | None) -> list[Cited]:
    """Answer what the record knows about the sources of a correction, the subject's own act first."""
    found = [citations.look_up(citation, subject=new.subject) for citation in new.citations]
    return found if act is None else [act, *found]


def keep_correction(
    new: NewProposal,
    memory: Memory,
    locked: Locked,
    cited: Sequence[Cited],
    verdict: Verdict,
    *,
    unit: Unit,
    bundle: Bundle,
    by: str,
    reason: str | None,
) -> Memory:
    """Make the words of `new` the current version of the memory; the ones before are out of reach at once."""
    content = content_of(new)
    acts = [found for found in cited if found.facts.is_act]
    own = {"kind": OWN_ACT, "id": memory.id, "version": locked.version + 1, "start": None, "end": None}
    corrected = replace(
        memory,
        version=locked.version + 1,
        content=content,
        confidence=new.confidence,
        trust=verdict.trust,
        policy_version=verdict.policy_version,
        expires_at=expires_at_of(
            new.class_name,
            bundle,
            created_at=locked.created_at,
            confirmed_at=unit.now,
            used_at=locked.last_used_at,
        ),
        tokens=unit.tokens.count(shown_text(content)),
        provenance=(*([own] if acts else []), *provenance_of(new, cited[len(acts) :])),
        validity=new.validity,
        lawful_basis=lawful_basis_of(new.class_name, bundle),
        confirmed_at=unit.now,
    )
    ChangeStore.of(unit).add_version(corrected, observed_at=newest(cited), by=by, reason=reason, at=unit.now)
    note_sources(memory.id, new.citations, unit=unit)
    hide_from_answers([memory.id], unit=unit)
    unit.stage("memory.changed", item_id=memory.id, version=corrected.version)
    record(
        unit,
        Action.MEMORY_CORRECTED,
        kind="memory",
        ref=memory.id,
        version=corrected.version,
        policy_version=verdict.policy_version,
    )
    return corrected


def _as_proposal(correction: Correction, memory: Memory, *, is_certain: bool) -> NewProposal:
    content = memory.content
    keeps_words = correction.text is None and correction.value is None
    return NewProposal(
        # Its person may have left the project since; nothing about a correction asks for it.
        project=memory.project_id,
        class_name=memory.class_name,
        subject=content.subject,
        key=content.key,
        text=content.text if keeps_words else correction.text,
        value=content.value if keeps_words else correction.value,
        confidence=correction.confidence
        if correction.confidence is not None
        else (1.0 if is_certain else memory.confidence),
        citations=correction.citations,
        purpose=memory.purpose,
        validity=memory.validity if correction.validity is None else correction.validity,
    )
