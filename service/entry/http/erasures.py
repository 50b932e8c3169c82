"""Routes of deletions that reach everything: a memory, a run's content, a person; and how far they are."""

from collections.abc import Callable
from typing import Annotated

from fastapi import Path, Query
from starlette.responses import Response

from service.core.errors import Forbidden, NotFound
from service.entry.http.edge import Edge, PathId, Reply, needs, new_router, operation
from service.entry.http.erasures_shapes import (
    BEGUN_EXAMPLE,
    ERASED_EXAMPLE,
    ERASURE_EXAMPLE,
    begun_answer,
    erasure_answer,
    receipt_answer,
)
from service.governance.forget import forget_content, forget_memory, forget_subject, get_erasure
from service.governance.model import Erasure, Held, Kind, State
from service.identity.matrix import MEMORIES_OWN, SUBJECTS_ERASE
from service.identity.unit import Unit
from service.policies.active import active_bundle
from service.wire.erasures import ErasureAnswer, ErasureBegun, MemoryErased
from service.wire.scalars import Answer

router = new_router("erasures")

SubjectPath = Annotated[str, Path(min_length=1, max_length=200)]


@router.delete(
    "/memories/{memory_id}",
    **operation(
        summary="Erase a memory from every store",
        answer=MemoryErased,
        example=ERASED_EXAMPLE,
        problems=[NotFound, Forbidden, Held],
    ),
)
def delete_memory(memory_id: PathId, edge: Edge = needs(MEMORIES_OWN)) -> Response:
    """Answer the receipt: for each store what was removed, and what a query of its own found afterwards.

    Where its class gives a time of grace, the memory is hidden now, and destroyed when that is over.
    """
    erasure = edge.transact(lambda unit: forget_memory(memory_id, unit=unit, bundle=active_bundle(unit)))
    return _carry_out(edge, erasure, lambda done: MemoryErased(receipt=receipt_answer(done)))


@router.delete(
    "/executions/{execution_id}/content",
    **operation(
        summary="Erase all that came from a conversation",
        answer=ErasureBegun,
        example=BEGUN_EXAMPLE,
        status=202,
        problems=[NotFound, Forbidden, Held],
    ),
)
def delete_content(execution_id: PathId, edge: Edge = needs(MEMORIES_OWN, SUBJECTS_ERASE)) -> Response:
    """Hide and then destroy what was said, observed and kept in the run, and what was made from it.

    The run ends. What it did to other systems stays on record, without a word of it.
    """
    return begin(edge, lambda unit: forget_content(execution_id, unit=unit))


@router.delete(
    "/subjects/{subject}",
    **operation(
        summary="Erase a person",
        answer=ErasureBegun,
        example=BEGUN_EXAMPLE,
        status=202,
        problems=[NotFound, Held],
    ),
)
def delete_subject(
    subject: SubjectPath,
    account: Annotated[bool, Query(description="Take the person's credentials and memberships too.")] = False,
    edge: Edge = needs(MEMORIES_OWN, SUBJECTS_ERASE),
) -> Response:
    """Destroy the person's key, so that nobody reads what is theirs, and then all that is about them."""
    return begin(edge, lambda unit: forget_subject(subject, closes_account=account, unit=unit))


@router.get(
    "/erasures/{erasure_id}",
    **operation(summary="Follow an erasure of yours", answer=ErasureAnswer, example=ERASURE_EXAMPLE),
)
def follow(erasure_id: PathId, edge: Edge = needs(MEMORIES_OWN, SUBJECTS_ERASE)) -> Response:
    """Answer how far it has come; a small one whose store did not answer when last asked is tried again."""
    erasure = edge.look(lambda unit: get_erasure(erasure_id, unit=unit))
    return _carry_out(edge, erasure, erasure_answer)


def begin(edge: Edge, work: Callable[[Unit], Erasure]) -> Response:
    """Ask for an erasure that a job carries out, and answer 202; a person's key dies before the answer."""
    erasure = edge.transact(work)
    edge.runtime.erasing.eraser.destroy_key(edge.caller.tenant_id, erasure)
    edge.runtime.erasing.workers.wake()
    return edge.read(lambda _unit: Reply(begun_answer(erasure), status=202))


def _carry_out(edge: Edge, erasure: Erasure, answer: Callable[[Erasure], Answer]) -> Response:
    # Between transactions: the index may take its time, and nobody is to wait for it with a lock.
    if erasure.state in (State.RUNNING, State.FAILED) and erasure.kind in (Kind.MEMORY, Kind.EVIDENCE):
        edge.runtime.erasing.eraser.run_quietly(edge.caller.tenant_id, erasure.id)
    return edge.read(lambda unit: Reply(answer(get_erasure(erasure.id, unit=unit))))
