"""Why two packages of one request differ: what was erased, has expired, or moved since."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from service.context.compare import Change, Difference, compare_manifests
from service.context.model import OmissionReason
from service.context.references import RecordReferences
from service.context.store import KeptPackage
from service.identity.unit import Unit
from service.memories.model import MemoryStatus
from service.memories.store import MemoryStore
from service.policies.model import Bundle

_BY_POLICY: Final = frozenset({OmissionReason.PURPOSE, OmissionReason.TRUST, OmissionReason.NOT_PERMITTED})
_OURS: Final = frozenset({"instruction", "tool"})
"""Kinds that come from the bundle or the request, not from the record."""


class Cause(StrEnum):
    """Why a package cannot be repeated, the strongest first: what else moved, moved because of it."""

    ERASURE = "erasure"
    EXPIRY = "expiry"
    POLICY = "policy"
    DATA = "data"
    CODE = "code"


@dataclass(frozen=True, slots=True)
class Reason:
    """What differs (an item as `kind:id`, a `section:name`, or a setting), its cause, and the change."""

    ref: str
    cause: Cause
    change: str


class Causes:
    """Finds the cause of each difference between a kept package and what came out of it now."""

    def __init__(self, kept: KeptPackage, manifest: Mapping[str, Any], unit: Unit, bundle: Bundle) -> None:
        self._kept = kept
        self._unit = unit
        self._references = RecordReferences(unit, bundle)
        self._memories = MemoryStore.of(unit, bundle)
        self._comparison = compare_manifests(kept.manifest, manifest)
        self._is_other_policy = "policy_version" in self._comparison.settings

    def all(self) -> Iterator[Reason]:
        """Yield every difference. What moved only because something else did has that one's cause."""
        own = [(one, self._cause(one)) for one in self._comparison.items]
        settings = [
            Reason(name, Cause.CODE if name == "versions" else Cause.POLICY, "changed")
            for name in self._comparison.settings
            if name in ("policy_version", "profile_version", "versions")
        ]
        found = {cause for _, cause in own if cause is not None} | {one.cause for one in settings}
        # Without any cause of its own a record has moved on, as turns do; other code would say so.
        strongest = next((cause for cause in Cause if cause in found), Cause.DATA)
        yield from settings
        for one, cause in own:
            yield Reason(f"{one.kind}:{one.id}", cause or strongest, one.change.value)
        if not own and not settings:
            # The same items and yet other text: what stands around them has changed.
            yield Reason("rendered", Cause.DATA, "changed")

    def _cause(self, difference: Difference) -> Cause | None:
        """Answer what happened to the item itself; `None` where nothing did."""
        match difference.change:
            case Change.ADDED:
                return self._cause_of_arrival(difference)
            case Change.OMITTED if difference.before is None:
                return self._cause_of_arrival(difference)
            case Change.REMOVED | Change.OMITTED:
                return self._cause_of_loss(difference)
            case Change.CHANGED if not difference.is_same_record:
                is_policys = difference.kind in _OURS and self._is_other_policy
                return Cause.POLICY if is_policys else Cause.DATA
        return None

    def _cause_of_loss(self, difference: Difference) -> Cause | None:
        if self._unit.ledger.buried(self._unit.tenant_id, difference.kind, [difference.id]):
            return Cause.ERASURE
        reason = None if difference.after is None else difference.after.get("reason")
        if reason in (OmissionReason.EXPIRED, OmissionReason.STALE):
            return Cause.EXPIRY
        if reason in _BY_POLICY:
            return Cause.POLICY if self._is_other_policy else Cause.DATA
        if difference.kind == "memory":
            return self._cause_of_lost_memory(difference.id)
        return self._cause_by_standing(difference)

    def _cause_by_standing(self, difference: Difference) -> Cause | None:
        standing = self._references.look_up(difference.kind, difference.id)
        if standing is None:
            return Cause.DATA
        if standing.expired:
            return Cause.EXPIRY
        version = None if difference.before is None else difference.before["version"]
        return Cause.DATA if standing.superseded or standing.version != version else None

    def _cause_of_lost_memory(self, memory_id: str) -> Cause | None:
        found = self._memories.find(memory_id, now=self._unit.now)
        if found is None:
            return Cause.ERASURE
        until = found.validity.until
        if found.status is MemoryStatus.EXPIRED or (until is not None and until <= self._unit.now):
            return Cause.EXPIRY
        if self._references.look_up("memory", memory_id) is not None:
            return None
        # Its record stands and is active, but may not be read: consent, readers or purpose.
        is_active = found.status is MemoryStatus.ACTIVE
        return Cause.POLICY if is_active and self._is_other_policy else Cause.DATA

    def _cause_of_arrival(self, difference: Difference) -> Cause | None:
        standing = self._references.look_up(difference.kind, difference.id)
        if standing is None:
            return None if difference.kind in _OURS else Cause.DATA
        is_newer = standing.changed_at is not None and standing.changed_at > self._kept.created_at
        return Cause.DATA if is_newer else None
