"""`propose`: hand something in to be remembered, and get the policy's decision with all of its reasons."""

from collections.abc import Sequence
from typing import Any

from service.audit.model import Action
from service.audit.record import record
from service.core.lineage import Lineage, Node
from service.core.quarantined import Quarantined
from service.detection.proposed import Detected, detect
from service.identity.model import Role
from service.identity.unit import Unit
from service.memories.hide import hide_from_answers
from service.memories.model import (
    Citation,
    Cited,
    Content,
    Decided,
    Memory,
    MemoryStatus,
    NewProposal,
    NothingToRemember,
    Proposal,
    PurposeNotOfClass,
    Slot,
    Standing,
    shown_text,
)
from service.memories.ports import Citations
from service.memories.rules import (
    compare,
    is_outranked,
    lawful_basis_of,
    memory_mode_of,
    newest,
    read_principal,
    slot_of,
)
from service.memories.sealing import hash_content
from service.memories.store_consents import ConsentStore
from service.memories.store_proposals import ProposalStore
from service.memories.store_refusals import RefusalStore
from service.memories.store_slots import SlotStore
from service.policies.evaluate import judge_proposal
from service.policies.facts import keep_facts
from service.policies.model import Bundle
from service.policies.verdict import Existing, Outcome, ProposalFacts, Verdict


def propose_memory(new: NewProposal, *, unit: Unit, bundle: Bundle, citations: Citations) -> Decided:
    """Decide a proposal under the active bundle and keep what it allows; keep that it was decided.

    Raises `NotFound` for a project that is not the caller's, `PurposeNotOfClass`, `NothingToRemember`.
    """
    project = unit.project(new.project)
    _refuse_the_meaningless(new, bundle)
    slot = slot_of(new, project.id, bundle, unit.cipher)
    # Before the sources are looked at, and before any other lock: see `Quarantined.share`.
    Quarantined(unit.session, unit.tenant_id).share()
    SlotStore.of(unit).lock(slot)
    cited = [citations.look_up(citation, subject=new.subject) for citation in new.citations]
    facts = gather_facts(new, slot, cited, unit=unit)
    verdict = judge_proposal(facts, bundle, unit.now)
    memory = None
    if verdict.outcome is Outcome.APPROVED:
        memory = keep(new, slot, cited, verdict, unit=unit, bundle=bundle, by=unit.caller.principal)
    memory_id = None if memory is None else memory.id
    proposal = keep_proposal(new, slot, facts, verdict, unit=unit, bundle=bundle, memory_id=memory_id)
    return Decided(proposal, verdict.reasons, memory)


def keep_proposal(
    new: NewProposal,
    slot: Slot,
    facts: ProposalFacts,
    verdict: Verdict,
    *,
    unit: Unit,
    bundle: Bundle,
    memory_id: str | None,
    approvals: tuple[str, ...] = (),
    reason: str | None = None,
) -> Proposal:
    """Keep that something was proposed and what was decided; its words only while it waits for a person.

    What it was judged by is kept without words, so that it can be judged under another bundle. `memory_id`
    is the memory that was made of it or that it corrects, `approvals` are those given already, and `reason`
    is why, in the proposer's words.
    """
    waits = verdict.outcome is Outcome.PENDING_REVIEW
    proposal = Proposal(
        id=unit.ids(),
        project_id=slot.project_id,
        class_name=new.class_name,
        outcome=verdict.outcome,
        codes=tuple(code.value for code in verdict.codes),
        approver=verdict.approver,
        policy_version=verdict.policy_version,
        purpose=new.purpose,
        confidence=new.confidence,
        proposer=unit.caller.principal,
        subject_hash=slot.subject_hash,
        content=content_of(new) if waits else None,
        created_at=unit.now,
        memory_id=memory_id,
        approvals=approvals if waits else (),
        decision_reason=reason if waits else None,
        validity=new.validity,
        detections=verdict.detections,
    )
    kept = keep_facts(facts, bundle, denied=verdict.outcome is Outcome.DENIED)
    ProposalStore.of(unit).add(proposal, content_of(new), kept)
    record(
        unit,
        Action.MEMORY_PROPOSED,
        kind="memory_proposal",
        ref=proposal.id,
        outcome=verdict.outcome.value,
        codes=list(proposal.codes),
        policy_version=verdict.policy_version,
        memory=memory_id,
    )
    return proposal


def judge(
    new: NewProposal,
    slot: Slot,
    cited: Sequence[Cited],
    *,
    unit: Unit,
    bundle: Bundle,
    proposed: Proposal | None = None,
    corrects: Standing | None = None,
) -> Verdict:
    """Gather what the record knows about a proposal, as `gather_facts` does, and let the bundle decide."""
    facts = gather_facts(new, slot, cited, unit=unit, proposed=proposed, corrects=corrects)
    return judge_proposal(facts, bundle, unit.now)


