"""The route that keeps evidence line by line: good lines are kept, each bad one is named."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final

from pydantic import TypeAdapter
from starlette.responses import Response

from service.core.errors import NotFound, Refusal, TooLarge
from service.entry.http.edge import Edge, Reply, needs, new_router, operation
from service.entry.http.evidence_examples import BATCH_EXAMPLE
from service.entry.http.evidence_shapes import new_evidence
from service.entry.http.json_lines import Line, Lines
from service.entry.http.reply import render
from service.evidence.add import add_evidence_batch
from service.evidence.model import BATCH_ITEMS_MAX, Kept, NewEvidence
from service.identity.matrix import EVIDENCE_WRITE
from service.identity.unit import Unit
from service.policies.active import active_bundle
from service.wire.evidence import REJECTED_SHOWN_MAX, AddEvidence, BatchKept, Rejected

router = new_router("evidence")

LINES_MAX: Final = 100_000
"""Most lines of one batch: the answer names each kept one, and it must stay a size that clients can read."""
_PART_CHARACTERS_MAX: Final = 4 * 1024 * 1024
"""Text that one transaction may hold: this bounds the memory of a batch of long lines."""
_ADAPTER: Final = TypeAdapter(AddEvidence)


class BatchTooLong(TooLarge):
    """A line that stands beyond the most that one batch takes."""

    code = "batch_too_long"
    title = f"A batch takes {LINES_MAX} lines; send the rest in another"


@dataclass(slots=True)
class _Tally:
    """What became of the lines so far."""

    ids: list[str] = field(default_factory=list)
    unchanged: int = 0
    rejected: list[Rejected] = field(default_factory=list)
    rejected_count: int = 0

    def keep(self, kept: Kept) -> None:
        self.ids.append(kept.id)
        self.unchanged += not kept.is_new

    def reject(self, line: int, refusal: Refusal) -> None:
        self.rejected_count += 1
        if len(self.rejected) < REJECTED_SHOWN_MAX:
            errors = refusal.extra.get("errors", [])
            self.rejected.append(
                Rejected(
                    line=line,
                    type=f"urn:muniment:problem:{refusal.code}",
                    code=refusal.code,
                    detail=refusal.detail,
                    errors=errors if isinstance(errors, list) else [],
                )
            )

    def answer(self) -> BatchKept:
        return BatchKept(
            accepted=len(self.ids),
            unchanged=self.unchanged,
            rejected=sorted(self.rejected, key=lambda rejected: rejected.line),
            rejected_count=self.rejected_count,
            ids=self.ids,
        )


@router.post(
    "/evidence/batch",
    **operation(
        summary="Keep many texts, one JSON object a line",
        answer=BatchKept,
        example=BATCH_EXAMPLE,
    ),
)
def add_batch(lines: Lines, edge: Edge = needs(EVIDENCE_WRITE)) -> Response:
    """Keep good lines in transactions of up to a hundred; what was kept stays kept if the rest fails.

    Repeating a batch is safe: what stands already in the same version is answered, not kept twice.
    """
    tally = _Tally()
    for part in _parts(_read(lines, edge, tally)):
        news = [new for _, new in part]

        def work(unit: Unit, news: list[NewEvidence] = news) -> list[Kept | Refusal]:
            bundle = active_bundle(unit)
            return list(add_evidence_batch(news, unit=unit, bundle=bundle, chunker=edge.runtime.chunker))

        for (line, _), outcome in zip(part, edge.transact(work), strict=True):
            if isinstance(outcome, Kept):
                tally.keep(outcome)
            else:
                tally.reject(line, outcome)
    return render(Reply(tally.answer()), edge.request.url).response()


def _read(lines: Iterable[Line], edge: Edge, tally: _Tally) -> Iterator[tuple[int, NewEvidence]]:
    """Answer the lines that can be read, with their numbers; tell the tally of the others."""
    projects = {project.name for project in edge.caller.projects}
    for count, line in enumerate(lines, start=1):
        try:
            if count > LINES_MAX:
                raise BatchTooLong
            body = line.read(_ADAPTER)
            if body.project not in projects:
                raise NotFound
            yield line.number, new_evidence(body, runtime=edge.runtime)
        except Refusal as refusal:
            tally.reject(line.number, refusal)
            if count > LINES_MAX:
                return


def _parts(lines: Iterable[tuple[int, NewEvidence]]) -> Iterator[list[tuple[int, NewEvidence]]]:
    part: list[tuple[int, NewEvidence]] = []
    characters = 0
    for number, new in lines:
        part.append((number, new))
        characters += len(new.text)
        if len(part) == BATCH_ITEMS_MAX or characters > _PART_CHARACTERS_MAX:
            yield part
            part, characters = [], 0
    if part:
        yield part
