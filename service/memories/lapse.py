"""`lapse`: a proposal that nobody decided in its time is denied, and its words are gone."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from service.audit.model import Action
from service.audit.record import record
from service.core.errors import Conflict
from service.identity.unit import Unit
from service.memories.model import Proposal
from service.memories.store_proposals import ProposalStore
from service.memories.store_slots import SlotStore
from service.memories.store_sweep import SweepStore
from service.memories.waiting import slot_locked_for
from service.policies.classes import WAITS_DAYS
from service.policies.model import Bundle
from service.policies.verdict import Outcome, ReasonCode


class ReviewLapsed(Conflict):
    """It waited longer than its class allows: it counts as denied."""

    code = "review_lapsed"
    title = "This proposal waited too long and counts as denied"


def has_lapsed(proposal: Proposal, bundle: Bundle, now: datetime) -> bool:
    """Say whether a waiting proposal's time is over; of a class that is gone, the usual time."""
    rule = bundle.classes.get(proposal.class_name)
    days = WAITS_DAYS if rule is None else rule.approval.waits_days
    return proposal.created_at <= now - timedelta(days=days)


def list_lapsed(*, unit: Unit, bundle: Bundle, after: str, limit: int) -> Sequence[str]:
    """Answer ids of proposals that have waited too long and that no legal hold keeps, in order."""
    days = {name: rule.approval.waits_days for name, rule in bundle.classes.items()}
    return SweepStore.of(unit).list_lapsed(days, now=unit.now, after=after, limit=limit)


def lapse_proposal(proposal_id: str, *, unit: Unit, bundle: Bundle) -> None:
    """Deny a proposal that waited too long; one that was decided meanwhile is left alone."""
    store = ProposalStore.of(unit)
    found = store.find(proposal_id)
    if found is None:
        return
    # The slot first, as whoever decides does.
    SlotStore.of(unit).lock_all([slot_locked_for(found)])
    found = store.find(proposal_id, lock=True)
    if found is None or found.outcome is not Outcome.PENDING_REVIEW:
        return
    if not has_lapsed(found, bundle, unit.now):
        return
    codes = [ReasonCode.REVIEW_LAPSED.value]
    store.decide(
        found.id,
        outcome=Outcome.DENIED,
        codes=codes,
        approvals=found.approvals,
        memory_id=found.memory_id,
        reason=None,
        subject=None,
        at=unit.now,
        by=unit.caller.principal,
    )
    record(
        unit,
        Action.PROPOSAL_DECIDED,
        kind="memory_proposal",
        ref=found.id,
        outcome=Outcome.DENIED.value,
        codes=codes,
        memory=found.memory_id,
    )
