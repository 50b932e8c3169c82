"""Routes of evidence: add, read, grep, delete, search."""

from typing import Annotated

from fastapi import Query
from starlette.responses import Response

from service.core.errors import Forbidden, NotFound
from service.entry.http.edge import Edge, PathId, Reply, Upload, needs, new_router, operation
from service.entry.http.erasures import begin
from service.entry.http.evidence_examples import (
    ADD_EXAMPLE,
    EXAMPLE_ID,
    ITEM_EXAMPLE,
    SEARCH_EXAMPLE,
    TEXT_EXAMPLE,
)
from service.entry.http.evidence_shapes import (
    evidence_answer,
    found_answer,
    grep_answer,
    kept_answer,
    new_evidence,
)
from service.evidence.add import add_evidence
from service.evidence.get import RangeInvalid, get_evidence, read_text
from service.evidence.grep import grep_evidence
from service.evidence.model import (
    TEXT_SHOWN_CHARACTERS_MAX,
    ReaderUnknown,
    ReferenceNotFound,
    SupersedeRefused,
)
from service.evidence.ports import FileUnreadable
from service.governance.forget import forget_evidence
from service.governance.model import Held
from service.identity.matrix import EVIDENCE_READ, EVIDENCE_WRITE
from service.identity.unit import Unit
from service.policies.active import active_bundle
from service.policies.words import Authority
from service.retrieval.search_evidence import EvidenceFilter, search_evidence
from service.wire.evidence import (
    AddEvidence,
    EvidenceAnswer,
    EvidenceDeleted,
    EvidenceFilters,
    EvidenceFound,
    EvidenceKept,
    Grep,
    GrepAnswer,
    SearchEvidence,
    TextAnswer,
)

router = new_router("evidence")

Version = Annotated[int | None, Query(ge=1, le=2**31 - 1)]
Offset = Annotated[int, Query(ge=0, le=2**31 - 1)]


@router.post(
    "/evidence",
    **operation(
        summary="Keep a text or a file as evidence",
        answer=EvidenceKept,
        status=201,
        example=ADD_EXAMPLE,
        problems=[NotFound, ReferenceNotFound, ReaderUnknown, SupersedeRefused, FileUnreadable],
        upload=True,
    ),
)
def add(body: AddEvidence, upload: Upload, edge: Edge = needs(EVIDENCE_WRITE)) -> Response:
    """Answer 201 for a new version, 200 when what was sent stood already in this version."""
    if body.project not in {project.name for project in edge.caller.projects}:
        raise NotFound
    new = new_evidence(body, runtime=edge.runtime, upload=upload)

    def work(unit: Unit) -> Reply:
        kept = add_evidence(new, unit=unit, bundle=active_bundle(unit), chunker=edge.runtime.chunker)
        return Reply(
            kept_answer(kept),
            status=201 if kept.is_new else 200,
            etag=kept.version,
            refs=(kept.id,),
            project_id=kept.project_id,
        )

    return edge.create(work)


@router.post(
    "/evidence/search",
    **operation(summary="Search evidence in words", answer=EvidenceFound, example=SEARCH_EXAMPLE),
)
def search(body: SearchEvidence, edge: Edge = needs(EVIDENCE_READ)) -> Response:
    """Answer the best passages that the caller may read now."""

    def work(unit: Unit) -> Reply:
        found = search_evidence(
            body.query,
            project=body.project,
            limit=body.limit,
            unit=unit,
            retriever=edge.runtime.retriever,
            only=_filter(body.filters),
        )
        return Reply(EvidenceFound(items=[found_answer(ranked) for ranked in found]))

    return edge.read(work)


@router.get(
    "/evidence/{evidence_id}",
    **operation(
        summary="Read an item's provenance and the beginning of its text",
        answer=EvidenceAnswer,
        example=ITEM_EXAMPLE,
    ),
)
def get(evidence_id: PathId, version: Version = None, edge: Edge = needs(EVIDENCE_READ)) -> Response:
    """Answer an item at its current version, or at an older one."""

    def work(unit: Unit) -> Reply:
        evidence = get_evidence(evidence_id, unit=unit, version=version, to_judge=True)
        end = min(evidence.characters, TEXT_SHOWN_CHARACTERS_MAX)
        part = read_text(evidence_id, unit=unit, end=end, version=evidence.version, to_judge=True)
        return Reply(evidence_answer(evidence, part.text, unit.caller), etag=evidence.version)

    return edge.read(work)


@router.get(
    "/evidence/{evidence_id}/text",
    **operation(
        summary="Read characters of an item's text",
        answer=TextAnswer,
        example=TEXT_EXAMPLE,
        problems=[RangeInvalid],
    ),
)
def text(
    evidence_id: PathId,
    start: Offset = 0,
    end: Annotated[int | None, Query(ge=0, le=2**31 - 1)] = None,
    version: Version = None,
    edge: Edge = needs(EVIDENCE_READ),
) -> Response:
    """Answer the characters from `start` to `end`; read on at the `end` that was answered."""

    def work(unit: Unit) -> Reply:
        part = read_text(evidence_id, unit=unit, start=start, end=end, version=version, to_judge=True)
        return Reply(
            TextAnswer(
                id=part.evidence.id,
                version=part.evidence.version,
                start=part.start,
                end=part.end,
                characters=part.evidence.characters,
                text=part.text,
            ),
            etag=part.evidence.version,
        )

    return edge.read(work)


@router.post(
    "/evidence/{evidence_id}/grep",
    **operation(
        summary="Find a literal in an item's text", answer=GrepAnswer, example={"pattern": "plot 18"}
    ),
)
def grep(evidence_id: PathId, body: Grep, edge: Edge = needs(EVIDENCE_READ)) -> Response:
    """Answer where the literal stands, with its surroundings."""

    def work(unit: Unit) -> Reply:
        found = grep_evidence(
            evidence_id,
            body.pattern,
            unit=unit,
            limit=body.limit,
            context=body.context,
            ignore_case=body.ignore_case,
            version=body.version,
            to_judge=True,
        )
        return Reply(grep_answer(found))

    return edge.read(work)


@router.delete(
    "/evidence/{evidence_id}",
    **operation(
        summary="Delete your own evidence",
        answer=EvidenceDeleted,
        example={"id": EXAMPLE_ID, "deleted": True},
        problems=[Forbidden, Held],
    ),
)
def delete(
    evidence_id: PathId,
    derived: Annotated[bool, Query(description="Erase all that was made from it too.")] = False,
    edge: Edge = needs(EVIDENCE_WRITE),
) -> Response:
    """Remove the item with all its versions; from then on nothing finds or reads it.

    With `derived=true` a job also erases all that was made from it, and the answer is 202 with the erasure.
    """
    if derived:
        return begin(edge, lambda unit: forget_evidence(evidence_id, derived=True, unit=unit))
    erasure = edge.transact(lambda unit: forget_evidence(evidence_id, derived=False, unit=unit))
    edge.runtime.erasing.eraser.run_quietly(edge.caller.tenant_id, erasure.id)
    return edge.read(lambda _unit: Reply(EvidenceDeleted(id=evidence_id)))


def _filter(filters: EvidenceFilters) -> EvidenceFilter:
    authorities, kinds = filters.authority, filters.source_kind
    return EvidenceFilter(
        authorities=None if authorities is None else frozenset(map(Authority, authorities)),
        source_kinds=None if kinds is None else frozenset(kinds),
        observed_after=filters.observed_after,
    )
