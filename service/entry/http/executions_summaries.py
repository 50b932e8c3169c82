"""The route of summaries: kept as the client wrote them, or written here."""

from starlette.responses import Response

from service.context.references import RecordReferences
from service.core.errors import Invalid
from service.entry.http.edge import Edge, PathId, Reply, needs, new_router, operation
from service.entry.http.executions_shapes import run_reply
from service.evidence.model import ReferenceNotFound
from service.executions import refusals
from service.executions.compact import keep_compaction, write_prose
from service.executions.compaction.material import (
    PROSE_TOKENS_DEFAULT,
    Material,
    NewCompaction,
    read_material,
)
from service.executions.compaction.refusals import (
    CompactorUnavailable,
    NothingSaid,
    SummaryOvertaken,
    SummaryTooWide,
    TextNotKept,
)
from service.executions.conversation.model import NewSummary, Summary
from service.executions.leases.refusals import FencingTokenStale
from service.executions.store import ExecutionStore
from service.executions.summarise import summarise
from service.identity.matrix import EXECUTIONS_WRITE
from service.identity.unit import Unit
from service.policies.active import active_bundle
from service.wire.conversation import AddSummary, SummaryAnswer

router = new_router("executions")


@router.post(
    "/executions/{execution_id}/summaries",
    **operation(
        summary="Keep a summary of a range of turns, or have one written",
        answer=SummaryAnswer,
        status=201,
        example={
            "from_sequence": 1,
            "to_sequence": 80,
            "text": "The user asked for the status of plot 18.",
            "model": "gpt-4o",
        },
        problems=[
            refusals.ActingUserOnly,
            refusals.ExecutionEnded,
            refusals.RunFull,
            refusals.SummaryUnknown,
            FencingTokenStale,
            ReferenceNotFound,
            TextNotKept,
            NothingSaid,
            SummaryTooWide,
            SummaryOvertaken,
            CompactorUnavailable,
        ],
    ),
)
def add_summary(execution_id: PathId, body: AddSummary, edge: Edge = needs(EXECUTIONS_WRITE)) -> Response:
    """Keep a summary with its source range and the model that wrote it. The turns under it stay.

    Without `text` the service writes it: what must survive out of the record, the most telling of what was
    said within `max_tokens`.
    """
    if body.text is None:
        return _write(execution_id, body, edge)
    new = _written(body, body.text)

    def work(unit: Unit) -> Reply:
        bundle = active_bundle(unit)
        references = RecordReferences(unit, bundle)
        kept = summarise(execution_id, new, unit=unit, bundle=bundle, references=references)
        return _reply(kept, unit)

    return edge.create(work)


def _write(execution_id: str, body: AddSummary, edge: Edge) -> Response:
    # In three parts, since a model may be slow: no transaction is open while it writes.
    answered = edge.find_answer()
    if answered is not None:
        return answered
    asked = NewCompaction(
        from_sequence=body.from_sequence,
        to_sequence=body.to_sequence,
        supersedes=body.supersedes,
        derived_from=tuple(body.derived_from),
        tokens_max=body.max_tokens or PROSE_TOKENS_DEFAULT,
        model=body.model,
    )

    def read(unit: Unit) -> Material:
        bundle = active_bundle(unit)
        references = RecordReferences(unit, bundle)
        return read_material(execution_id, asked, unit=unit, bundle=bundle, references=references)

    material = edge.look(read)
    prose = write_prose(material, compactor=edge.runtime.compactor, count=edge.runtime.tokens.count)

    def keep(unit: Unit) -> Reply:
        kept = keep_compaction(execution_id, material, prose, unit=unit, bundle=active_bundle(unit))
        return _reply(kept, unit)

    return edge.create(keep)


def _written(body: AddSummary, text: str) -> NewSummary:
    if body.from_sequence is None or body.to_sequence is None:
        raise Invalid("belongs to a summary with a text of its own", pointer="/from_sequence")
    if body.model is None:
        raise Invalid("names who wrote the text", pointer="/model")
    if body.max_tokens is not None:
        raise Invalid("is for summaries that are written here", pointer="/max_tokens")
    return NewSummary(
        from_sequence=body.from_sequence,
        to_sequence=body.to_sequence,
        text=text,
        model=body.model,
        supersedes=body.supersedes,
        derived_from=tuple(body.derived_from),
    )


def _reply(kept: Summary, unit: Unit) -> Reply:
    answer = SummaryAnswer(
        id=kept.id,
        version=kept.version,
        from_sequence=kept.from_sequence,
        to_sequence=kept.to_sequence,
        model=kept.model,
        tokens=kept.tokens,
        supersedes=kept.supersedes,
        derived_from=list(kept.derived_from),
        text=kept.text,
        at=kept.at,
    )
    run = ExecutionStore.of(unit).get(kept.execution_id)
    return run_reply(answer, run, status=201, refs=(kept.id,))
