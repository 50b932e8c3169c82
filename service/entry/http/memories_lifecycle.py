"""Routes of what happens to a memory after it was kept: correct, pause, resume, history; and refusals."""

from typing import Annotated

from fastapi import Query
from starlette.responses import Response

from service.context.citations import RecordCitations
from service.core.errors import Forbidden, NotFound, PreconditionNeeded, Stale
from service.entry.http.edge import Edge, IfMatch, PathId, Reply, needs, new_router, operation
from service.entry.http.memories_examples import MEMORY_EXAMPLE
from service.entry.http.memories_lifecycle_shapes import (
    CORRECTION_EXAMPLE,
    HISTORY_EXAMPLE,
    REFUSAL_EXAMPLE,
    REFUSALS_EXAMPLE,
    correction_answer,
    correction_of,
    history_answer,
    refusals_answer,
)
from service.entry.http.memories_shapes import memory_answer
from service.identity.matrix import MEMORIES_OWN, MEMORIES_READ
from service.identity.unit import Unit
from service.memories.correct import NotCorrectable, NothingToCorrect, correct_memory
from service.memories.pause import (
    NoRoomLeft,
    NotPausable,
    NotResumable,
    SlotTaken,
    pause_memory,
    resume_memory,
)
from service.memories.refuse import ClassNotInPolicy, list_refusals, set_refusal
from service.memories.store_history import HistoryStore
from service.policies.active import active_bundle
from service.policies.verdict import Outcome
from service.wire.memories import MemoryAnswer
from service.wire.memories_lifecycle import (
    CorrectionAnswer,
    CorrectMemory,
    HistoryAnswer,
    RefusalsAnswer,
    SetRefusal,
)

router = new_router("memories")


@router.post(
    "/memories/{memory_id}/corrections",
    **operation(
        summary="Correct a memory: a new version of it",
        answer=CorrectionAnswer,
        status=201,
        example=CORRECTION_EXAMPLE,
        problems=[NotFound, Forbidden, Stale, PreconditionNeeded, NotCorrectable, NothingToCorrect],
    ),
)
def correct(
    memory_id: PathId, body: CorrectMemory, version: IfMatch, edge: Edge = needs(MEMORIES_OWN)
) -> Response:
    """Answer 201 with the new version, or 200 with the decision where the policy did not keep it."""

    def work(unit: Unit) -> Reply:
        corrected = correct_memory(
            memory_id,
            correction_of(body),
            version,
            unit=unit,
            bundle=active_bundle(unit),
            citations=RecordCitations(unit),
        )
        named = () if corrected.proposal is None else (corrected.proposal.id,)
        return Reply(
            correction_answer(corrected),
            status=201 if corrected.outcome is Outcome.APPROVED else 200,
            etag=corrected.version,
            refs=(memory_id, *named),
        )

    return edge.create(work)


@router.post(
    "/memories/{memory_id}/pause",
    **operation(
        summary="Let a memory count for nothing, without deleting it",
        answer=MemoryAnswer,
        example=MEMORY_EXAMPLE,
        problems=[NotFound, Forbidden, NotPausable],
    ),
)
def pause(memory_id: PathId, edge: Edge = needs(MEMORIES_OWN)) -> Response:
    """Answer the memory: from now on no search and no package shows it. Repeating changes nothing."""

    def work(unit: Unit) -> Reply:
        bundle = active_bundle(unit)
        memory = pause_memory(memory_id, unit=unit, bundle=bundle)
        return Reply(memory_answer(memory, unit, bundle), etag=memory.version)

    return edge.write(work)


@router.post(
    "/memories/{memory_id}/resume",
    **operation(
        summary="Let a paused memory count again, or take a deletion back",
        answer=MemoryAnswer,
        example=MEMORY_EXAMPLE,
        problems=[NotFound, Forbidden, NotResumable, SlotTaken, NoRoomLeft],
    ),
)
def resume(memory_id: PathId, edge: Edge = needs(MEMORIES_OWN)) -> Response:
    """Answer the memory, active again. Repeating changes nothing."""

    def work(unit: Unit) -> Reply:
        bundle = active_bundle(unit)
        memory = resume_memory(memory_id, unit=unit, bundle=bundle)
        return Reply(memory_answer(memory, unit, bundle), etag=memory.version)

    return edge.write(work)


@router.get(
    "/memories/{memory_id}/history",
    **operation(summary="Read who wrote and changed a memory", answer=HistoryAnswer, example=HISTORY_EXAMPLE),
)
def history(memory_id: PathId, edge: Edge = needs(MEMORIES_READ)) -> Response:
    """Answer every version; what earlier ones said is there for its person, and whom the class lets."""

    def work(unit: Unit) -> Reply:
        store = HistoryStore.of(unit, active_bundle(unit))
        versions = store.list_versions(memory_id, caller=unit.caller, now=unit.now)
        if not versions:
            raise NotFound
        return Reply(history_answer(versions))

    return edge.read(work)


@router.put(
    "/refusals",
    **operation(
        summary="Say what is never to be remembered about you",
        answer=RefusalsAnswer,
        example=REFUSAL_EXAMPLE,
        problems=[NotFound, ClassNotInPolicy],
    ),
)
def refuse(body: SetRefusal, edge: Edge = needs(MEMORIES_OWN)) -> Response:
    """Answer what you refuse now: proposals and corrections of it are denied from the next request."""

    def work(unit: Unit) -> Reply:
        refusals = set_refusal(
            body.subject, body.class_, refused=body.refused, unit=unit, bundle=active_bundle(unit)
        )
        return Reply(refusals_answer(body.subject, refusals))

    return edge.write(work)


@router.get(
    "/refusals",
    **operation(
        summary="List what is never to be remembered about you",
        answer=RefusalsAnswer,
        example=REFUSALS_EXAMPLE,
    ),
)
def refusals(
    subject: Annotated[str, Query(min_length=1, max_length=200)], edge: Edge = needs(MEMORIES_OWN)
) -> Response:
    """Answer each class that you refuse; null stands for all."""
    return edge.read(lambda unit: Reply(refusals_answer(subject, list_refusals(subject, unit=unit))))
