"""Routes of the review queue: look at one proposal closely, decide many."""

from collections.abc import Sequence

from starlette.responses import Response

from service.audit.record import record_refusal
from service.context.citations import RecordCitations
from service.context.cited_passages import RecordPassages
from service.core.errors import Forbidden, NotFound, Refusal
from service.entry.http.edge import Edge, PathId, Reply, needs, new_router, operation
from service.entry.http.memories_review_shapes import (
    DECISIONS_EXAMPLE,
    REVIEW_EXAMPLE,
    decision_answer,
    review_answer,
)
from service.identity.matrix import PROPOSALS_DECIDE, PROPOSALS_READ
from service.identity.unit import Unit
from service.memories.decide import decide_proposals, preview_decisions
from service.memories.model import Decided, Word
from service.memories.review import review_proposal
from service.policies.active import active_bundle
from service.wire.review import DecideProposals, DecisionsAnswer, ProposalReview

router = new_router("memories")


@router.get(
    "/memory-proposals/{proposal_id}",
    **operation(
        summary="Look at a proposal with all that a decision about it rests on",
        answer=ProposalReview,
        example=REVIEW_EXAMPLE,
        problems=[NotFound],
    ),
)
def review(proposal_id: PathId, edge: Edge = needs(PROPOSALS_READ)) -> Response:
    """Answer its exact words, their sources, what they would replace, and what the policy says of it now."""

    def work(unit: Unit) -> Reply:
        reviewed = review_proposal(
            proposal_id,
            unit=unit,
            bundle=active_bundle(unit),
            citations=RecordCitations(unit),
            passages=RecordPassages(unit),
        )
        return Reply(review_answer(reviewed, unit))

    return edge.read(work)


@router.post(
    "/memory-proposals/decisions",
    **operation(
        summary="Decide many waiting proposals, or see what that would do",
        answer=DecisionsAnswer,
        example=DECISIONS_EXAMPLE,
        creates=True,
    ),
)
def decide_many(body: DecideProposals, edge: Edge = needs(PROPOSALS_DECIDE)) -> Response:
    """Answer for each what became of it: the refused ones change nothing and hold up none of the others."""
    words = [
        (one.id, Word(one.decision == "approve", one.reason, one.content_hash)) for one in body.decisions
    ]

    def preview(unit: Unit) -> Reply:
        foreseen = preview_decisions(
            words, unit=unit, bundle=active_bundle(unit), citations=RecordCitations(unit)
        )
        items = [decision_answer(name, outcome) for (name, _), outcome in zip(words, foreseen, strict=True)]
        return Reply(DecisionsAnswer(preview=True, items=items))

    def work(unit: Unit) -> Reply:
        outcomes = decide_proposals(
            words, unit=unit, bundle=active_bundle(unit), citations=RecordCitations(unit)
        )
        for outcome in outcomes:
            if isinstance(outcome, Forbidden):
                record_refusal(unit, outcome, operation=f"POST:{edge.state.route}")
        items = [decision_answer(name, outcome) for (name, _), outcome in zip(words, outcomes, strict=True)]
        return Reply(
            DecisionsAnswer(preview=False, items=items), refs=_refs(outcomes), project_id=_project(outcomes)
        )

    return edge.read(preview) if body.preview else edge.create(work)


def _refs(outcomes: Sequence[Decided | Refusal]) -> tuple[str, ...]:
    """Answer what an erasure has to touch for this answer to be given no more."""
    decided = [outcome for outcome in outcomes if isinstance(outcome, Decided)]
    memories = [one.memory.id for one in decided if one.memory is not None]
    return (*(one.proposal.id for one in decided), *memories)


def _project(outcomes: Sequence[Decided | Refusal]) -> str | None:
    """Answer the project that all of them belong to; ids alone of several may be repeated to who left one."""
    projects = {outcome.proposal.project_id for outcome in outcomes if isinstance(outcome, Decided)}
    return projects.pop() if len(projects) == 1 else None
