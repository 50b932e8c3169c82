"""What a working state refers to, looked up where it stands: evidence, memories, and parts of runs.

It stands here because memories and executions do not know each other.
"""

from collections.abc import Callable, Mapping

from service.core.errors import NotFound
from service.core.ids import is_id
from service.core.passages import PassageKey
from service.core.quarantined import Quarantined
from service.evidence.get import get_evidence
from service.executions.ports import Referred
from service.executions.store import ExecutionStore
from service.identity.unit import Unit
from service.memories.model import MemoryStatus
from service.memories.store import MemoryStore
from service.policies.model import Bundle


class RecordReferences:
    """Looks references up as the caller of a unit of work: permission, consent and policy are read anew."""

    def __init__(self, unit: Unit, bundle: Bundle) -> None:
        self._unit = unit
        self._executions = ExecutionStore.of(unit)
        self._memories = MemoryStore.of(unit, bundle)
        self._quarantined = Quarantined(unit.session, unit.tenant_id)

    def look_up(self, kind: str, item_id: str) -> Referred | None:
        """Answer the source as it stands, or `None` where the caller may not read or rely on it any more."""
        if kind != "evidence" and self._quarantined.holds(kind, item_id):
            return None
        by_kind: Mapping[str, Callable[[str], Referred | None]] = {
            "evidence": self._evidence,
            "memory": self._memory,
            "observation": self._observation,
            "summary": self._summary,
            "turn": self._turn,
        }
        find = by_kind.get(kind)
        return None if find is None or not is_id(item_id) else find(item_id)

    def _evidence(self, evidence_id: str) -> Referred | None:
        try:
            found = get_evidence(evidence_id, unit=self._unit)
        except NotFound:
            return None
        return Referred(
            found.version,
            found.sha256,
            uri=found.source.uri,
            source_version=found.source.source_version,
            expired=found.stale,
            superseded=found.superseded_by is not None,
            changed_at=found.created_at,
        )

    def _memory(self, memory_id: str) -> Referred | None:
        """Answer a memory that may be used now: consent, expiry, purpose and reader policy all hold."""
        caller, now = self._unit.caller, self._unit.now
        found = self._memories.get_readable(memory_id, caller=caller, now=now)
        if found is None or found.status is not MemoryStatus.ACTIVE:
            return None
        key = PassageKey(found.id, found.version, 0)
        if key not in self._memories.passages([key], caller=caller, purpose=found.purpose, now=now):
            return None
        return Referred(
            found.version,
            None,
            superseded=self._rests_on_what_moved(found.provenance),
            changed_at=found.created_at,
        )

    def _rests_on_what_moved(self, provenance: object) -> bool:
        cited = provenance if isinstance(provenance, tuple) else ()
        for citation in cited:
            if citation.get("kind") != "evidence":
                continue
            found = self._evidence(str(citation.get("id")))
            version = citation.get("version")
            if found is None or found.superseded or (version is not None and version != found.version):
                return True
        return False

    def _observation(self, observation_id: str) -> Referred | None:
        found = self._executions.find_observation(observation_id)
        if found is None:
            return None
        if found.evidence_id is not None and self._evidence(found.evidence_id) is None:
            return None
        source = found.source
        return Referred(1, found.sha256, uri=source.uri, source_version=source.source_version)

    def _summary(self, summary_id: str) -> Referred | None:
        found = self._executions.find_summary(summary_id)
        return None if found is None else Referred(found.version, None)

    def _turn(self, turn_id: str) -> Referred | None:
        found = self._executions.find_turn(turn_id)
        return None if found is None else Referred(1, found.text_hash)
