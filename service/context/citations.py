"""What a proposed memory cites, looked up where it stands: turns and observations of runs, and evidence.

It stands here because memories and executions do not know each other.
"""

from dataclasses import replace
from typing import Final

from service.core.errors import NotFound
from service.core.ids import is_id
from service.core.lineage import Lineage
from service.core.quarantined import Quarantined
from service.evidence.get import get_evidence
from service.evidence.grep import grep_evidence
from service.evidence.store_lineage import LineageStore
from service.executions.store import ExecutionStore
from service.identity.unit import Unit
from service.memories.model import Citation, Cited
from service.policies.sources import trust_of_turn
from service.policies.verdict import MemoryMode, Quote, SourceFacts
from service.policies.words import Authority, ProvenanceKind

_FROM_PACKAGES: Final = frozenset({"package", "memory"})
"""Evidence that stems from one of these only repeats what the service itself gave out."""


class RecordCitations:
    """Looks citations up as the caller of a unit of work: what that caller may not read is not found.

    Nor is what is under quarantine: nothing is to be remembered from it.
    """

    def __init__(self, unit: Unit) -> None:
        self._unit = unit
        self._executions = ExecutionStore.of(unit)
        self._quarantined = Quarantined(unit.session, unit.tenant_id)

    def look_up(self, citation: Citation, *, subject: str | None) -> Cited:
        """Answer what the record knows about the source, and where the quote stands in it."""
        missing = Cited(SourceFacts(citation.kind, found=False))
        if not is_id(citation.id) or self._quarantined.holds(citation.kind.value, citation.id):
            return missing
        match citation.kind:
            case ProvenanceKind.TURN:
                return self._turn(citation, subject) or missing
            case ProvenanceKind.OBSERVATION:
                return self._observation(citation) or missing
            case ProvenanceKind.EVIDENCE:
                return self._evidence(citation) or missing

    def _turn(self, citation: Citation, subject: str | None) -> Cited | None:
        turn = self._executions.find_turn(citation.id)
        if turn is None:
            return None
        facts = SourceFacts(
            ProvenanceKind.TURN,
            found=True,
            trust=trust_of_turn(turn.role.value, relayed=turn.relayed),
            authority=Authority.CONVERSATION,
            speaker=turn.role.value,
            subjects_own=subject is not None and turn.said_by == subject,
            relayed=turn.relayed,
        )
        mode = MemoryMode(self._executions.get(turn.execution_id).memory_mode.value)
        cited = Cited(facts, observed_at=turn.at, memory_mode=mode)
        return _with_quote(cited, citation.quote, turn.text or "")

    def _observation(self, citation: Citation) -> Cited | None:
        seen = self._executions.find_observation(citation.id)
        if seen is None:
            return None
        facts = SourceFacts(
            ProvenanceKind.OBSERVATION,
            found=True,
            trust=seen.trust,
            authority=seen.authority,
            uri=seen.source.uri or "",
            source_kind=seen.source.kind,
        )
        mode = MemoryMode(self._executions.get(seen.execution_id).memory_mode.value)
        cited = Cited(facts, observed_at=seen.source.observed_at, memory_mode=mode)
        if seen.evidence_id is not None:
            return self._quoted_in_evidence(cited, seen.evidence_id, citation.quote)
        return _with_quote(cited, citation.quote, seen.content or "")

    def _evidence(self, citation: Citation) -> Cited | None:
        try:
            evidence = get_evidence(citation.id, unit=self._unit)
        except NotFound:
            return None
        if evidence.superseded_by is not None:
            return None
        facts = SourceFacts(
            ProvenanceKind.EVIDENCE,
            found=True,
            trust=evidence.standing.trust,
            authority=evidence.standing.authority,
            uri=evidence.source.uri,
            source_kind=evidence.source.kind,
            from_package=LineageStore.of(self._unit).stems_from(evidence.id, _FROM_PACKAGES),
        )
        cited = Cited(
            facts,
            version=evidence.version,
            observed_at=evidence.source.observed_at,
            memory_mode=self._mode_of_evidence(evidence.id),
        )
        return self._quoted_in_evidence(cited, evidence.id, citation.quote)

    def _mode_of_evidence(self, evidence_id: str) -> MemoryMode | None:
        """Answer the strictest memory mode of the runs that observed it, or what it was made from.

        `None` where no run did. What cannot be looked up counts as `off`: citing the evidence is no way
        round what the run was opened for.
        """
        family = LineageStore.of(self._unit).family_of(evidence_id)
        if family is None:
            return MemoryMode.OFF
        sources = Lineage(self._unit.session, self._unit.tenant_id).sources_of("evidence", family)
        modes = {self._mode_of_observation(node.id) for node in sources if node.kind == "observation"}
        return min(modes, key=list(MemoryMode).index, default=None)

    def _mode_of_observation(self, observation_id: str) -> MemoryMode:
        seen = self._executions.find_observation(observation_id)
        if seen is None:
            return MemoryMode.OFF
        return MemoryMode(self._executions.get(seen.execution_id).memory_mode.value)

    def _quoted_in_evidence(self, cited: Cited, evidence_id: str, quote: str | None) -> Cited:
        if not quote:
            return cited
        try:
            found = grep_evidence(evidence_id, quote, unit=self._unit, limit=1, context=0)
        except NotFound:
            return _quoted(cited, None, quote)
        return _quoted(cited, found.matches[0].span.start if found.matches else None, quote)


def _with_quote(cited: Cited, quote: str | None, text: str) -> Cited:
    if not quote:
        return cited
    start = text.find(quote)
    return _quoted(cited, None if start < 0 else start, quote)


def _quoted(cited: Cited, start: int | None, quote: str) -> Cited:
    if start is None:
        return replace(cited, facts=replace(cited.facts, quote=Quote.NOT_FOUND))
    facts = replace(cited.facts, quote=Quote.FOUND)
    return replace(cited, facts=facts, start=start, end=start + len(quote))
