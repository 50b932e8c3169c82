"""Routes of proposals: hand in, list, decide."""

from typing import Annotated, Literal

from fastapi import Query
from starlette.responses import Response

from service.context.citations import RecordCitations
from service.core.errors import Forbidden, NotFound
from service.core.paging import PAGE_ITEMS_DEFAULT
from service.entry.http.edge import Cursor, Edge, Limit, PathId, Reply, needs, new_router, operation
from service.entry.http.memories_examples import PROPOSALS_EXAMPLE, PROPOSE_EXAMPLE
from service.entry.http.memories_shapes import new_proposal, proposal_answer, proposal_listed
from service.identity.matrix import MEMORIES_PROPOSE, PROPOSALS_DECIDE, PROPOSALS_READ
from service.identity.unit import Unit
from service.memories.binding import ProposalChanged
from service.memories.decide import decide_proposal
from service.memories.lapse import ReviewLapsed
from service.memories.model import (
    AlreadyDecided,
    Decided,
    NothingToRemember,
    NotYoursToDecide,
    PurposeNotOfClass,
    Word,
)
from service.memories.propose import propose_memory
from service.memories.store_proposals import ProposalStore, Wanted
from service.policies.active import active_bundle
from service.policies.verdict import Outcome
from service.wire.memories import DecideProposal, ProposalAnswer, ProposalPage, ProposeMemory
from service.wire.scalars import Name

router = new_router("memories")

Decision = Literal["approved", "denied", "pending_review"]


@router.post(
    "/memory-proposals",
    **operation(
        summary="Propose something to be remembered",
        answer=ProposalAnswer,
        status=201,
        example=PROPOSE_EXAMPLE,
        problems=[NotFound, PurposeNotOfClass, NothingToRemember],
    ),
)
def propose(body: ProposeMemory, edge: Edge = needs(MEMORIES_PROPOSE)) -> Response:
    """Answer the policy's decision: a denial is an answer, with all of its reasons, and no error."""

    def work(unit: Unit) -> Reply:
        decided = propose_memory(
            new_proposal(body), unit=unit, bundle=active_bundle(unit), citations=RecordCitations(unit)
        )
        return Reply(
            proposal_answer(decided),
            status=201,
            refs=_refs(decided),
            project_id=decided.proposal.project_id,
        )

    return edge.create(work)


@router.get(
    "/memory-proposals",
    **operation(
        summary="List proposals: yours, those about you, and a reviewer's queue",
        answer=ProposalPage,
        example=PROPOSALS_EXAMPLE,
    ),
)
def list_proposals(
    *,
    decision: Decision | None = None,
    class_name: Annotated[str | None, Query(alias="class", max_length=200)] = None,
    subject: Annotated[Name | None, Query()] = None,
    project: Annotated[Name | None, Query()] = None,
    sort: Literal["newest", "age"] = "newest",
    limit: Limit = PAGE_ITEMS_DEFAULT,
    cursor: Cursor = None,
    edge: Edge = needs(PROPOSALS_READ),
) -> Response:
    """Answer proposals, newest first or by `age` (oldest first), with their exact words while they wait."""
    page = edge.page(limit, cursor, decision, class_name, subject, project, sort)

    def work(unit: Unit) -> Reply:
        wanted = Wanted(
            outcome=None if decision is None else Outcome(decision),
            class_name=class_name,
            subject=subject,
            project_id=None if project is None else unit.project(project).id,
            oldest_first=sort == "age",
        )
        found = ProposalStore.of(unit).list_for(unit.caller, page, wanted)
        items = [proposal_listed(proposal, unit) for proposal in found.items]
        return Reply(ProposalPage(items=items, next_cursor=found.next_cursor))

    return edge.read(work)


@router.post(
    "/memory-proposals/{proposal_id}/decision",
    **operation(
        summary="Decide a waiting proposal",
        answer=ProposalAnswer,
        example={"decision": "approve", "reason": "said so in the meeting"},
        problems=[NotFound, Forbidden, NotYoursToDecide, AlreadyDecided, ReviewLapsed, ProposalChanged],
        creates=True,
    ),
)
def decide(proposal_id: PathId, body: DecideProposal, edge: Edge = needs(PROPOSALS_DECIDE)) -> Response:
    """Answer what became of it: everything is judged again at this moment."""

    def work(unit: Unit) -> Reply:
        decided = decide_proposal(
            proposal_id,
            Word(body.decision == "approve", body.reason, body.content_hash),
            unit=unit,
            bundle=active_bundle(unit),
            citations=RecordCitations(unit),
        )
        return Reply(proposal_answer(decided), refs=_refs(decided), project_id=decided.proposal.project_id)

    return edge.create(work)


def _refs(decided: Decided) -> tuple[str, ...]:
    """Answer what an erasure has to touch for this answer to be given no more."""
    return (decided.proposal.id,) if decided.memory is None else (decided.proposal.id, decided.memory.id)
