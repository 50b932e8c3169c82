"""`decide`: a person's word on a proposal that waits. Everything is judged again at that moment."""

from service.audit.model import Action
from service.audit.record import record
from service.core.errors import NotFound
from service.core.ids import is_id
from service.core.quarantined import Quarantined
from service.identity.model import Project, Role
from service.identity.unit import Unit
from service.memories.correct import cite, keep_correction, require_correctable
from service.memories.model import (
    AlreadyDecided,
    Decided,
    NewProposal,
    NotYoursToDecide,
    Proposal,
    Word,
)
from service.memories.ports import Citations
from service.memories.propose import judge, keep
from service.memories.rules import is_complete, own_act, part_in_decision, slot_of
from service.memories.store import MemoryStore
from service.memories.store_changes import ChangeStore
from service.memories.store_proposals import ProposalStore
from service.memories.store_slots import SlotStore
from service.policies.model import Bundle
from service.policies.verdict import Outcome, Reason, ReasonCode


def decide_proposal(
    proposal_id: str, word: Word, *, unit: Unit, bundle: Bundle, citations: Citations
) -> Decided:
    """Approve or reject a waiting proposal; approved, it is kept if the policy still allows it now.

    Raises `NotFound` for one that the caller may not read, `NotYoursToDecide`, `AlreadyDecided`.
    """
    Quarantined(unit.session, unit.tenant_id).share()
    proposal = get_proposal(proposal_id, unit=unit, lock=True)
    part = part_in_decision(proposal, unit.caller, is_subject=_is_subject(proposal, unit))
    if part is None:
        raise NotYoursToDecide
    if proposal.outcome is not Outcome.PENDING_REVIEW or proposal.content is None:
        raise AlreadyDecided
    if not word.approves:
        reason = Reason(ReasonCode.REVIEW_REQUIRED, f"the {part.value} rejected it", "approval.by")
        return _settle(proposal, Outcome.DENIED, (reason,), (), proposal.memory_id, word=word, unit=unit)
    approvals = (*proposal.approvals, part.value)
    if not is_complete(proposal.approver, approvals):
        reason = Reason(ReasonCode.REVIEW_REQUIRED, "another person decides too", "approval.by")
        return _settle(
            proposal,
            Outcome.PENDING_REVIEW,
            (reason,),
            approvals,
            proposal.memory_id,
            word=word,
            unit=unit,
        )
    return _keep_if_still_allowed(proposal, word, approvals, unit=unit, bundle=bundle, citations=citations)


def get_proposal(proposal_id: str, *, unit: Unit, lock: bool = False) -> Proposal:
    """Answer a proposal that the caller made, that is about the caller, or that waits for a reviewer.

    Raises `NotFound` for any other.
    """
    found = ProposalStore.of(unit).find(proposal_id, lock=lock) if is_id(proposal_id) else None
    if found is None or found.project_id not in unit.caller.project_ids:
        raise NotFound
    is_mine = found.proposer == unit.caller.principal or _is_subject(found, unit)
    if is_mine or part_in_decision(found, unit.caller, is_subject=False) is not None:
        return found
    raise NotFound


def _is_subject(proposal: Proposal, unit: Unit) -> bool:
    person = unit.caller.person
    return person is not None and proposal.subject_hash == unit.cipher.keyed_hash(person)


def _keep_if_still_allowed(
    proposal: Proposal,
    word: Word,
    approvals: tuple[str, ...],
    *,
    unit: Unit,
    bundle: Bundle,
    citations: Citations,
) -> Decided:
    assert proposal.content is not None
    content = proposal.content
    project: Project = unit.project_of(proposal.project_id)
    new = NewProposal(
        project=project.name,
        class_name=proposal.class_name,
        subject=content.subject,
        key=content.key,
        text=content.text,
        value=content.value,
        confidence=proposal.confidence,
        citations=content.citations,
        purpose=proposal.purpose,
        validity=proposal.validity,
    )
    if proposal.memory_id is not None:
        return _correct_if_still_allowed(
            proposal, new, word, approvals, unit=unit, bundle=bundle, citations=citations
        )
    slot = slot_of(new, project.id, bundle, unit.cipher)
    SlotStore.of(unit).lock(slot)
    cited = [citations.look_up(citation, subject=content.subject) for citation in content.citations]
    verdict = judge(new, slot, cited, unit=unit, bundle=bundle, proposed=proposal)
    if verdict.outcome is Outcome.DENIED:
        return _settle(proposal, Outcome.DENIED, verdict.reasons, approvals, None, word=word, unit=unit)
    memory = keep(new, slot, cited, verdict, unit=unit, bundle=bundle, by=proposal.proposer)
    settled = _settle(proposal, Outcome.APPROVED, (), approvals, memory.id, word=word, unit=unit)
    return Decided(settled.proposal, (), memory)


def _correct_if_still_allowed(
    proposal: Proposal,
    new: NewProposal,
    word: Word,
    approvals: tuple[str, ...],
    *,
    unit: Unit,
    bundle: Bundle,
    citations: Citations,
) -> Decided:
    """Make a correction that waited the newest version of its memory, on top of any made meanwhile."""
    assert proposal.memory_id is not None
    locked = ChangeStore.of(unit).lock(proposal.memory_id)
    memory = MemoryStore.of(unit, bundle).find(proposal.memory_id, now=unit.now)
    if locked is None or memory is None:
        raise AlreadyDecided
    require_correctable(memory)
    by_subject = new.subject is not None and proposal.proposer == f"{Role.USER}:{new.subject}"
    cited = cite(new, citations=citations, act=own_act(proposal.created_at) if by_subject else None)
    verdict = judge(
        new, locked.slot, cited, unit=unit, bundle=bundle, proposed=proposal, corrects=locked.standing
    )
    if verdict.outcome is Outcome.DENIED:
        return _settle(proposal, Outcome.DENIED, verdict.reasons, approvals, memory.id, word=word, unit=unit)
    kept = keep_correction(
        new,
        memory,
        locked,
        cited,
        verdict,
        unit=unit,
        bundle=bundle,
        by=proposal.proposer,
        reason=proposal.decision_reason,
    )
    settled = _settle(proposal, Outcome.APPROVED, (), approvals, kept.id, word=word, unit=unit)
    return Decided(settled.proposal, (), kept)


def _settle(
    proposal: Proposal,
    outcome: Outcome,
    reasons: tuple[Reason, ...],
    approvals: tuple[str, ...],
    memory_id: str | None,
    *,
    word: Word,
    unit: Unit,
) -> Decided:
    codes = [reason.code.value for reason in reasons]
    ProposalStore.of(unit).decide(
        proposal.id,
        outcome=outcome,
        codes=codes,
        approvals=approvals,
        memory_id=memory_id,
        reason=word.reason,
        subject=None if proposal.content is None else proposal.content.subject,
        at=unit.now,
        by=unit.caller.principal,
    )
    record(
        unit,
        Action.PROPOSAL_DECIDED,
        kind="memory_proposal",
        ref=proposal.id,
        outcome=outcome.value,
        codes=codes,
        memory=memory_id,
    )
    settled = ProposalStore.of(unit).find(proposal.id)
    assert settled is not None
    return Decided(settled, reasons, None)
