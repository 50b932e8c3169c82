"""A proposal that waits: who may see it, what it would replace, and what the policy says of it now."""

from dataclasses import dataclass

from service.core.errors import NotFound
from service.core.ids import is_id
from service.identity.model import Role
from service.identity.unit import Unit
from service.memories.binding import Replaced
from service.memories.correct import cite
from service.memories.model import Cited, NewProposal, Proposal, Slot
from service.memories.ports import Citations
from service.memories.propose import judge
from service.memories.rules import own_act, part_in_decision, slot_of
from service.memories.store_changes import ChangeStore, Locked
from service.memories.store_proposals import ProposalStore
from service.memories.store_slots import SlotStore
from service.policies.model import Bundle
from service.policies.verdict import Verdict


@dataclass(frozen=True, slots=True)
class Judged:
    """What a waiting proposal asks for, and the verdict of now. `corrects` is the memory it changes."""

    new: NewProposal
    slot: Slot
    cited: tuple[Cited, ...]
    verdict: Verdict
    corrects: Locked | None


def get_proposal(proposal_id: str, *, unit: Unit, lock: bool = False) -> Proposal:
    """Answer a proposal that the caller made, that is about the caller, or that waits for a reviewer.

    With `lock`, nobody else decides it, nor changes what it would replace, until this transaction ends.
    Raises `NotFound` for any other.
    """
    store = ProposalStore.of(unit)
    found = store.find(proposal_id) if is_id(proposal_id) else None
    if found is None or not may_see(found, unit):
        raise NotFound
    if not lock:
        return found
    # The slot first, as whoever proposes or corrects does: two locks in two orders would wait for each other.
    SlotStore.of(unit).lock_all([slot_locked_for(found)])
    found = store.find(proposal_id, lock=True)
    if found is None or not may_see(found, unit):
        raise NotFound
    return found


def may_see(proposal: Proposal, unit: Unit) -> bool:
    """Say whether the caller may look at the proposal."""
    if proposal.project_id not in unit.caller.project_ids:
        return False
    is_mine = proposal.proposer == unit.caller.principal
    is_about_me = unit.caller.act is None and is_subject(proposal, unit)
    return is_mine or is_about_me or part_in_decision(proposal, unit.caller, is_subject=False) is not None


def is_subject(proposal: Proposal, unit: Unit) -> bool:
    """Say whether the proposal is about the caller's person."""
    person = unit.caller.person
    return person is not None and proposal.subject_hash == unit.cipher.keyed_hash(person)


def slot_locked_for(proposal: Proposal) -> Slot:
    """Answer a slot whose lock keeps others from what the proposal would replace: its key does not matter."""
    return Slot(proposal.project_id, proposal.class_name, proposal.subject_hash, "")


def replaced_by(proposal: Proposal, *, unit: Unit, bundle: Bundle) -> Replaced | None:
    """Answer the version of a memory that an approval would end, or `None`; whoever may read it."""
    if proposal.content is None:
        return None
    if proposal.memory_id is not None:
        locked = ChangeStore.of(unit).look(proposal.memory_id)
        return None if locked is None else Replaced(locked.id, locked.version)
    new = _as_new(proposal, unit)
    standing = SlotStore.of(unit).standing(
        slot_of(new, proposal.project_id, bundle, unit.cipher), now=unit.now
    )
    return None if standing is None else Replaced(standing.memory_id, standing.version)


def judge_again(proposal: Proposal, *, unit: Unit, bundle: Bundle, citations: Citations) -> Judged | None:
    """Judge a waiting proposal as it stands now; `None` when the memory that it would correct is gone."""
    new = _as_new(proposal, unit)
    if proposal.memory_id is None:
        slot = slot_of(new, proposal.project_id, bundle, unit.cipher)
        cited = [citations.look_up(citation, subject=new.subject) for citation in new.citations]
        verdict = judge(new, slot, cited, unit=unit, bundle=bundle, proposed=proposal)
        return Judged(new, slot, tuple(cited), verdict, None)
    locked = ChangeStore.of(unit).look(proposal.memory_id)
    if locked is None:
        return None
    by_subject = new.subject is not None and proposal.proposer == f"{Role.USER}:{new.subject}"
    cited = cite(new, citations=citations, act=own_act(proposal.created_at) if by_subject else None)
    verdict = judge(
        new, locked.slot, cited, unit=unit, bundle=bundle, proposed=proposal, corrects=locked.standing
    )
    return Judged(new, locked.slot, tuple(cited), verdict, locked)


def _as_new(proposal: Proposal, unit: Unit) -> NewProposal:
    content = proposal.content
    assert content is not None, "a proposal that waits has its words"
    return NewProposal(
        project=unit.project_of(proposal.project_id).name,
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
