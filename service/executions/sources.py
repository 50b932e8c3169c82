"""What a working state was derived from: pinned when it is kept, compared when somebody goes on with it."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Final

from service.core.lineage import Node
from service.evidence.model import ReferenceNotFound
from service.executions.model import PinnedSource
from service.executions.ports import References, Referred

KINDS: Final = frozenset({"evidence", "memory", "observation", "summary", "turn"})
"""Kinds of reference that this service can look up; any other is the agent's own and stays opaque."""


class Drift(StrEnum):
    """Why a state no longer rests on its source. Append only."""

    GONE = "source_gone"
    EXPIRED = "source_expired"
    SUPERSEDED = "source_superseded"
    CHANGED = "source_changed"
    GONE_AT_SOURCE = "source_gone_at_source"
    CHANGED_AT_SOURCE = "source_changed_at_source"

    @property
    def message(self) -> str:
        """The same in a sentence."""
        return {
            Drift.GONE: "It was erased, or may no longer be read.",
            Drift.EXPIRED: "Its time of freshness is over.",
            Drift.SUPERSEDED: "Something else supersedes it.",
            Drift.CHANGED: "It has another version now.",
            Drift.GONE_AT_SOURCE: "It is no longer there where it came from.",
            Drift.CHANGED_AT_SOURCE: "It reads differently now where it came from.",
        }[self]


@dataclass(frozen=True, slots=True)
class Drifted:
    """One source that moved, and how."""

    source: PinnedSource
    drift: Drift


def pin_sources(refs: Sequence[str], references: References, *, pointer: str) -> Sequence[PinnedSource]:
    """Answer each reference with its present version.

    Raises `ReferenceNotFound` for one of ours that the caller may not read, naming its place.
    """
    pinned = [pin(ref, references) for ref in refs]
    for number, source in enumerate(pinned):
        if source.kind in KINDS and not source.is_pinned:
            raise ReferenceNotFound(f"{pointer}/{number}")
    return pinned


def pin(ref: str, references: References) -> PinnedSource:
    """Answer a reference with its present version; without one where it is opaque, or leads nowhere."""
    source = PinnedSource(ref)
    found = references.look_up(source.kind, source.id) if source.kind in KINDS else None
    return source if found is None else PinnedSource(ref, found.version, found.sha256)


def nodes_of(sources: Iterable[PinnedSource]) -> Sequence[Node]:
    """Answer what a lineage keeps of the sources: those that are ours."""
    return [Node(source.kind, source.id) for source in sources if source.kind in KINDS]


def drifted_sources(
    pinned: Sequence[PinnedSource], references: References, at_source: Mapping[str, Drift]
) -> Iterator[Drifted]:
    """Answer, in their order, the sources that have moved since they were pinned.

    `at_source` says of a reference what reading its source again has shown, where that moved.
    """
    for source in pinned:
        drift = _drift(source, references.look_up(source.kind, source.id)) if source.kind in KINDS else None
        drift = drift or at_source.get(source.ref)
        if drift is not None:
            yield Drifted(source, drift)


def drifted_since(sources: Sequence[PinnedSource], at: datetime, references: References) -> Iterator[Drifted]:
    """Answer, in their order, the sources that have moved since they were noted.

    Those without a version were noted by an earlier release, at that moment: what changed later has moved.
    """
    for source in sources:
        if source.kind not in KINDS:
            continue
        found = references.look_up(source.kind, source.id)
        drift = _drift(source, found)
        if drift is None and found is not None and not source.is_pinned:
            drift = Drift.CHANGED if found.changed_at is not None and found.changed_at > at else None
        if drift is not None:
            yield Drifted(source, drift)


def is_there(ref: str, references: References) -> bool:
    """Say whether a reference leads to something that may be read; an opaque one is taken at its word."""
    source = PinnedSource(ref)
    return source.kind not in KINDS or references.look_up(source.kind, source.id) is not None


def _drift(source: PinnedSource, found: Referred | None) -> Drift | None:
    drift = _standing_drift(found)
    # An older schema pinned no version: that it is there and fresh is all that can be asked of it.
    if drift is not None or found is None or not source.is_pinned:
        return drift
    is_same = (source.version, source.sha256) == (found.version, found.sha256)
    return None if is_same else Drift.CHANGED


def _standing_drift(found: Referred | None) -> Drift | None:
    """Answer why a source does not hold, whatever version somebody used."""
    if found is None:
        return Drift.GONE
    if found.expired:
        return Drift.EXPIRED
    return Drift.SUPERSEDED if found.superseded else None
