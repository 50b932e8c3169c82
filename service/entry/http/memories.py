"""Routes of long-term memory: read, search, erase, and consent."""

from typing import Annotated, Literal

from fastapi import Path, Query
from starlette.responses import Response

from service.context.retrieve_memories import search_memories
from service.core.errors import NotFound, Unavailable
from service.core.paging import PAGE_ITEMS_DEFAULT
from service.entry.http.edge import Cursor, Edge, Limit, PathId, Reply, needs, new_router, operation
from service.entry.http.memories_examples import (
    CONSENT_EXAMPLE,
    CONSENTS_EXAMPLE,
    MEMORIES_EXAMPLE,
    MEMORY_EXAMPLE,
    SEARCH_EXAMPLE,
)
from service.entry.http.memories_shapes import (
    consent_answers,
    memory_answer,
)
from service.identity.matrix import MEMORIES_OWN, MEMORIES_READ
from service.identity.unit import Unit
from service.memories.consent import list_consents, set_consent
from service.memories.model import MemoryStatus, PurposeNotOfClass
from service.memories.store import MemoryStore, Wanted
from service.memories.valid import Moment
from service.policies.active import active_bundle
from service.policies.words import Destination
from service.wire.memories import (
    ConsentAnswer,
    ConsentsAnswer,
    MemoriesFound,
    MemoryAnswer,
    MemoryFound,
    MemoryPage,
    SearchMemories,
    SetConsent,
)
from service.wire.scalars import When

router = new_router("memories")

ClassName = Annotated[str | None, Query(alias="class", max_length=64)]
PurposeName = Annotated[str, Path(max_length=64, pattern=r"^[a-z][a-z0-9_]*$")]
SubjectName = Annotated[str | None, Query(max_length=200)]
KeyName = Annotated[str | None, Query(max_length=100)]
GroupId = Annotated[str | None, Query(max_length=36)]
Instant = Annotated[When | None, Query()]
Status = Literal["active", "paused", "expired", "superseded", "quarantined", "grace"]


@router.get(
    "/memories",
    **operation(summary="List memories that you may read", answer=MemoryPage, example=MEMORIES_EXAMPLE),
)
def list_memories(  # noqa: PLR0917 - FastAPI passes each by name
    subject: SubjectName = None,
    class_: ClassName = None,
    key: KeyName = None,
    status: Status | None = None,
    conflict_group: GroupId = None,
    as_of: Instant = None,
    known_at: Instant = None,
    limit: Limit = PAGE_ITEMS_DEFAULT,
    cursor: Cursor = None,
    edge: Edge = needs(MEMORIES_READ),
) -> Response:
    """Answer memories, newest first. A person sees all that is kept about them, whatever its state.

    `as_of` leaves those that are true at that moment, `known_at` answers them as they were known at that one.
    """
    page = edge.page(limit, cursor, subject, class_, key, status, conflict_group, as_of, known_at)

    def work(unit: Unit) -> Reply:
        bundle = active_bundle(unit)
        found = MemoryStore.of(unit, bundle).list_readable(
            page,
            caller=unit.caller,
            now=unit.now,
            wanted=Wanted(
                subject=subject,
                class_name=class_,
                key=key,
                status=None if status is None else MemoryStatus(status),
                conflict_group=conflict_group,
            ),
            moment=Moment(as_of, known_at),
        )
        items = [memory_answer(memory, unit, bundle) for memory in found.items]
        return Reply(MemoryPage(items=items, next_cursor=found.next_cursor))

    return edge.read(work)


@router.get(
    "/memories/{memory_id}",
    **operation(summary="Read one memory", answer=MemoryAnswer, example=MEMORY_EXAMPLE),
)
def get_memory(memory_id: PathId, edge: Edge = needs(MEMORIES_READ)) -> Response:
    """Answer a memory with its source, purpose, lawful basis and expiry."""

    def work(unit: Unit) -> Reply:
        bundle = active_bundle(unit)
        found = MemoryStore.of(unit, bundle).get_readable(memory_id, caller=unit.caller, now=unit.now)
        if found is None:
            raise NotFound
        return Reply(memory_answer(found, unit, bundle), etag=found.version)

    return edge.read(work)


@router.post(
    "/memories/search",
    **operation(
        summary="Search memories under the reader policy",
        answer=MemoriesFound,
        example=SEARCH_EXAMPLE,
        problems=[NotFound, PurposeNotOfClass, Unavailable],
    ),
)
def search(body: SearchMemories, edge: Edge = needs(MEMORIES_READ)) -> Response:
    """Answer what may be relied on for the purpose now: the person's own and the projects'.

    What is true now or at `as_of`, as it is known now or was at `known_at`.
    """

    def work(unit: Unit) -> Reply:
        bundle = active_bundle(unit)
        if body.purpose not in bundle.purposes:
            raise PurposeNotOfClass("The active policy has no such purpose.", pointer="/purpose")
        if body.subject is not None and body.subject != unit.caller.person:
            raise NotFound
        found = search_memories(
            body.query,
            projects=sorted(
                unit.caller.projects if body.project is None else [unit.project(body.project)],
                key=lambda project: project.id,
            ),
            purpose=body.purpose,
            limit=body.limit,
            unit=unit,
            retriever=edge.runtime.retriever,
            memories=MemoryStore.of(unit, bundle),
            destination=Destination.SEARCH,
            moment=Moment(body.as_of, body.known_at),
        )
        items = [
            MemoryFound(memory=memory_answer(ranked.item.memory, unit, bundle), scores=dict(ranked.scores))
            for ranked in found
        ]
        return Reply(MemoriesFound(items=items))

    return edge.read(work)


@router.put(
    "/consents/{purpose}",
    **operation(
        summary="Give or withdraw your consent",
        answer=ConsentAnswer,
        example=CONSENT_EXAMPLE,
        problems=[NotFound, PurposeNotOfClass],
    ),
)
def consent(purpose: PurposeName, body: SetConsent, edge: Edge = needs(MEMORIES_OWN)) -> Response:
    """Answer the consent with its history; a withdrawal counts from the next request, everywhere."""

    def work(unit: Unit) -> Reply:
        history = set_consent(
            body.subject,
            purpose,
            granted=body.granted,
            text_version=body.text_version,
            unit=unit,
            bundle=active_bundle(unit),
        )
        return Reply(consent_answers(body.subject, history)[0])

    return edge.write(work)


@router.get(
    "/consents",
    **operation(
        summary="List your consents with their history", answer=ConsentsAnswer, example=CONSENTS_EXAMPLE
    ),
)
def consents(
    subject: Annotated[str, Query(min_length=1, max_length=200)], edge: Edge = needs(MEMORIES_OWN)
) -> Response:
    """Answer each purpose that was ever consented to."""
    return edge.read(
        lambda unit: Reply(ConsentsAnswer(items=consent_answers(subject, list_consents(subject, unit=unit))))
    )
