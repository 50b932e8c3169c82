"""Adding evidence: one text, or many in one transaction."""

from collections.abc import Sequence

from service.audit.model import Action
from service.audit.record import record
from service.core.errors import Refusal
from service.evidence.keep import keep_all
from service.evidence.model import BATCH_ITEMS_MAX, Kept, NewEvidence
from service.evidence.ports import Chunker
from service.identity.unit import Unit
from service.policies.model import Bundle


def add_evidence(new: NewEvidence, *, unit: Unit, bundle: Bundle, chunker: Chunker) -> Kept:
    """Keep a text as evidence: a new item, or a new version of what stands under the same project and uri.

    What states the same as the current version writes no other: only when it was seen, and how long it is
    fresh, move on. Raises `NotFound` for a project that the caller may not enter, `ReaderUnknown`,
    `ReferenceNotFound` and `SupersedeRefused`.
    """
    [outcome] = keep_all([new], unit=unit, bundle=bundle, chunker=chunker)
    if isinstance(outcome, Refusal):
        raise outcome
    record(
        unit,
        Action.EVIDENCE_ADDED if outcome.is_new else Action.EVIDENCE_SEEN_AGAIN,
        kind="evidence",
        ref=outcome.id,
        version=outcome.version,
        trust=outcome.standing.trust.value,
        authority=outcome.standing.authority.value,
        limited=outcome.standing.limited,
        supersedes=new.supersedes if outcome.is_new else None,
    )
    return outcome


def add_evidence_batch(
    news: Sequence[NewEvidence], *, unit: Unit, bundle: Bundle, chunker: Chunker
) -> Sequence[Kept | Refusal]:
    """Keep up to `BATCH_ITEMS_MAX` texts in this one transaction; answer each one's outcome, in order.

    A refused text leaves nothing behind and does not touch the others.
    """
    if len(news) > BATCH_ITEMS_MAX:
        raise ValueError("a batch is kept in parts")
    outcomes = keep_all(news, unit=unit, bundle=bundle, chunker=chunker)
    added = [outcome.id for outcome in outcomes if isinstance(outcome, Kept) and outcome.is_new]
    if added:
        # One event for all: the chain of events is one per tenant, and a batch may hold millions.
        record(unit, Action.EVIDENCE_BATCH_ADDED, kind="evidence", ref=added[0], ids=added, count=len(added))
    return outcomes
