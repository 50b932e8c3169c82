"""Reading again, where it came from, what a run's state was derived from.

In three steps, so that no transaction waits for the outside: what is to be read, reading it, and what that
means for the record.
"""

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Final

from service.context.references import RecordReferences
from service.core.errors import Unavailable
from service.evidence.ports import Chunker
from service.evidence.reload import SourceText, reload_evidence
from service.executions.ports import Referred, SourceReaders, SourceReading
from service.executions.sources import KINDS, Drift
from service.executions.store import ExecutionStore
from service.identity.unit import Unit
from service.policies.active import active_bundle

_AT_ONCE: Final = 8
"""So many sources are read at the same time."""
READ_SECONDS_MAX: Final = 30.0
"""How long all sources of a run together may take: a resume that waits longer is asked for again."""


@dataclass(frozen=True, slots=True)
class _Addressed:
    """A source of the state that came from an address."""

    ref: str
    referred: Referred
    uri: str


@dataclass(slots=True)
class Reread:
    """One run's sources on their way through the three steps."""

    execution_id: str
    readers: SourceReaders
    chunker: Chunker
    seconds_max: float = READ_SECONDS_MAX
    _addressed: Sequence[_Addressed] = ()
    _readings: Mapping[str, SourceReading] = field(default_factory=dict)

    def plan(self, unit: Unit) -> None:
        """Note what the working state was derived from, where its acting user asks. Raises `NotFound`."""
        store = ExecutionStore.of(unit)
        execution = store.find_readable(self.execution_id)
        if execution is None or execution.acting_user != unit.caller.sub:
            return
        references = RecordReferences(unit, active_bundle(unit))
        found = []
        for source in store.latest_sources(execution.id):
            referred = references.look_up(source.kind, source.id) if source.kind in KINDS else None
            if referred is not None and referred.uri is not None:
                found.append(_Addressed(source.ref, referred, referred.uri))
        self._addressed = found

    def read(self, tenant_id: str) -> None:
        """Read each address once. Raises `Unavailable` when one does not answer: nothing is guessed."""
        uris = list(dict.fromkeys(one.uri for one in self._addressed))
        if not uris:
            return
        pool = ThreadPoolExecutor(max_workers=_AT_ONCE, thread_name_prefix="reread")
        try:
            readings = pool.map(lambda uri: self.readers.read(tenant_id, uri), uris, timeout=self.seconds_max)
            self._readings = {
                uri: reading for uri, reading in zip(uris, readings, strict=True) if reading is not None
            }
        except TimeoutError:
            raise Unavailable("Some source answers too slowly.") from None
        finally:
            # What is still being read ends by its own time-out, and nobody waits for it.
            pool.shutdown(wait=False, cancel_futures=True)

    def apply(self, unit: Unit) -> Mapping[str, Drift]:
        """Keep what has changed as new versions, and answer which references moved at their source."""
        drifts = {}
        for one in self._addressed:
            reading = self._readings.get(one.uri)
            drift = None if reading is None else self._compare(one, reading, unit)
            if drift is not None:
                drifts[one.ref] = drift
        return drifts

    def _compare(self, one: _Addressed, reading: SourceReading, unit: Unit) -> Drift | None:
        if not reading.found:
            return Drift.GONE_AT_SOURCE
        if is_same(one.referred, reading):
            return None
        kind, _, item_id = one.ref.partition(":")
        if kind == "evidence" and reading.text is not None:
            text = SourceText(reading.reader, reading.source, reading.text, reading.version)
            bundle = active_bundle(unit)
            reload_evidence(item_id, text, unit=unit, bundle=bundle, chunker=self.chunker)
        return Drift.CHANGED_AT_SOURCE


def is_same(referred: Referred, reading: SourceReading) -> bool:
    """Say whether a source still reads as it did: by its own version where both have one, or by its hash."""
    if reading.version is not None and reading.version == referred.source_version:
        return True
    return reading.sha256 is not None and reading.sha256 == referred.sha256
