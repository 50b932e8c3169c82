"""`decide`: a person's word on a proposal that waits. Everything is judged again at that moment."""

from collections.abc import Sequence
from dataclasses import dataclass

from service.audit.model import Action
from service.audit.record import record
from service.core.errors import Refusal
from service.core.ids import is_id
from service.core.quarantined import Quarantined
from service.identity.unit import Unit
from service.memories.binding import ProposalChanged, hash_review
from service.memories.correct import keep_correction, require_correctable
from service.memories.lapse import ReviewLapsed, has_lapsed
from service.memories.model import AlreadyDecided, Decided, Memory, NotYoursToDecide, Proposal, Word
from service.memories.ports import Citations
from service.memories.propose import keep
from service.memories.rules import is_complete, part_in_decision
from service.memories.store import MemoryStore
from service.memories.store_proposals import ProposalStore
from service.memories.store_slots import SlotStore
from service.memories.waiting import (
    Judged,
    get_proposal,
    is_subject,
    judge_again,
    may_see,
    replaced_by,
    slot_locked_for,
)
from service.policies.model import Bundle
from service.policies.verdict import Outcome, Reason, ReasonCode


@dataclass(frozen=True, slots=True)
class Weighed:
    """What a decision comes to. Where it is approved, `judged` is what is to be kept."""

    proposal: Proposal
    outcome: Outcome
    reasons: tuple[Reason, ...]
    approvals: tuple[str, ...]
    judged: Judged | None = None


def decide_proposal(
    proposal_id: str, word: Word, *, unit: Unit, bundle: Bundle, citations: Citations
) -> Decided:
    """Approve or reject a waiting proposal; approved, it is kept if the policy still allows it now.

    Raises `NotFound` for one that the caller may not read, `NotYoursToDecide`, `AlreadyDecided`,
    `ReviewLapsed` for one that waited too long, and `ProposalChanged` where the word is bound to something
    else than would be decided.
    """
    Quarantined(unit.session, unit.tenant_id).share()
    weighed = _weigh(proposal_id, word, unit=unit, bundle=bundle, citations=citations, lock=True)
    memory = None
    if weighed.judged is not None:
        memory = _keep(weighed.proposal, weighed.judged, unit=unit, bundle=bundle)
    settled = _settle(weighed, memory, word=word, unit=unit)
    return Decided(settled, weighed.reasons, memory)


def decide_proposals(
    words: Sequence[tuple[str, Word]], *, unit: Unit, bundle: Bundle, citations: Citations
) -> Sequence[Decided | Refusal]:
    """Decide many, each by itself and in the order given; answer for each what became of it, or its refusal.

    One that is refused changes nothing, and holds up none of the others.
    """
    Quarantined(unit.session, unit.tenant_id).share()
    # All at once and in one order, so that two reviewers with overlapping lists never wait for each other.
    seen = [ProposalStore.of(unit).find(proposal_id) for proposal_id, _ in words if is_id(proposal_id)]
    mine = [proposal for proposal in seen if proposal is not None and may_see(proposal, unit)]
    SlotStore.of(unit).lock_all([slot_locked_for(proposal) for proposal in mine])
    answers: list[Decided | Refusal] = []
    for proposal_id, word in words:
        try:
            answers.append(decide_proposal(proposal_id, word, unit=unit, bundle=bundle, citations=citations))
        except Refusal as refusal:
            answers.append(refusal)
    return answers


def preview_decisions(
    words: Sequence[tuple[str, Word]], *, unit: Unit, bundle: Bundle, citations: Citations
) -> Sequence[Weighed | Refusal]:
    """Answer what each decision would come to at this moment, as if it were the only one. Changes nothing."""
    answers: list[Weighed | Refusal] = []
    for proposal_id, word in words:
        try:
            answers.append(
                _weigh(proposal_id, word, unit=unit, bundle=bundle, citations=citations, lock=False)
            )
        except Refusal as refusal:
            answers.append(refusal)
    return answers


def _weigh(
    proposal_id: str, word: Word, *, unit: Unit, bundle: Bundle, citations: Citations, lock: bool
) -> Weighed:
    proposal = get_proposal(proposal_id, unit=unit, lock=lock)
    part = part_in_decision(proposal, unit.caller, is_subject=is_subject(proposal, unit))
    if part is None:
        raise NotYoursToDecide
    _require_waiting(proposal, word, unit=unit, bundle=bundle)
    if not word.approves:
        reason = Reason(ReasonCode.REVIEW_REQUIRED, f"the {part.value} rejected it", "approval.by")
        return Weighed(proposal, Outcome.DENIED, (reason,), ())
    approvals = (*proposal.approvals, part.value)
    if not is_complete(proposal.approver, approvals):
        reason = Reason(ReasonCode.REVIEW_REQUIRED, "another person decides too", "approval.by")
        return Weighed(proposal, Outcome.PENDING_REVIEW, (reason,), approvals)
    judged = judge_again(proposal, unit=unit, bundle=bundle, citations=citations)
    if judged is None:
        raise AlreadyDecided
    if judged.corrects is not None:
        require_correctable(_corrected(proposal, unit=unit, bundle=bundle))
    if judged.verdict.outcome is Outcome.DENIED:
        return Weighed(proposal, Outcome.DENIED, judged.verdict.reasons, approvals)
    return Weighed(proposal, Outcome.APPROVED, (), approvals, judged)


def _require_waiting(proposal: Proposal, word: Word, *, unit: Unit, bundle: Bundle) -> None:
    """Raise what keeps it from being decided: it is, it waited too long, or it is not what was seen."""
    if proposal.outcome is not Outcome.PENDING_REVIEW or proposal.content is None:
        raise AlreadyDecided
    if has_lapsed(proposal, bundle, unit.now):
        raise ReviewLapsed
    if word.content_hash is not None:
        replaced = replaced_by(proposal, unit=unit, bundle=bundle)
        if word.content_hash != hash_review(proposal, replaced, cipher=unit.cipher):
            raise ProposalChanged(proposal.id)


def _corrected(proposal: Proposal, *, unit: Unit, bundle: Bundle) -> Memory:
    assert proposal.memory_id is not None
    memory = MemoryStore.of(unit, bundle).find(proposal.memory_id, now=unit.now)
    if memory is None:
        raise AlreadyDecided
    return memory


def _keep(proposal: Proposal, judged: Judged, *, unit: Unit, bundle: Bundle) -> Memory:
    """Keep what was approved; a correction stands on top of any made meanwhile."""
    new, cited, verdict = judged.new, judged.cited, judged.verdict
    if judged.corrects is None:
        return keep(new, judged.slot, cited, verdict, unit=unit, bundle=bundle, by=proposal.proposer)
    return keep_correction(
        new,
        _corrected(proposal, unit=unit, bundle=bundle),
        judged.corrects,
        cited,
        verdict,
        unit=unit,
        bundle=bundle,
        by=proposal.proposer,
        reason=proposal.decision_reason,
    )


def _settle(weighed: Weighed, memory: Memory | None, *, word: Word, unit: Unit) -> Proposal:
    proposal = weighed.proposal
    memory_id = proposal.memory_id if memory is None else memory.id
    codes = [reason.code.value for reason in weighed.reasons]
    ProposalStore.of(unit).decide(
        proposal.id,
        outcome=weighed.outcome,
        codes=codes,
        approvals=weighed.approvals,
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
        outcome=weighed.outcome.value,
        codes=codes,
        memory=memory_id,
    )
    settled = ProposalStore.of(unit).find(proposal.id)
    assert settled is not None
    return settled