def gather_facts(
    new: NewProposal,
    slot: Slot,
    cited: Sequence[Cited],
    *,
    unit: Unit,
    proposed: Proposal | None = None,
    corrects: Standing | None = None,
) -> ProposalFacts:
    """Answer what the record knows about a proposal at this moment.

    `proposed` is the proposal where it is judged again: then its proposer counts, not who decides it.
    `corrects` is the memory that would get a new version, instead of the slot a new value.
    """
    proposer = read_principal(unit.caller.principal if proposed is None else proposed.proposer)
    store = SlotStore.of(unit)
    standing = store.standing(slot, now=unit.now) if corrects is None else corrects
    content_hash = hash_content(content_of(new), cipher=unit.cipher)
    existing = compare(standing, content_hash, new.validity, newest(cited))
    if corrects is None and store.pauses(slot, content_hash, now=unit.now):
        # What its person has paused is not learnt again behind their back.
        existing = Existing.SAME
    return ProposalFacts(
        class_name=new.class_name,
        proposer_role=proposer.role,
        subject=new.subject,
        acts_for_subject=new.subject is not None and proposer.person == new.subject,
        text=new.text,
        value=new.value,
        purpose=new.purpose,
        confidence=new.confidence,
        provenance=tuple(found.facts for found in cited),
        consent_given=new.subject is not None and ConsentStore.of(unit).stands(new.subject, new.purpose),
        existing=existing,
        quota_used=store.count_active(slot, now=unit.now),
        execution_memory_mode=memory_mode_of(cited),
        refused=new.subject is not None and RefusalStore.of(unit).stands(new.subject, new.class_name),
        corrects=corrects is not None,
        outranked=is_outranked(standing, cited, subject=new.subject),
        detections=detected_in(new, unit=unit),
        project=new.project,
        agent=proposer.holder if proposer.role is Role.AGENT else "",
    )


def detected_in(new: NewProposal, *, unit: Unit) -> tuple[Detected, ...]:
    """Answer what detectors find in what would be kept: key, text, value and quotes."""
    quotes = [citation.quote for citation in new.citations]
    return detect(unit.detector, key=new.key, text=new.text, value=new.value, quotes=quotes)


def keep(
    new: NewProposal,
    slot: Slot,
    cited: Sequence[Cited],
    verdict: Verdict,
    *,
    unit: Unit,
    bundle: Bundle,
    by: str,
) -> Memory:
    """Make the proposal an active memory; what stood in its slot leaves search and packages at once."""
    assert verdict.expires_at is not None
    store = SlotStore.of(unit)
    standing = store.standing(slot, now=unit.now)
    group = None if standing is None else standing.conflict_group or unit.ids()
    left = store.vacate(slot, now=unit.now, conflict_group=group)
    hide_from_answers(left, unit=unit)
    for memory_id in left:
        unit.stage("memory.deleted", item_id=memory_id)
        record(unit, Action.MEMORY_SUPERSEDED, kind="memory", ref=memory_id)
    content = content_of(new)
    memory = Memory(
        id=unit.ids(),
        version=1,
        project_id=slot.project_id,
        class_name=new.class_name,
        status=MemoryStatus.ACTIVE,
        content=content,
        purpose=new.purpose,
        confidence=new.confidence,
        trust=verdict.trust,
        policy_version=verdict.policy_version,
        created_at=unit.now,
        expires_at=verdict.expires_at,
        tokens=unit.tokens.count(shown_text(content)),
        provenance=provenance_of(new, cited),
        validity=new.validity,
        lawful_basis=lawful_basis_of(new.class_name, bundle),
        conflict_group=group,
    )
    store.add(memory, slot, observed_at=newest(cited), by=by)
    note_sources(memory.id, new.citations, unit=unit)
    unit.stage("memory.changed", item_id=memory.id, version=memory.version)
    record(
        unit,
        Action.MEMORY_KEPT,
        kind="memory",
        ref=memory.id,
        version=memory.version,
        policy_version=verdict.policy_version,
    )
    return memory


def note_sources(memory_id: str, citations: Sequence[Citation], *, unit: Unit) -> None:
    """Keep what a memory was made from where a lineage is followed."""
    sources = [Node(citation.kind.value, citation.id) for citation in citations]
    Lineage(unit.session, unit.tenant_id).note(Node("memory", memory_id), sources)


def content_of(new: NewProposal) -> Content:
    """Answer the words of a proposal."""
    return Content(new.subject, new.key, new.text, new.value, new.citations)


def provenance_of(new: NewProposal, cited: Sequence[Cited]) -> tuple[dict[str, Any], ...]:
    """Answer where each citation stands, without words."""
    return tuple(
        {
            "kind": citation.kind.value,
            "id": citation.id,
            "version": found.version,
            "start": found.start,
            "end": found.end,
        }
        for citation, found in zip(new.citations, cited, strict=True)
    )


def _refuse_the_meaningless(new: NewProposal, bundle: Bundle) -> None:
    if not new.text and new.value is None:
        raise NothingToRemember("Give a text or a value.", pointer="/text")
    if new.purpose not in bundle.purposes:
        raise PurposeNotOfClass("The active policy has no such purpose.", pointer="/purpose")
    rule = bundle.classes.get(new.class_name)
    if rule is not None and not rule.takes_purpose(new.purpose):
        raise PurposeNotOfClass("The class does not list this purpose.", pointer="/purpose")
