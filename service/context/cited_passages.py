"""What stands around the quotes of a proposed memory, for whoever decides about it."""

from typing import Final

from service.context.citations import RecordCitations
from service.core.errors import NotFound
from service.evidence.get import read_text
from service.executions.store import ExecutionStore
from service.identity.unit import Unit
from service.memories.model import Citation, Cited
from service.memories.model_review import CitedPassage
from service.policies.words import ProvenanceKind

AROUND_CHARACTERS: Final = 200
"""How much of a source is shown before and after a quote, and twice that where nothing was quoted."""


class RecordPassages:
    """Reads passages as the caller of a unit of work: what that caller may not read is not there."""

    def __init__(self, unit: Unit) -> None:
        self._unit = unit
        self._citations = RecordCitations(unit)
        self._executions = ExecutionStore.of(unit)

    def read(self, citation: Citation, *, subject: str | None) -> CitedPassage | None:
        """Answer what stands around the quote, or how the source begins, or `None` for no such source."""
        cited = self._citations.look_up(citation, subject=subject)
        if not cited.facts.found:
            return None
        match citation.kind:
            case ProvenanceKind.TURN:
                turn = self._executions.find_turn(citation.id)
                return None if turn is None else _part(cited, turn.text or "", citation.id)
            case ProvenanceKind.OBSERVATION:
                seen = self._executions.find_observation(citation.id)
                if seen is None:
                    return None
                if seen.evidence_id is not None:
                    return self._evidence(cited, seen.evidence_id)
                return _part(cited, seen.content or "", citation.id)
            case ProvenanceKind.EVIDENCE:
                return self._evidence(cited, citation.id)

    def _evidence(self, cited: Cited, evidence_id: str) -> CitedPassage | None:
        start, end = _window(cited)
        try:
            part = read_text(evidence_id, unit=self._unit, start=start, end=end)
        except NotFound:
            return None
        return CitedPassage(cited, part.text, part.start, evidence_id)


def _part(cited: Cited, text: str, source_id: str) -> CitedPassage:
    start, end = _window(cited)
    return CitedPassage(cited, text[start:end], start, source_id)


def _window(cited: Cited) -> tuple[int, int]:
    if cited.start is None or cited.end is None:
        return 0, 2 * AROUND_CHARACTERS
    return max(0, cited.start - AROUND_CHARACTERS), cited.end + AROUND_CHARACTERS
