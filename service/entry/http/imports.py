"""The route of imports: a memory out of an own export, as a proposal."""

from typing import Any, Final

from starlette.responses import Response

from service.core.errors import Forbidden, NotFound
from service.entry.http.edge import Edge, Reply, needs, new_router, operation
from service.entry.http.memories_examples import PROPOSE_EXAMPLE
from service.entry.http.memories_shapes import new_proposal, proposal_answer
from service.governance.import_memory import ImportErased, import_memory
from service.identity.matrix import MEMORIES_OWN
from service.identity.unit import Unit
from service.memories.model import NothingToRemember, PurposeNotOfClass
from service.policies.active import active_bundle
from service.wire.imports import ImportMemory
from service.wire.memories import ProposalAnswer, ProposeMemory

router = new_router("exports")

_EXAMPLE: Final[dict[str, Any]] = {
    **{name: value for name, value in PROPOSE_EXAMPLE.items() if name != "provenance"},
    "imported_from": "019d4f3e-8a00-7c3e-9b1a-5d2f6c7e8f90",
}
_PROBLEMS: Final[list[Any]] = [NotFound, Forbidden, ImportErased, PurposeNotOfClass, NothingToRemember]


@router.post(
    "/memory-imports",
    **operation(
        summary="Propose a memory of an own export again",
        answer=ProposalAnswer,
        status=201,
        example=_EXAMPLE,
        problems=_PROBLEMS,
    ),
)
def import_one(body: ImportMemory, edge: Edge = needs(MEMORIES_OWN)) -> Response:
    """Answer the policy's decision. What was erased here by the id that it had stays gone: 410."""
    fields = body.model_dump(by_alias=True, exclude={"imported_from"})
    new = new_proposal(ProposeMemory(**fields))

    def work(unit: Unit) -> Reply:
        decided = import_memory(new, body.imported_from, unit=unit, bundle=active_bundle(unit))
        named = () if decided.memory is None else (decided.memory.id,)
        return Reply(
            proposal_answer(decided),
            status=201,
            refs=(decided.proposal.id, *named),
            project_id=decided.proposal.project_id,
            subjects=(body.subject,),
        )

    return edge.create(work)
