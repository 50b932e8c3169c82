"""`review`: all that a person needs to see before they decide about a proposal, as far as it is theirs."""

from service.identity.unit import Unit
from service.memories.binding import Replaced, hash_review
from service.memories.diff import diff_words
from service.memories.model import Proposal, shown_text
from service.memories.model_review import OldValue, Reviewed, Source
from service.memories.ports import Citations, Passages
from service.memories.rules import part_in_decision
from service.memories.store import MemoryStore
from service.memories.waiting import get_proposal, is_subject, judge_again, replaced_by
from service.policies.model import Bundle


def review_proposal(
    proposal_id: str, *, unit: Unit, bundle: Bundle, citations: Citations, passages: Passages
) -> Reviewed:
    """Answer a proposal as the caller may look at it. Changes nothing.

    What it would replace is shown to those who may read that, and the passages it came from to those who may
    read the sources. Raises `NotFound` for a proposal that is not the caller's to see.
    """
    proposal = get_proposal(proposal_id, unit=unit)
    part = part_in_decision(proposal, unit.caller, is_subject=is_subject(proposal, unit))
    rule = bundle.classes.get(proposal.class_name)
    if proposal.content is None:
        return Reviewed(proposal, None, part, (), None, None, rule, unit.now)
    replaced = replaced_by(proposal, unit=unit, bundle=bundle)
    judged = judge_again(proposal, unit=unit, bundle=bundle, citations=citations)
    content = proposal.content
    return Reviewed(
        proposal=proposal,
        content_hash=hash_review(proposal, replaced, cipher=unit.cipher),
        part=part,
        sources=tuple(
            Source(citation, passages.read(citation, subject=content.subject))
            for citation in content.citations
        ),
        replaces=_old_value(proposal, replaced, is_told=part is not None, unit=unit, bundle=bundle),
        verdict=None if judged is None else judged.verdict,
        rule=rule,
        looked_at=unit.now,
    )


def _old_value(
    proposal: Proposal, replaced: Replaced | None, *, is_told: bool, unit: Unit, bundle: Bundle
) -> OldValue | None:
    """Answer what would be ended; whoever neither decides nor may read it is not told that it is there."""
    if replaced is None:
        return None
    memory = MemoryStore.of(unit, bundle).get_readable(replaced.memory_id, caller=unit.caller, now=unit.now)
    if memory is None:
        return OldValue(None) if is_told else None
    assert proposal.content is not None
    return OldValue(memory, diff_words(shown_text(memory.content), shown_text(proposal.content)))
